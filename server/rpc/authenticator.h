// Who makes a call. The one place of the program that makes a Principal of what a client sends.
//
// Thread-safe.
#pragma once

#include <grpcpp/server_context.h>

#include "absl/status/statusor.h"
#include "base/principal.h"

namespace curator::rpc {

// The metadata key in which a client names its principal in development mode.
inline constexpr char kPrincipalKey[] = "curator-principal";

class Authenticator {
 public:
  // Development mode: the name that the client gives is trusted, which provides no security at all.
  // Errors: UNAUTHENTICATED when the call names no principal, or more than one; INVALID_ARGUMENT for a name
  // that no principal can have.
  static absl::StatusOr<Principal> Authenticate(const grpc::CallbackServerContext& context);
};

}  // namespace curator::rpc
