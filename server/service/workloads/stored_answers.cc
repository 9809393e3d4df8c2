#include "service/workloads/stored_answers.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"

namespace curator::service {
namespace {

constexpr size_t kMostBytesOfAnAnswer = size_t{256} << 10;

std::string KeyOf(const Principal& reader, const std::string& dataset_id, int64_t number) {
  return absl::StrCat(reader.name(), "\n", dataset_id, "\n", number);
}

// Upper estimates.
size_t BytesOfHead(const StoredAnswers::Stored& stored) {
  constexpr size_t kFixed = 2048;
  constexpr size_t kOfAName = 300;
  constexpr size_t kOfAPosting = 64;
  const ledger::Charge& charge = stored.charge;
  return kFixed + stored.head.label.size() + stored.head.shared_with.size() * kOfAName + charge.label.size() +
         charge.event.size() + charge.postings.size() * kOfAPosting;
}

constexpr size_t kOfAGroup = 256;

size_t BytesHeldBy(const dp::ResidualMeasurement& residual, const std::vector<std::vector<int64_t>>& values) {
  size_t bytes = 0;
  for (const dp::AxisQueries& axis : residual.queries.axes)
    bytes += kOfAGroup + axis.weights.size() * sizeof(int32_t);
  for (const std::vector<int64_t>& of_a_group : values)
    bytes += kOfAGroup + of_a_group.size() * sizeof(int64_t);
  return bytes;
}

}  // namespace

size_t BytesHeldBy(const dp::WorkloadRelease& release) {
  constexpr size_t kFixed = 1024;
  size_t bytes = kFixed;
  for (size_t i = 0; i < release.measured.size(); ++i) {
    const dp::QueryGroup& group = release.measured[i];
    bytes += kOfAGroup + release.values[i].size() * sizeof(int64_t);
    if (const auto* boxes = std::get_if<dp::Boxes>(&group.queries))
      bytes += boxes->sides.size() * sizeof(dp::CodeInterval);
    if (const auto* queries = std::get_if<std::vector<dp::LinearQuery>>(&group.queries)) {
      for (const dp::LinearQuery& query : *queries) bytes += kOfAGroup + query.size() * sizeof(query.front());
    }
  }
  if (release.residual) bytes += BytesHeldBy(*release.residual, release.values);
  for (const std::vector<int64_t>& values : release.statistics.values)
    bytes += kOfAGroup + values.size() * sizeof(int64_t);
  for (const dp::AskedSet& asked : release.asked) {
    if (!asked.statistics) continue;
    bytes += kOfAGroup + asked.statistics->statistics.size() * sizeof(dp::Statistic) +
             asked.statistics->cells.size() * sizeof(uint32_t) + asked.statistics->condition.size();
  }
  return bytes;
}

std::shared_ptr<const StoredAnswers::Stored> StoredAnswers::Find(const Principal& reader,
                                                                 const std::string& dataset_id,
                                                                 int64_t number) {
  return stored_.Find(KeyOf(reader, dataset_id, number));
}

std::shared_ptr<const StoredAnswers::Stored> StoredAnswers::Keep(const Principal& reader, Stored stored) {
  size_t bytes = BytesOfHead(stored);
  if (stored.answer != nullptr) {
    const size_t of_answer = BytesHeldBy(*stored.answer);
    if (of_answer > kMostBytesOfAnAnswer) {
      stored.answer = nullptr;
    } else {
      bytes += of_answer;
    }
  }
  const std::string key = KeyOf(reader, stored.head.dataset_id, stored.head.number);
  auto kept = std::make_shared<const Stored>(std::move(stored));
  stored_.Keep(key, kept, bytes);
  return kept;
}

}  // namespace curator::service
