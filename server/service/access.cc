#include "service/access.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "codec/schema_codec.h"
#include "ledger/history/entry_payload.h"

namespace curator::service {
namespace {

absl::Status NoSuchDataset(std::string_view name) {
  return absl::NotFoundError(
      absl::StrCat("there is no dataset \"", std::string(name), "\" that you may see"));
}

// The roles of the server in the directory.
struct ServerRole {
  Role role;
  directory::Role in_directory;
};
constexpr ServerRole kServerRoles[] = {{Role::kAdministrator, directory::Role::kAdministrator},
                                       {Role::kOperator, directory::Role::kOperator},
                                       {Role::kCreator, directory::Role::kCreator},
                                       {Role::kAuditor, directory::Role::kAuditor}};

// What a grant gives.
struct RoleOfGrant {
  Role role;
  int64_t bit;
};
constexpr RoleOfGrant kRolesOfGrants[] = {{Role::kAnalyst, ledger::kGrantedAnalyst},
                                          {Role::kService, ledger::kGrantedService},
                                          {Role::kAuditor, ledger::kGrantedAuditor},
                                          {Role::kFormer, ledger::kGrantedFormer}};

bool HasPassed(int64_t expires_at_us) {
  return expires_at_us != 0 && expires_at_us <= absl::ToUnixMicros(absl::Now());
}

void AddGranted(const ledger::Grant& grant, Roles& roles) {
  // Releases that were given under a grant stay readable after it.
  constexpr int64_t kGetsReleases =
      ledger::kGrantedAnalyst | ledger::kGrantedService | ledger::kGrantedFormer;
  if (HasPassed(grant.expires_at_us)) {
    if ((grant.roles & kGetsReleases) != 0) roles.Add(Role::kFormer);
    return;
  }
  for (const RoleOfGrant& each : kRolesOfGrants) {
    if ((grant.roles & each.bit) != 0) roles.Add(each.role);
  }
}

const ledger::Grant* GrantOf(const ledger::Dataset& dataset, std::string_view name) {
  const auto found = std::ranges::find(dataset.grants, name, &ledger::Grant::grantee);
  return found == dataset.grants.end() || found->roles == 0 ? nullptr : &*found;
}

// "the owner", "an analyst or a service"
std::string WhoMay(const Permission& permission) {
  std::vector<std::string> who;
  for (int i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    if (permission.ExtentFor({role}) == Extent::kNone) continue;
    const std::string name(NameOf(role));
    const bool begins_with_vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
    who.push_back(absl::StrCat(role == Role::kOwner ? "the " : (begins_with_vowel ? "an " : "a "), name));
  }
  return absl::StrJoin(who, " or ");
}

constexpr std::string_view kAddRemove = "ADD_REMOVE";
constexpr std::string_view kReplaceOne = "REPLACE_ONE";

absl::StatusOr<dp::NeighbourRelation> RelationFromName(std::string_view name) {
  if (name == kAddRemove) return dp::NeighbourRelation::kAddRemove;
  if (name == kReplaceOne) return dp::NeighbourRelation::kReplaceOne;
  return absl::DataLossError(absl::StrCat("unknown neighbour relation \"", std::string(name), "\""));
}

}  // namespace

absl::StatusOr<DatasetView> ViewOf(ledger::Dataset record) {
  ASSIGN_OR_RETURN(dp::Schema schema, codec::DecodeSchema(record.schema));
  ASSIGN_OR_RETURN(const dp::NeighbourRelation relation, RelationFromName(record.neighbour_relation));
  const dp::UnitBound bound = dp::UnitBoundOf(schema, relation);
  if (bound.max_records != record.max_records_per_unit) {
    return absl::DataLossError(absl::StrCat("the schema of dataset \"", record.name,
                                            "\" has another bound of records than its account"));
  }
  return DatasetView{std::move(record), std::move(schema), bound};
}

std::string_view RelationName(dp::NeighbourRelation relation) {
  return relation == dp::NeighbourRelation::kReplaceOne ? kReplaceOne : kAddRemove;
}

std::string WhatItProtects(const DatasetView& dataset) {
  if (dataset.record.is_public) return "no one: the dataset is public";
  std::string whom = "one record";
  const auto with_records = [](const std::string& unit, const std::string& column, int64_t most) {
    const std::string number =
        most == dp::kNoRecordBound ? "any number of them" : absl::StrCat("at most ", most, " of them");
    return absl::StrCat("one ", unit, " with all its records (column ", column, ", ", number, ")");
  };
  if (const auto* person = std::get_if<dp::PersonUnit>(&dataset.schema.unit))
    whom = with_records("person", person->id_column, person->max_records);
  if (const auto* group = std::get_if<dp::GroupUnit>(&dataset.schema.unit))
    whom = with_records("group", group->id_column, group->max_records);
  const bool is_replaced = dataset.unit_bound.relation == dp::NeighbourRelation::kReplaceOne;
  return absl::StrCat(whom, is_replaced ? ", replaced by another" : ", added or removed");
}

absl::Status CheckServerRole(const directory::DirectoryStore* directory, const Permission& permission,
                             const Principal& principal) {
  if (permission.scope != Scope::kServer || directory == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, directory->Current());
  Roles roles;
  for (const ServerRole& each : kServerRoles) {
    if (current->HasRole(each.in_directory, principal.name())) roles.Add(each.role);
  }
  if (permission.ExtentFor(roles) != Extent::kNone) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("only ", WhoMay(permission),
                   " of this server may do this: an administrator gives the role "
                   "(curator role bind)"));
}

absl::StatusOr<Roles> RolesOn(const Access& access, const ledger::Dataset& dataset, std::string_view name) {
  Roles roles;
  if (dataset.owner == name) roles.Add(Role::kOwner);
  const ledger::Grant* const grant = GrantOf(dataset, name);
  if (grant != nullptr) AddGranted(*grant, roles);
  if (access.directory == nullptr) {
    const bool approves = grant != nullptr && !HasPassed(grant->expires_at_us) &&
                          (grant->roles & ledger::kGrantedApprover) != 0;
    if (approves) roles.Add(Role::kApprover);
    return roles;
  }
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, access.directory->Current());
  for (const std::string& where : {dataset.id, std::string()}) {
    if (current->HasRole(directory::Role::kApprover, name, where)) roles.Add(Role::kApprover);
  }
  const bool is_single_custody = access.directory->CustodyHere(*current) == directory::Custody::kSingle;
  if (is_single_custody && roles.Has(Role::kOwner)) roles.Add(Role::kApprover);
  if (current->HasRole(directory::Role::kAuditor, name)) roles.Add(Role::kAuditor);
  if (current->HasRole(directory::Role::kAdministrator, name)) roles.Add(Role::kAdministrator);
  return roles;
}

Standing StandingOf(const directory::DirectoryStore* store,
                    const directory::DirectoryStore::Snapshot& directory, const Principal& principal) {
  Standing standing;
  if (store == nullptr) return standing;
  const directory::PrincipalRecord* const record = directory->FindPrincipal(principal.name());
  standing.is_active = record != nullptr && !record->is_disabled;
  standing.custody = store->CustodyHere(*directory);
  for (const directory::RoleBinding* role : directory->RolesOf(principal.name())) {
    if (!role->is_pending) standing.roles.emplace_back(role->role, role->dataset_id);
  }
  return standing;
}

absl::StatusOr<ledger::AlsoListed> RolesBesideGrants(const Access& access, const Principal& principal) {
  ledger::AlsoListed also;
  if (access.directory == nullptr) return also;
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, access.directory->Current());
  for (const directory::RoleBinding* role : current->RolesOf(principal.name())) {
    const bool is_on_datasets =
        role->role == directory::Role::kApprover || role->role == directory::Role::kAuditor;
    if (!is_on_datasets || role->is_pending) continue;
    also.all = also.all || role->dataset_id.empty();
    if (!role->dataset_id.empty()) also.ids.push_back(role->dataset_id);
  }
  return also;
}

absl::Status CheckMay(Method method, const ledger::Dataset& dataset, Roles roles) {
  const Permission& permission = PermissionFor(method);
  if (permission.ExtentFor(roles) != Extent::kNone) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("only ", WhoMay(permission), " of dataset \"", dataset.name, "\" may do this"));
}

namespace {

// `none`: the error where there is no dataset for the principal. A deleted one is there for its owner and its
// auditors alone.
absl::StatusOr<DatasetRoles> RolesOr(const Access& access, Method method, const Principal& principal,
                                     const ledger::Dataset& dataset, const absl::Status& none) {
  ASSIGN_OR_RETURN(const Roles roles, RolesOn(access, dataset, principal.name()));
  const bool is_hidden = dataset.state == ledger::DatasetState::kDeleted && !roles.Has(Role::kOwner) &&
                         !roles.Has(Role::kAuditor);
  if (roles.empty() || is_hidden) return none;
  RETURN_IF_ERROR(CheckMay(method, dataset, roles));
  const ledger::Grant* const grant = GrantOf(dataset, principal.name());
  return DatasetRoles{.roles = roles, .end_at_us = grant == nullptr ? 0 : grant->expires_at_us};
}

// The dataset that was read for `principal`, or `none` where there is none for him.
absl::StatusOr<DatasetView> ViewFor(const Access& access, Method method, const Principal& principal,
                                    absl::StatusOr<ledger::Dataset> read, const absl::Status& none) {
  if (absl::IsNotFound(read.status())) return none;
  RETURN_IF_ERROR(read.status());
  ASSIGN_OR_RETURN(const DatasetRoles found, RolesOr(access, method, principal, *read, none));
  ASSIGN_OR_RETURN(DatasetView view, ViewOf(*std::move(read)));
  view.roles = found.roles;
  view.roles_end_at_us = found.end_at_us;
  return view;
}

}  // namespace

absl::StatusOr<DatasetView> FindDataset(const Access& access, Method method, const Principal& principal,
                                        const DatasetName& name) {
  return ViewFor(access, method, principal, access.ledger.GetDataset(name.text(), principal.name()),
                 NoSuchDataset(name.text()));
}

absl::StatusOr<DatasetView> FindHistory(const Access& access, Method method, const Principal& principal,
                                        const DatasetName& name) {
  if (IsUuid(name.text())) {
    absl::StatusOr<DatasetView> by_id =
        ViewFor(access, method, principal, access.ledger.GetDatasetById(name.text(), principal.name()),
                NoSuchDataset(name.text()));
    // A dataset may have another one's id as its name.
    if (!absl::IsNotFound(by_id.status())) return by_id;
  }
  return FindDataset(access, method, principal, name);
}

absl::StatusOr<DatasetView> FindDatasetById(const Access& access, Method method, const Principal& principal,
                                            std::string_view dataset_id) {
  const absl::Status none = absl::NotFoundError("there is no such dataset that you may see");
  absl::StatusOr<ledger::Dataset> read = access.ledger.GetDatasetById(dataset_id, principal.name());
  if (read.ok() && read->state == ledger::DatasetState::kDeleted) return none;
  return ViewFor(access, method, principal, std::move(read), none);
}

absl::StatusOr<DatasetRoles> RolesFor(const Access& access, Method method, const Principal& principal,
                                      const ledger::Dataset& dataset) {
  return RolesOr(access, method, principal, dataset, NoSuchDataset(dataset.name));
}

absl::Status CheckIsOwner(const ledger::Dataset& dataset, const Principal& principal) {
  if (dataset.owner == principal.name()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("only the owner of dataset \"", dataset.name, "\" may do this"));
}

std::string DescribeGranted(int64_t roles) {
  std::vector<std::string> names;
  for (const RoleOfGrant& each : kRolesOfGrants) {
    if ((roles & each.bit) != 0) names.emplace_back(NameOf(each.role));
  }
  if ((roles & ledger::kGrantedApprover) != 0) names.emplace_back(NameOf(Role::kApprover));
  return names.empty() ? "nothing" : absl::StrJoin(names, ", ");
}

bool HaveRolesEnded(int64_t roles_end_at_us) {
  return HasPassed(roles_end_at_us);
}

bool AreRolesCurrent(const DatasetView& dataset) {
  return !HaveRolesEnded(dataset.roles_end_at_us);
}

absl::Status CheckAcceptsRequest(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                 const Principal& principal, std::string_view request_id) {
  if (dataset.state == ledger::DatasetState::kSealed) return absl::OkStatus();
  // Found, or an error that does not say whether it is there.
  const absl::Status earlier = ledger.FindCharge(principal, request_id).status();
  if (!absl::IsNotFound(earlier)) return earlier;
  return absl::FailedPreconditionError(
      dataset.state == ledger::DatasetState::kArchived
          ? absl::StrCat("dataset \"", dataset.name, "\" is archived: it answers no new questions")
          : absl::StrCat("dataset \"", dataset.name,
                         "\" is not sealed yet: its owner imports records, then seals it"));
}

bool PaysFrom(const ledger::Account& account, const Principal& principal) {
  switch (account.scope_type) {
    case ledger::ScopeType::kDataset:
    case ledger::ScopeType::kPart:
      return true;
    case ledger::ScopeType::kAnalyst:
      return account.scope_key == principal.name();
    case ledger::ScopeType::kAnalystGroup:
      return std::ranges::find(account.members, principal.name()) != account.members.end();
  }
  return true;
}

absl::StatusOr<ledger::Approval> ApprovalOf(const Access& access, std::string_view proposed_by,
                                            const Principal& principal) {
  const bool is_proposer = proposed_by == principal.name();
  if (access.directory == nullptr && !is_proposer) return ledger::Approval::kByAnother;
  if (access.directory != nullptr) {
    ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, access.directory->Current());
    const bool are_two = !is_proposer && current->AreTwoPersons(principal.name(), proposed_by);
    if (are_two) return ledger::Approval::kByAnother;
    const bool is_single = access.directory->CustodyHere(*current) == directory::Custody::kSingle;
    if (is_single) return ledger::Approval::kSingleCustody;
  }
  if (is_proposer) {
    return absl::PermissionDeniedError("you proposed this yourself: another person has to approve it");
  }
  return absl::PermissionDeniedError(
      absl::StrCat(principal.name(), " and ", std::string(proposed_by),
                   " do not count as two persons: one administrator alone could act as both"));
}

absl::StatusOr<bool> MayApproveOf(const Access& access, std::string_view proposed_by,
                                  const Principal& principal) {
  const absl::Status approval = ApprovalOf(access, proposed_by, principal).status();
  if (absl::IsPermissionDenied(approval)) return false;
  RETURN_IF_ERROR(approval);
  return true;
}

absl::Status CheckDoesNotProfit(ledger::Ledger& ledger, const ledger::Account& account,
                                const ledger::LimitProposal& proposal, const Principal& principal) {
  const bool is_personal = account.scope_type == ledger::ScopeType::kAnalyst ||
                           account.scope_type == ledger::ScopeType::kAnalystGroup;
  if (is_personal && PaysFrom(account, principal)) {
    return absl::PermissionDeniedError(
        "it is the limit of your own account: somebody else has to approve it");
  }
  ASSIGN_OR_RETURN(const bool spends,
                   ledger.HasGrantInLineage(proposal.dataset_id, principal.name(),
                                            ledger::kGrantedAnalyst | ledger::kGrantedService));
  if (spends) {
    return absl::PermissionDeniedError(
        "you spend from this budget yourself: somebody who does not has to approve its limits");
  }
  return absl::OkStatus();
}

absl::Status CheckCanHoldRights(const directory::DirectoryStore* directory, std::string_view field,
                                const std::string& name) {
  if (directory == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, directory->Current());
  const directory::PrincipalRecord* const found = current->FindPrincipal(name);
  const bool can_prove = found != nullptr && !found->is_disabled &&
                         std::ranges::any_of(found->credentials, [&](const std::string& id) {
                           return !current->FindCredential(id)->is_pending;
                         });
  if (can_prove) return absl::OkStatus();
  return InvalidField(field,
                      "must be an active principal with a credential: an administrator makes it and links an "
                      "identity first");
}

bool MayReadEntry(Roles roles, const ledger::Entry& entry, const Principal& principal) {
  if (entry.kind == ledger::kEqualContent) return false;
  const bool is_own_charge = !entry.charge_id.empty() && ledger::ActorName(entry) == principal.name();
  return is_own_charge || PermissionFor(Method::kListLedgerEntries).ExtentFor(roles) == Extent::kAll;
}

absl::StatusOr<ledger::Charge> FindOwnCharge(ledger::Ledger& ledger, const Principal& principal,
                                             std::string_view charge_id, std::string_view noun) {
  absl::StatusOr<ledger::Charge> charge = ledger.GetCharge(charge_id);
  if (absl::IsNotFound(charge.status()) || (charge.ok() && charge->principal != principal.name())) {
    return absl::NotFoundError(absl::StrCat("there is no ", std::string(noun), " of yours with this id"));
  }
  return charge;
}

bool IsPayerOrOwner(const ledger::Release& release, const ledger::Dataset& dataset,
                    const Principal& principal) {
  return release.principal == principal.name() || dataset.owner == principal.name();
}

bool MayReadRelease(const ledger::Release& release, const ledger::Dataset& dataset,
                    const Principal& principal) {
  return IsPayerOrOwner(release, dataset, principal) ||
         std::ranges::find(release.shared_with, principal.name()) != release.shared_with.end();
}

}  // namespace curator::service
