#include "dp/synthesis/nested/joined_records.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr size_t kMostJoinedCodes = size_t{1} << 22;
constexpr int64_t kFewestJoinedRecords = 1 << 10;
constexpr int64_t kMostJoinedRecords = 1 << 16;

// The positions of what equals `response`, or the nearest number that there is, in a range that rises and is
// not empty.
std::pair<size_t, size_t> EqualOrNearest(std::span<const uint32_t> responses, uint32_t response) {
  auto [first, last] = std::ranges::equal_range(responses, response);
  if (first == last) {
    const bool has_above = first != responses.end();
    const bool has_below = first != responses.begin();
    const bool takes_above = has_above && (!has_below || *first - response < response - *(first - 1));
    const uint32_t nearest = takes_above ? *first : *(first - 1);
    const auto found = std::ranges::equal_range(responses, nearest);
    first = found.begin();
    last = found.end();
  }
  return {static_cast<size_t>(first - responses.begin()), static_cast<size_t>(last - responses.begin())};
}

}  // namespace

absl::StatusOr<JoinedRecords> JoinedRecords::Draw(const SynthesisModel& model, uint32_t response,
                                                  AttributeSet description, int64_t rows, BitSource& bits) {
  const AttributeSet& attributes = model.attributes();
  const std::optional<size_t> position = PositionIn(attributes, response);
  if (!position) return absl::InvalidArgumentError("the joined model does not cover the response");
  JoinedRecords records;
  records.width_ = attributes.size();
  for (const uint32_t attribute : description) {
    const std::optional<size_t> place = PositionIn(attributes, attribute);
    if (!place) return absl::InvalidArgumentError("the joined model does not cover an attribute of groups");
    records.described_by_.push_back(*place);
  }
  const auto within_memory = static_cast<int64_t>(kMostJoinedCodes / records.width_);
  std::vector<uint32_t> drawn;
  RETURN_IF_ERROR(
      model.Sample(bits, std::clamp(rows, kFewestJoinedRecords, std::min(kMostJoinedRecords, within_memory)),
                   [&](std::span<const uint32_t> codes) {
                     drawn.insert(drawn.end(), codes.begin(), codes.end());
                     return absl::OkStatus();
                   }));
  std::vector<size_t> order(drawn.size() / records.width_);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](size_t record) { return drawn[record * records.width_ + *position]; });
  for (const size_t record : order) {
    const auto codes = std::span(drawn).subspan(record * records.width_, records.width_);
    records.codes_.insert(records.codes_.end(), codes.begin(), codes.end());
    records.responses_.push_back(codes[*position]);
  }
  if (!description.empty()) records.OrderByDescription();
  return records;
}

int JoinedRecords::Compare(size_t record, std::span<const uint32_t> description) const {
  for (size_t i = 0; i < described_by_.size(); ++i) {
    const uint32_t code = At(record)[described_by_[i]];
    if (code != description[i]) return code < description[i] ? -1 : 1;
  }
  return 0;
}

void JoinedRecords::OrderByDescription() {
  order_.resize(responses_.size());
  std::iota(order_.begin(), order_.end(), uint32_t{0});
  std::ranges::stable_sort(order_, [&](uint32_t one, uint32_t other) {
    for (const size_t position : described_by_) {
      if (At(one)[position] != At(other)[position]) return At(one)[position] < At(other)[position];
    }
    return false;
  });
  for (const uint32_t record : order_) ordered_responses_.push_back(responses_[record]);
}

JoinedRecords::Alike JoinedRecords::Find(std::span<const uint32_t> description) const {
  const auto first =
      std::ranges::partition_point(order_, [&](uint32_t record) { return Compare(record, description) < 0; });
  const auto last = std::ranges::partition_point(
      order_, [&](uint32_t record) { return Compare(record, description) <= 0; });
  return {static_cast<size_t>(first - order_.begin()), static_cast<size_t>(last - order_.begin())};
}

std::span<const uint32_t> JoinedRecords::Like(const Alike& alike, uint32_t response,
                                              UniformDoubles& uniform) const {
  const bool of_all = alike.first == alike.last;
  const std::span<const uint32_t> among =
      of_all ? std::span<const uint32_t>(responses_)
             : std::span<const uint32_t>(ordered_responses_).subspan(alike.first, alike.last - alike.first);
  const auto [first, last] = EqualOrNearest(among, response);
  const size_t chosen = first + uniform.Below(last - first);
  return At(of_all ? chosen : order_[alike.first + chosen]);
}

int64_t JoinedRecords::Bytes(int64_t attributes, bool has_description) {
  // Records as drawn, in a vector that grows, in order, and sorted; and once more by description.
  const int64_t width = std::max<int64_t>(1, attributes);
  const int64_t records = std::max(
      kFewestJoinedRecords, std::min(kMostJoinedRecords, static_cast<int64_t>(kMostJoinedCodes) / width));
  return records * (16 * width + 32 + (has_description ? 16 : 0));
}

}  // namespace curator::dp
