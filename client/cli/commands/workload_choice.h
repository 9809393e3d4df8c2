// What was asked on the command line, as messages.
//
// Thread-safe but for the file that is read.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "curator/v1/schema.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

// The query sets of the file, then those of the short options in the order marginals, ranges, prefixes,
// thresholds, parities, where. The strategy goes to all of them that have none and are not marginals.
// `schema` tells whether intervals can end as they were written. Errors: INVALID_ARGUMENT (conditions), those
// of ReadWorkload().
absl::StatusOr<v1::Workload> WorkloadOf(const WorkloadChoice& choice, const v1::Schema& schema);

v1::Spend SpendOf(const SpendChoice& choice);

// Puts the spend, or the target with this confidence, into an estimate or a request for answers.
template <typename Request>
void SetPrice(const PriceChoice& price, const std::optional<double>& confidence, Request& request) {
  if (!price.max_error) {
    if (price.is_given()) *request.mutable_spend() = SpendOf(price.spend);
    return;
  }
  request.mutable_target()->set_max_error(*price.max_error);
  if (confidence) request.mutable_target()->set_confidence(*confidence);
}

}  // namespace curator::cli
