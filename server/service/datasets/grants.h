// Who may use a dataset: what its owner gives to others, and takes back.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, and those of
// FindDataset(), NOT_FOUND and PERMISSION_DENIED.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

struct GrantOrder {
  Principal principal;
  DatasetName dataset;
  std::string grantee;
  int64_t roles = ledger::kGrantedAnalyst;  // bits of ledger::Grant::roles, in place of its own
  int64_t expires_at_us = 0;                // microseconds since 1970; 0: never
};

// For the owner; the grantee must be able to prove who it is (CheckCanHoldRights()). FAILED_PRECONDITION for
// a principal whose other roles forbid it: an administrator has no rights on datasets, and who approves the
// limits does not spend from them.
absl::Status GrantAccess(const Access& access, const GrantOrder& order, Intent intent);

// For the owner: the grantee asks nothing new from now on, on any server. It may still read what was released
// to it before, unless `with_releases`. What it was charged for runs to its end and is stored.
struct RevocationOrder {
  Principal principal;
  DatasetName dataset;
  std::string grantee;
  bool with_releases = false;
};
// Repeating it changes nothing. NOT_FOUND when the grantee never had access.
absl::Status RevokeAccess(const Access& access, const RevocationOrder& order, Intent intent);

// All grants, also those that have expired or were taken away but for releases, by grantee.
absl::StatusOr<std::vector<ledger::Grant>> ListGrants(const Access& access, const Principal& principal,
                                                      const DatasetName& dataset);

}  // namespace curator::service
