// Handle() runs every call: it authenticates the caller, runs the handler, and converts its error to gRPC.
//
// A handler is a function of (services, call, request, response) that returns absl::Status. Only Handle()
// makes a Call, and only from an authenticated context, so a handler cannot run without a principal. Methods
// that need none (ListSynthesizers, GetReceiptKey, GetVersion, health) have no handler.
//
// Thread-safe.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/principal.h"
#include "rpc/authenticator.h"
#include "service/access.h"
#include "service/services.h"

namespace curator::rpc {

// One authenticated call. Valid while its handler runs.
class Call {
 public:
  const Principal& principal() const { return principal_; }
  // Whether the client cancelled the call or disconnected.
  bool IsCancelled() const { return context_.IsCancelled(); }

 private:
  template <typename Request, typename Response, typename Handler>
  friend grpc::Status Handle(service::Services& services, const grpc::ServerContext& context,
                             Request& request, Response& response, Handler handler);
  Call(const grpc::ServerContext& context, Principal principal)
      : context_(context), principal_(std::move(principal)) {}

  const grpc::ServerContext& context_;
  const Principal principal_;
};

// Converts an absl::Status to a gRPC status with google.rpc details; the only place that does.
//
//   error                 gRPC code            details, besides ErrorInfo
//   a bad field           INVALID_ARGUMENT     BadRequest
//   a full budget         RESOURCE_EXHAUSTED   QuotaFailure: one violation per full counter of each account
//   UNAVAILABLE, ABORTED  as they are          RetryInfo
//   DATA_LOSS             FAILED_PRECONDITION  none: an operator must repair the ledger or the record files
//   all others            as they are          none
//
// A handler that runs out of memory ends with ShortOfMemory().
//
// Every error carries ErrorInfo {domain "curator"}, whose reason is BUDGET_FULL for a full budget,
// LEDGER_CONTRADICTS_ITSELF for DATA_LOSS (also that of a record file), and else the name of the code.
grpc::Status ToGrpcStatus(const absl::Status& status);

// UNAVAILABLE: an allocation failed. What had been charged stays charged, and the same request id finds it.
absl::Status ShortOfMemory();

// Authenticates the call and runs `handler`. `request` and `response` are messages, or streams of them.
template <typename Request, typename Response, typename Handler>
grpc::Status Handle(service::Services& services, const grpc::ServerContext& context, Request& request,
                    Response& response, Handler handler) {
  absl::StatusOr<Principal> principal = Authenticator::Authenticate(context);
  if (!principal.ok()) return ToGrpcStatus(principal.status());
  try {
    return ToGrpcStatus(handler(services, Call(context, *std::move(principal)), request, response));
  } catch (const std::bad_alloc&) {
    return ToGrpcStatus(ShortOfMemory());
  }
}

// The intent of a message with the field `validate_only`.
template <typename Message>
service::Intent IntentOf(const Message& message) {
  return message.validate_only() ? service::Intent::kValidateOnly : service::Intent::kDo;
}

// CANCELLED: the error for a message of a stream that could not be written.
absl::Status ClientDisconnected();

}  // namespace curator::rpc
