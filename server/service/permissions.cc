#include "service/permissions.h"

#include <algorithm>

namespace curator::service {

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kOwner:
      return "owner";
    case Role::kAnalyst:
      return "analyst";
    case Role::kService:
      return "service";
    case Role::kApprover:
      return "approver";
    case Role::kAuditor:
      return "auditor";
    case Role::kFormer:
      return "former user";
    case Role::kAdministrator:
      return "administrator";
    case Role::kOperator:
      return "operator";
    case Role::kCreator:
      return "creator";
  }
  return "";
}

const Permission* FindPermission(std::string_view path) {
  constexpr std::string_view kPrefix = "/curator.v1.";
  if (!path.starts_with(kPrefix)) return nullptr;
  const auto found = std::ranges::find(kPermissions, path.substr(kPrefix.size()), &Permission::name);
  return found == kPermissions.end() ? nullptr : &*found;
}

}  // namespace curator::service
