#include "rpc/authenticator.h"

#include <utility>

#include "base/status_macros.h"

namespace curator::rpc {

absl::StatusOr<Caller> DevelopmentAuthenticator::Identify(const grpc::ServerContextBase& context) {
  const auto& metadata = context.client_metadata();
  if (metadata.count(kPrincipalKey) != 1) {
    return absl::UnauthenticatedError(
        "the call must name its principal once, in the metadata key curator-principal");
  }
  const grpc::string_ref value = metadata.find(kPrincipalKey)->second;
  std::string name(value.data(), value.size());
  RETURN_IF_ERROR(CheckPrincipalName(name));
  return Caller{PrincipalOf(std::move(name))};
}

absl::StatusOr<Proof> DevelopmentAuthenticator::Prove(const grpc::ServerContextBase&) {
  return absl::FailedPreconditionError(
      "a server in development mode knows no identities: it believes any name");
}

}  // namespace curator::rpc
