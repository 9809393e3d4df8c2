// What is shown of answers, from the wire to plain types.
//
// Thread-safe: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "curator/v1/workload.pb.h"
#include "service/workloads/selection.h"

namespace curator::rpc {

// Errors: INVALID_ARGUMENT with a field below "selection" for a column, a key or a condition that is empty,
// an operator that is not known, and conditions that are nested deeper than kMostConditionDepth.
// service::CheckSelection() checks the rest.
absl::StatusOr<service::Selection> FromProto(const v1::Selection& selection);

}  // namespace curator::rpc
