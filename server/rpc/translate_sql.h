// SQL as a workload, for QueryService.
//
// Thread-safe.
#pragma once

#include "absl/status/status.h"
#include "curator/v1/query.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

// Reads the dataset's schema, and has the statement translated by the program of service::SqlProgram, which
// gets the names and kinds of the schema and nothing else. Errors: those of service::FindDataset() and of
// SqlProgram::Run(); INVALID_ARGUMENT ("sql") with the program's refusal.
absl::Status TranslateSql(service::Services& services, const Call& call,
                          const v1::TranslateSqlRequest& request, v1::TranslateSqlResponse& response);

}  // namespace curator::rpc
