// The one table through which errors leave: absl::Status to gRPC status with google.rpc details.
//
//   a bad field           INVALID_ARGUMENT    BadRequest
//   a full budget         RESOURCE_EXHAUSTED  QuotaFailure, a violation for each full counter of each account
//   UNAVAILABLE, ABORTED  as they are         RetryInfo
//   DATA_LOSS             FAILED_PRECONDITION ErrorInfo, reason LEDGER_CONTRADICTS_ITSELF: nothing will be
//   charged until its owner acts
//
// Every error carries ErrorInfo {domain "curator"}. Thread-safe: pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace curator::rpc {

grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace curator::rpc
