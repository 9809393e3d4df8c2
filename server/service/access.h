// Who may do what with which dataset: the roles of a principal, held against the table of permissions.h.
// Where a principal has no role there is nothing: NOT_FOUND, never a hint that it exists.
//
// Thread-safe: pure functions, and functions over the ledger and the directory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "directory/directory_store.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"
#include "service/permissions.h"

namespace curator::service {

// Whether a call is carried out, or only checked.
enum class Intent { kDo, kValidateOnly };

// What says which roles a principal has. Holds references: the parts must outlive it.
struct Access {
  ledger::Ledger& ledger;
  // Null in development mode, where every name is believed: then all principals have the roles of the server,
  // and owners make approvers by grants. Otherwise, under single custody, owners are approvers.
  const directory::DirectoryStore* directory = nullptr;
};

// PERMISSION_DENIED when the method needs a role of the server that the principal does not have.
absl::Status CheckServerRole(const directory::DirectoryStore* directory, const Permission& permission,
                             const Principal& principal);

// ---- Datasets

// A dataset as its users see it: the ledger's record and the schema decoded from it.
struct DatasetView {
  ledger::Dataset record;  // of its grants, the viewer's alone, unless a function states that it has all
  dp::Schema schema;
  dp::UnitBound unit_bound;
  Roles roles = {};             // of the viewer, where there is one
  int64_t roles_end_at_us = 0;  // when a grant of the viewer expires; 0: never

  // How much of the dataset the viewer may see or change by this method.
  Extent ExtentOf(Method method) const { return PermissionFor(method).ExtentFor(roles); }
  bool MayAll(Method method) const { return ExtentOf(method) == Extent::kAll; }
};

// Without a viewer. Errors: DATA_LOSS when the stored schema cannot be read.
absl::StatusOr<DatasetView> ViewOf(ledger::Dataset record);

// "ADD_REMOVE", "REPLACE_ONE": as the ledger stores it.
std::string_view RelationName(dp::NeighbourRelation relation);

// What the dataset's guarantees protect, for display: "one record, added or removed"; "one group with all its
// records (column school, at most 40 of them), replaced by another".
std::string WhatItProtects(const DatasetView& dataset);

// The present roles on the dataset of the principal of this name, whose grant the record must have. Errors:
// the directory's.
absl::StatusOr<Roles> RolesOn(const Access& access, const ledger::Dataset& dataset, std::string_view name);

// What roles on datasets depend on besides the datasets' rows: equal values give a principal equal roles by
// equal rows, until a grant expires.
struct Standing {
  bool is_active = true;
  directory::Custody custody = directory::Custody::kTwoPersons;
  std::vector<std::pair<directory::Role, std::string>> roles =
      {};  // in force, with the ids of their datasets
  bool operator==(const Standing&) const = default;
};
// `directory` is one of the store's. Without a store, as in development mode, all standings are equal.
Standing StandingOf(const directory::DirectoryStore* store,
                    const directory::DirectoryStore::Snapshot& directory, const Principal& principal);

// The datasets on which the principal has a role by the directory. Errors: the directory's.
absl::StatusOr<ledger::AlsoListed> RolesBesideGrants(const Access& access, const Principal& principal);

// PERMISSION_DENIED unless the method allows a viewer of these roles something. The message names who may.
absl::Status CheckMay(Method method, const ledger::Dataset& dataset, Roles roles);

// The dataset for a principal who may call the method on it: with the roles that he has. PERMISSION_DENIED
// when they do not allow it; NOT_FOUND, the same as where there is no such dataset, for a principal without
// any role.
absl::StatusOr<DatasetView> FindDataset(const Access& access, Method method, const Principal& principal,
                                        const DatasetName& name);
// The same for the history of a dataset, by its name or its permanent id: owners and auditors also find that
// of a deleted one, by its id.
absl::StatusOr<DatasetView> FindHistory(const Access& access, Method method, const Principal& principal,
                                        const DatasetName& name);
// FindDataset() for the dataset of a release or a charge.
absl::StatusOr<DatasetView> FindDatasetById(const Access& access, Method method, const Principal& principal,
                                            std::string_view dataset_id);

// The roles of a principal on a dataset, and when the first of them expires (0: never).
struct DatasetRoles {
  Roles roles = {};
  int64_t end_at_us = 0;
};
// By a row that was read with all grants, or with the principal's alone. Errors: those of FindDataset().
absl::StatusOr<DatasetRoles> RolesFor(const Access& access, Method method, const Principal& principal,
                                      const ledger::Dataset& dataset);

// PERMISSION_DENIED unless `principal` is the owner.
absl::Status CheckIsOwner(const ledger::Dataset& dataset, const Principal& principal);

// What the bits of a grant allow, for display: "analyst, service"; "nothing".
std::string DescribeGranted(int64_t roles);

// Whether roles that end at this time (DatasetView::roles_end_at_us) have ended.
bool HaveRolesEnded(int64_t roles_end_at_us);

// Whether the view still shows the viewer's roles: no grant of his has expired since.
bool AreRolesCurrent(const DatasetView& dataset);

// FAILED_PRECONDITION unless the dataset is sealed and not archived: only then are new requests answered.
// What (principal, request_id) was charged for before is answered again in any state.
absl::Status CheckAcceptsRequest(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                 const Principal& principal, std::string_view request_id);

// ---- Accounts, charges and releases of a dataset that the principal may see

// Whether a charge by `principal` on the whole dataset posts to `account`: to the dataset's own account, and
// those of its parts, always; to an analyst's if it is theirs, to a group's if they are a member.
bool PaysFrom(const ledger::Account& account, const Principal& principal);

// How `principal` approves what `proposed_by` proposed: kByAnother where the two are two persons, for which
// without a directory every name counts; else kSingleCustody where one person has custody of the server, and
// else PERMISSION_DENIED.
absl::StatusOr<ledger::Approval> ApprovalOf(const Access& access, std::string_view proposed_by,
                                            const Principal& principal);

// Whether it would approve it.
absl::StatusOr<bool> MayApproveOf(const Access& access, std::string_view proposed_by,
                                  const Principal& principal);

// Of a limit that is to be approved: PERMISSION_DENIED for those whose own account it is, and for analysts
// and services of any dataset that shares the account, who would spend more.
absl::Status CheckDoesNotProfit(ledger::Ledger& ledger, const ledger::Account& account,
                                const ledger::LimitProposal& proposal, const Principal& principal);

// Of a principal that a request names, to give it something: INVALID_ARGUMENT (`field`) unless it is active
// and can prove who it is, because a name that is nobody's yet could become anybody's. Without a directory,
// as in development mode, every name will do.
absl::Status CheckCanHoldRights(const directory::DirectoryStore* directory, std::string_view field,
                                const std::string& name);

// Owners, approvers and auditors read the content of all entries of the history, others that of their own
// charges. No principal reads EQUAL_CONTENT: it names a dataset that may be another's.
bool MayReadEntry(Roles roles, const ledger::Entry& entry, const Principal& principal);

// The charge for the principal who made it; NOT_FOUND ("there is no NOUN of yours ...") for all others.
absl::StatusOr<ledger::Charge> FindOwnCharge(ledger::Ledger& ledger, const Principal& principal,
                                             std::string_view charge_id, std::string_view noun);

// Whether `principal` paid for the release or owns the dataset: they see its price and may share it.
bool IsPayerOrOwner(const ledger::Release& release, const ledger::Dataset& dataset,
                    const Principal& principal);

// Also those with whom one of these two shared it.
bool MayReadRelease(const ledger::Release& release, const ledger::Dataset& dataset,
                    const Principal& principal);

}  // namespace curator::service
