// Query sets from the wire: shapes only; names and values are looked up in service/resolve_workload.
//
// Errors: INVALID_ARGUMENT with the field's path as the caller wrote it. Thread-safe: pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "curator/v1/workload.pb.h"
#include "service/workloads/query_classes.h"

namespace curator::rpc {

absl::StatusOr<std::vector<service::QuerySetRequest>> FromProto(const v1::Workload& workload);

}  // namespace curator::rpc
