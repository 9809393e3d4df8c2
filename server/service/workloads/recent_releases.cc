#include "service/workloads/recent_releases.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/workloads/free_answers.h"
#include "service/workloads/stored_answers.h"

namespace curator::service {
namespace {

constexpr size_t kMostOfAList = 8;
constexpr size_t kMostBytesOfOne = size_t{256} << 10;

std::string KeyOf(const Principal& principal, const ledger::Dataset& dataset) {
  return absl::StrCat(principal.name(), "\n", dataset.id, "\n", dataset.revision);
}

size_t BytesOf(const RecentReleases::Recent& recent) {
  return BytesHeldBy(recent.release) + recent.parts.size() * sizeof(int64_t);
}

size_t BytesOf(const RecentReleases::List& list) {
  size_t bytes = 256;
  for (const auto& each : list) bytes += BytesOf(*each);
  return bytes;
}

}  // namespace

std::shared_ptr<const RecentReleases::List> RecentReleases::Find(const Principal& principal,
                                                                 const ledger::Dataset& dataset) {
  return lists_.Find(KeyOf(principal, dataset));
}

void RecentReleases::Begin(const Principal& principal, const ledger::Dataset& dataset,
                           std::optional<Recent> found) {
  List list;
  if (found && BytesOf(*found) <= kMostBytesOfOne)
    list.push_back(std::make_shared<const Recent>(*std::move(found)));
  const size_t bytes = BytesOf(list);
  lists_.Keep(KeyOf(principal, dataset), std::make_shared<const List>(std::move(list)), bytes);
}

bool RecentReleases::MayKeep(const dp::WorkloadRelease& release) {
  return BytesHeldBy(release) <= kMostBytesOfOne;
}

void RecentReleases::Add(const Principal& principal, const ledger::Dataset& dataset, Recent recent) {
  const std::string key = KeyOf(principal, dataset);
  const std::shared_ptr<const List> known = lists_.Find(key);
  if (known == nullptr || BytesOf(recent) > kMostBytesOfOne) return;
  List list = {std::make_shared<const Recent>(std::move(recent))};
  for (const auto& each : *known) {
    if (list.size() < kMostOfAList) list.push_back(each);
  }
  const size_t bytes = BytesOf(list);
  lists_.Keep(key, std::make_shared<const List>(std::move(list)), bytes);
}

std::optional<std::string> FindAmong(const RecentReleases::List& list, const dp::Domain& domain,
                                     const std::vector<int64_t>& parts,
                                     const std::vector<dp::AskedSet>& asked,
                                     const std::stop_token& client_left) {
  SearchEffort effort(client_left);
  for (const auto& each : list) {
    if (each->parts == parts && AnsweredBy(domain, each->release, asked, effort)) return each->release_id;
  }
  return std::nullopt;
}

}  // namespace curator::service
