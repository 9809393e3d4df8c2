#include "rpc/caller.h"

#include "base/status_macros.h"
#include "service/access.h"

namespace curator::rpc {

absl::StatusOr<std::string> CallerOf(const grpc::ServerContext& context) {
  const auto& metadata = context.client_metadata();
  if (metadata.count(kPrincipalKey) != 1) {
    return absl::UnauthenticatedError(
        "the call must name its principal once, in the metadata key curator-principal");
  }
  const grpc::string_ref value = metadata.find(kPrincipalKey)->second;
  std::string principal(value.data(), value.size());
  RETURN_IF_ERROR(service::CheckPrincipal(principal));
  return principal;
}

service::Intent IntentOf(bool validate_only) {
  return validate_only ? service::Intent::kValidateOnly : service::Intent::kDo;
}

}  // namespace curator::rpc
