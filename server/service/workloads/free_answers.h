// Answers that an earlier release already determines: post-processing of stored bytes, which reads no record
// and costs nothing.
//
// Thread-safe: functions over the ledger.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "codec/release_codec.h"
#include "service/access.h"
#include "service/charges/request_scope.h"
#include "service/services.h"

namespace curator::service {

// Whether `principal` may read a release: who paid for it, the owner of the dataset, and those with whom one
// of the two shared it.
bool BelongsTo(const ledger::Release& release, const ledger::Dataset& dataset, std::string_view principal);

// `release`, asked other questions: the same numbers in other sums. `measured` and `values` are those that
// the answers are made from.
struct FreeAnswer {
  std::string release_id;
  codec::WorkloadRelease answer;
};

// What a stored answer says of other questions, if it determines all of them. Each set is answered in one of
// three ways: queries that were measured themselves; sums of the cells of a measured marginal; a measured
// tree of the attribute. Of several the one of least mean variance.
std::optional<codec::WorkloadRelease> AnsweredBy(const dp::Domain& domain,
                                                 const codec::WorkloadRelease& stored,
                                                 const std::vector<dp::AskedSet>& asked);

// The release of least error that answers all of `asked` about the records of `scope`, among the newest that
// belong to `principal`: at most kMostReadReleases of them, and kMostReadBytes. None when there is no such.
inline constexpr int kMostReadReleases = 64;
inline constexpr int64_t kMostReadBytes = int64_t{1} << 26;
absl::StatusOr<std::optional<FreeAnswer>> FindFreeAnswer(Curator& curator, const DatasetView& dataset,
                                                         const RequestScope& scope,
                                                         std::string_view principal,
                                                         const std::vector<dp::AskedSet>& asked);

}  // namespace curator::service
