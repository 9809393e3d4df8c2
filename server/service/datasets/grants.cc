#include "service/datasets/grants.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "directory/rules.h"

namespace curator::service {
namespace {

constexpr int64_t kSpends = ledger::kGrantedAnalyst | ledger::kGrantedService;

absl::Status CheckRoles(const GrantOrder& order, bool has_directory) {
  constexpr int64_t kOfAnyServer = kSpends | ledger::kGrantedAuditor;
  const bool is_approver = (order.roles & ledger::kGrantedApprover) != 0;
  if (is_approver && has_directory) {
    return InvalidField(
        "roles",
        "must not have APPROVER: propose an approver instead (curator role bind approver), whom an "
        "administrator approves");
  }
  if (order.roles == 0 || (order.roles & ~(kOfAnyServer | ledger::kGrantedApprover)) != 0) {
    return InvalidField("roles", "must be some of ANALYST, SERVICE and AUDITOR");
  }
  if (is_approver && (order.roles & kSpends) != 0) {
    return InvalidField("roles",
                        "must not have APPROVER beside ANALYST or SERVICE: who approves the limits does not "
                        "spend from them");
  }
  return absl::OkStatus();
}

absl::Status CheckExpiry(int64_t expires_at_us) {
  if (expires_at_us == 0 || expires_at_us > absl::ToUnixMicros(absl::Now())) return absl::OkStatus();
  return InvalidField("expire_time", "must be in the future");
}

absl::Status CheckGrantee(const Access& access, const GrantOrder& order, const std::string& dataset_id) {
  RETURN_IF_ERROR(CheckPrincipalName(order.grantee));
  if (access.directory == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(CheckCanHoldRights(access.directory, "principal", order.grantee));
  if ((order.roles & kSpends) == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, access.directory->Current());
  return directory::CheckMaySpend(*current, order.grantee, dataset_id);
}

}  // namespace

absl::Status GrantAccess(const Access& access, const GrantOrder& order, Intent intent) {
  // First whether the caller may: only owners learn who is known.
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kGrantAccess, order.principal, order.dataset));
  RETURN_IF_ERROR(CheckRoles(order, access.directory != nullptr));
  RETURN_IF_ERROR(CheckExpiry(order.expires_at_us));
  RETURN_IF_ERROR(CheckGrantee(access, order, dataset.record.id));
  if (intent == Intent::kValidateOnly) return absl::OkStatus();
  return access.ledger.SetGrant(dataset.record.id, {order.grantee, order.roles, order.expires_at_us},
                                order.principal);
}

absl::Status RevokeAccess(const Access& access, const RevocationOrder& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kRevokeAccess, order.principal, order.dataset));
  RETURN_IF_ERROR(CheckPrincipalName(order.grantee));
  ASSIGN_OR_RETURN(const ledger::Dataset granted,
                   access.ledger.GetDatasetById(dataset.record.id, order.grantee));
  if (granted.grants.empty()) {
    return absl::NotFoundError(
        absl::StrCat("\"", order.grantee, "\" never had access to dataset \"", dataset.record.name, "\""));
  }
  const int64_t before = granted.grants.front().roles;
  const bool had_releases = (before & (kSpends | ledger::kGrantedFormer)) != 0;
  const int64_t after = had_releases && !order.with_releases ? ledger::kGrantedFormer : 0;
  if (intent == Intent::kValidateOnly) return absl::OkStatus();
  return access.ledger.SetGrant(dataset.record.id, {order.grantee, after, 0}, order.principal);
}

absl::StatusOr<std::vector<ledger::Grant>> ListGrants(const Access& access, const Principal& principal,
                                                      const DatasetName& name) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindDataset(access, Method::kListGrants, principal, name));
  ASSIGN_OR_RETURN(ledger::Dataset with_all, access.ledger.GetDatasetById(dataset.record.id));
  std::erase_if(with_all.grants, [](const ledger::Grant& grant) { return grant.roles == 0; });
  return std::move(with_all.grants);
}

}  // namespace curator::service
