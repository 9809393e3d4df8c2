#include "rpc/authenticator.h"

#include <string>

#include "base/status_macros.h"

namespace curator::rpc {

absl::StatusOr<Principal> Authenticator::Authenticate(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  if (metadata.count(kPrincipalKey) != 1) {
    return absl::UnauthenticatedError(
        "the call must name its principal once, in the metadata key curator-principal");
  }
  const grpc::string_ref value = metadata.find(kPrincipalKey)->second;
  std::string name(value.data(), value.size());
  RETURN_IF_ERROR(CheckPrincipalName(name));
  return Principal(std::move(name));
}

}  // namespace curator::rpc
