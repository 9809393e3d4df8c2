// What every call says: who calls, and whether it is only to be checked.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

#include "absl/status/statusor.h"
#include "service/access.h"

namespace curator::rpc {

// The metadata key in which a client names its principal in development mode. It is believed: no security at
// all.
inline constexpr char kPrincipalKey[] = "curator-principal";

// Errors: UNAUTHENTICATED when the call names nobody, or more than one; INVALID_ARGUMENT for an impossible
// name.
absl::StatusOr<std::string> CallerOf(const grpc::ServerContext& context);

// Of a request's field `validate_only`.
service::Intent IntentOf(bool validate_only);

}  // namespace curator::rpc
