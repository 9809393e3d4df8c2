// The one table through which errors leave: absl::Status to gRPC status with google.rpc details.
//
//   error                 gRPC code            details, besides ErrorInfo
//   a bad field           INVALID_ARGUMENT     BadRequest
//   a full budget         RESOURCE_EXHAUSTED   QuotaFailure: one violation per full counter of each account
//   UNAVAILABLE, ABORTED  as they are          RetryInfo
//   DATA_LOSS             FAILED_PRECONDITION  none: nothing will be charged until its owner acts
//   all others            as they are          none
//
// Every error carries ErrorInfo {domain "curator"}, whose reason is BUDGET_FULL for a full budget,
// LEDGER_CONTRADICTS_ITSELF for DATA_LOSS, and else the name of the code. Thread-safe: pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace curator::rpc {

grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace curator::rpc
