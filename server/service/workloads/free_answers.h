// Answers that an earlier release already determines: post-processing of stored bytes, which accesses no
// record and costs nothing.
//
// Thread-safe: functions over the ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "dp/workload/release.h"
#include "service/access.h"
#include "service/charges/request_scope.h"
#include "service/services.h"

namespace curator::service {

// The kind of the charges and releases of workloads.
inline constexpr char kWorkloadKind[] = "workload";

// Answers to other queries from the numbers of a stored release: `answer` holds the measurements that they
// are computed from.
struct FreeAnswer {
  std::string release_id;
  dp::WorkloadRelease answer;
  RequestMemory memory = {};  // that reading and answering takes
};

// What a search for free answers may still take: 2^28 steps, less than a second, and as long as its client
// waits. The steps depend on released numbers and on what is asked alone.
class SearchEffort {
 public:
  explicit SearchEffort(std::stop_token client_left) : client_left_(std::move(client_left)) {}

  // Whether they may be taken. When not, the search ends as if nothing were found.
  bool Take(size_t steps) {
    left_ -= static_cast<int64_t>(steps);
    return left_ >= 0 && !client_left_.stop_requested();
  }

 private:
  const std::stop_token client_left_;
  int64_t left_ = int64_t{1} << 28;
};

// The answers of `stored` to other queries, if it determines all of them. Each set is answered in one of
// three ways: from queries that were measured themselves; as sums of the cells of a measured marginal; from a
// measured tree of the attribute. Of several ways the one with the least mean variance is taken. Sets of
// statistics are answered by sets that were asked in the same way. None, too, when finding or computing the
// answers would take more than `effort`.
std::optional<dp::WorkloadRelease> AnsweredBy(const dp::Domain& domain, const dp::WorkloadRelease& stored,
                                              const std::vector<dp::AskedSet>& asked, SearchEffort& effort);

// The measures under which a release about the parts with these numbers (none for a dataset without parts) is
// stored, by which FindFreeAnswer() finds it: one for each set of attributes that it measured, for each of
// their attributes, and for the empty set. Of a release of more than 256 sets, the first.
std::vector<ledger::Measure> MeasuresOf(const std::vector<int64_t>& parts,
                                        const dp::WorkloadRelease& release);

// The release with the least error that answers all of `asked` about the records of `scope`, among the newest
// that `principal` may read and that measured the attributes of the largest group asked, or one of these
// attributes: at most kMostReleasesPerMeasure of each, kMostReadBytes, none that takes more than
// kMostFreeBytes to be read, and as many as one SearchEffort suffices for. Errors: CANCELLED when the client
// has gone; UNAVAILABLE when other requests hold the memory that it takes.
// What was read before of these releases is found in memory. `numbers` are what LookForReleases() had read,
// of a dataset that has not changed since; null: they are read.
inline constexpr int64_t kMostReleasesPerMeasure = 8;
inline constexpr int64_t kMostReadBytes = int64_t{1} << 26;
absl::StatusOr<std::optional<FreeAnswer>> FindFreeAnswer(Services& services, const DatasetView& dataset,
                                                         const RequestScope& scope,
                                                         const Principal& principal,
                                                         const std::vector<dp::AskedSet>& asked,
                                                         const std::stop_token& client_left,
                                                         const std::vector<int64_t>* numbers = nullptr);

// Has `query`, which is about this dataset, read the numbers of the releases that FindFreeAnswer() examines.
void LookForReleases(const DatasetView& dataset, const RequestScope& scope, const Principal& principal,
                     const std::vector<dp::AskedSet>& asked, ledger::EarlierQuery& query);

}  // namespace curator::service
