#include "service/access.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
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

bool MaySee(const ledger::Dataset& dataset, std::string_view name) {
  return dataset.owner == name || std::ranges::find(dataset.grantees, name) != dataset.grantees.end();
}

absl::Status CheckOwner(const ledger::Dataset& dataset, const Principal& principal) {
  if (dataset.owner == principal.name()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("only the owner of dataset \"", dataset.name, "\" may do this"));
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

absl::StatusOr<DatasetView> FindVisible(ledger::Ledger& ledger, const Principal& principal,
                                        const DatasetName& name) {
  absl::StatusOr<ledger::Dataset> dataset = ledger.GetDataset(name.text(), principal.name());
  if (absl::IsNotFound(dataset.status())) return NoSuchDataset(name.text());
  RETURN_IF_ERROR(dataset.status());
  if (!MaySee(*dataset, principal.name())) return NoSuchDataset(name.text());
  return ViewOf(*std::move(dataset));
}

absl::StatusOr<DatasetView> FindOwned(ledger::Ledger& ledger, const Principal& principal,
                                      const DatasetName& name) {
  ASSIGN_OR_RETURN(DatasetView view, FindVisible(ledger, principal, name));
  RETURN_IF_ERROR(CheckOwner(view.record, principal));
  return view;
}

absl::StatusOr<DatasetView> FindVisibleById(ledger::Ledger& ledger, const Principal& principal,
                                            std::string_view dataset_id) {
  absl::StatusOr<ledger::Dataset> dataset = ledger.GetDatasetById(dataset_id, principal.name());
  if (!dataset.ok() && !absl::IsNotFound(dataset.status())) return dataset.status();
  if (!dataset.ok() || !MaySee(*dataset, principal.name())) {
    return absl::NotFoundError("there is no such dataset that you may see");
  }
  return ViewOf(*std::move(dataset));
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

bool MaySeeAccount(const ledger::Dataset& dataset, const ledger::Account& account,
                   const Principal& principal) {
  return dataset.owner == principal.name() || PaysFrom(account, principal);
}

absl::Status CheckMayApprove(const ledger::Account& account, const ledger::LimitProposal& proposal,
                             const Principal& principal) {
  if (proposal.proposed_by == principal.name()) {
    return absl::PermissionDeniedError("you proposed this limit: somebody else has to approve it");
  }
  const bool is_personal = account.scope_type == ledger::ScopeType::kAnalyst ||
                           account.scope_type == ledger::ScopeType::kAnalystGroup;
  if (is_personal && PaysFrom(account, principal)) {
    return absl::PermissionDeniedError(
        "it is the limit of your own account: somebody else has to approve it");
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

absl::Status CheckIsApprover(const directory::DirectoryStore* directory, const ledger::Dataset& dataset,
                             const ledger::LimitProposal& proposal, const Principal& principal) {
  if (directory == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, directory->Current());
  if (!current->HasRole(directory::Role::kApprover, principal.name(), dataset.id)) {
    return absl::PermissionDeniedError(
        "only an approver of the dataset may do this: its owner proposes one (curator role bind approver), "
        "and "
        "an administrator approves that");
  }
  if (current->AreTwoPersons(principal.name(), proposal.proposed_by)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(principal.name(), " and ", proposal.proposed_by,
                   " do not count as two persons: one administrator alone could act as both"));
}

bool MayReadEntry(const ledger::Dataset& dataset, const ledger::Entry& entry, const Principal& principal) {
  if (entry.kind == ledger::kEqualContent) return false;
  const bool is_own_charge = !entry.charge_id.empty() && entry.actor == principal.name();
  return is_own_charge || dataset.owner == principal.name();
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
