#include "ledger/types.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"

namespace curator::ledger {
namespace {

constexpr std::array<std::pair<ChargeState, std::string_view>, 5> kStateNames = {{
    {ChargeState::kReserved, "RESERVED"},
    {ChargeState::kStarted, "STARTED"},
    {ChargeState::kCommitted, "COMMITTED"},
    {ChargeState::kCancelled, "CANCELLED"},
    {ChargeState::kForfeited, "FORFEITED"},
}};
constexpr std::array<std::pair<ScopeType, std::string_view>, 4> kScopeNames = {{
    {ScopeType::kDataset, "DATASET"},
    {ScopeType::kAnalyst, "ANALYST"},
    {ScopeType::kAnalystGroup, "ANALYST_GROUP"},
    {ScopeType::kPart, "PART"},
}};
constexpr std::array<std::pair<DatasetState, std::string_view>, 4> kDatasetStateNames = {{
    {DatasetState::kCreated, "CREATED"},
    {DatasetState::kSealed, "SEALED"},
    {DatasetState::kArchived, "ARCHIVED"},
    {DatasetState::kDeleted, "DELETED"},
}};
constexpr std::array<std::pair<ProposalEnd, std::string_view>, 4> kProposalEndNames = {{
    {ProposalEnd::kNone, ""},
    {ProposalEnd::kRejected, "REJECTED"},
    {ProposalEnd::kWithdrawn, "WITHDRAWN"},
    {ProposalEnd::kTakenUp, "TAKEN_UP"},
}};

template <typename Names, typename Value>
std::string_view NameIn(const Names& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "UNKNOWN";
}

template <typename Value, size_t size>
absl::StatusOr<Value> ValueIn(const std::array<std::pair<Value, std::string_view>, size>& names,
                              std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  return absl::DataLossError(absl::StrCat("the ledger holds the unknown name \"", std::string(name), "\""));
}

}  // namespace

DatasetFacts operator|(const DatasetFacts& a, const DatasetFacts& b) {
  return {.domain_from_records = a.domain_from_records || b.domain_from_records,
          .rows_from_query = a.rows_from_query || b.rows_from_query};
}

int64_t NumberOf(const DatasetFacts& facts) {
  return (facts.domain_from_records ? 1 : 0) + (facts.rows_from_query ? 2 : 0);
}

DatasetFacts FactsOf(int64_t number) {
  return {.domain_from_records = (number & 1) != 0, .rows_from_query = (number & 2) != 0};
}

DatasetFacts FactsAt(const Dataset& dataset, int64_t version) {
  DatasetFacts of_later_parts;
  DatasetFacts of_parts;
  for (const Part& part : dataset.parts) {
    const bool is_in = part.sealed_version >= 1 && part.sealed_version <= version;
    (is_in ? of_parts : of_later_parts) = (is_in ? of_parts : of_later_parts) | part.facts;
  }
  // A seal adds only what the dataset does not have, except that two parts may both come from queries.
  return {.domain_from_records = of_parts.domain_from_records ||
                                 (dataset.facts.domain_from_records && !of_later_parts.domain_from_records),
          .rows_from_query =
              of_parts.rows_from_query || (dataset.facts.rows_from_query && !of_later_parts.rows_from_query)};
}

const std::string& StoredPrincipal(const Charge& charge) {
  return charge.stored_principal.empty() ? charge.principal : charge.stored_principal;
}

const std::string& ActorName(const Entry& entry) {
  return entry.actor_name.empty() ? entry.actor : entry.actor_name;
}

const std::string& NamedPayload(const Entry& entry) {
  return entry.named_payload.empty() ? entry.payload : entry.named_payload;
}

std::string_view StateName(ChargeState state) {
  return NameIn(kStateNames, state);
}
std::string_view ScopeName(ScopeType scope) {
  return NameIn(kScopeNames, scope);
}
std::string_view DatasetStateName(DatasetState state) {
  return NameIn(kDatasetStateNames, state);
}
absl::StatusOr<ChargeState> ChargeStateFromName(std::string_view name) {
  return ValueIn(kStateNames, name);
}
absl::StatusOr<ScopeType> ScopeFromName(std::string_view name) {
  return ValueIn(kScopeNames, name);
}
absl::StatusOr<DatasetState> DatasetStateFromName(std::string_view name) {
  return ValueIn(kDatasetStateNames, name);
}

std::string HashOfRules(std::string_view refusal_rules) {
  return refusal_rules.empty() ? std::string() : Sha256(refusal_rules);
}

std::string HashOfEffect(const RepairReport& report) {
  CanonicalWriter writer("curator.repair.effect", 2);
  writer.Integer(static_cast<int64_t>(report.lost.size()));
  for (const LostRange& lost : report.lost) {
    writer.Text(lost.dataset_id);
    writer.Integer(lost.first_seq);
    writer.Integer(lost.last_seq);
  }
  writer.Integer(static_cast<int64_t>(report.raised.size()));
  for (const RaisedCounter& raised : report.raised) {
    writer.Integer(raised.account_id);
    writer.Text(raised.counter);
    writer.Integer(raised.old_spent);
    writer.Integer(raised.new_spent);
    writer.Integer(raised.old_limit);
    writer.Integer(raised.new_limit);
  }
  writer.Integer(report.reservations_spent);
  writer.Integer(report.charges_forfeited);
  writer.Integer(report.receipts_counted);
  return absl::BytesToHexString(Sha256(std::move(writer).Take()));
}

std::string_view EndName(ProposalEnd end) {
  return NameIn(kProposalEndNames, end);
}
absl::StatusOr<ProposalEnd> ProposalEndFromName(std::string_view name) {
  return ValueIn(kProposalEndNames, name);
}

bool AccountKey::operator<(const AccountKey& other) const {
  if (scope_type == other.scope_type) return scope_key < other.scope_key;
  return std::ranges::find(kScopesAsListed, scope_type) <
         std::ranges::find(kScopesAsListed, other.scope_type);
}

AccountKey KeyOf(const Account& account) {
  return {account.scope_type, account.scope_key};
}

std::string AccountName(std::string_view dataset_name, ScopeType scope, std::string_view scope_key) {
  const std::string dataset = absl::StrCat("dataset/", std::string(dataset_name));
  switch (scope) {
    case ScopeType::kDataset:
      break;
    case ScopeType::kAnalyst:
      return absl::StrCat(dataset, "/analyst/", std::string(scope_key));
    case ScopeType::kAnalystGroup:
      return absl::StrCat(dataset, "/group/", std::string(scope_key));
    case ScopeType::kPart:
      return absl::StrCat(dataset, "/part/", std::string(scope_key));
  }
  return dataset;
}

bool IsSameRequest(const Charge& charge, const ChargeRequest& request) {
  if (charge.fingerprint == request.fingerprint) return true;
  return charge.draw_identity.empty() && !request.earlier_fingerprint.empty() &&
         charge.fingerprint == request.earlier_fingerprint;
}

bool IsQueuedDraw(const Charge& charge) {
  return charge.state == ChargeState::kReserved && !charge.draw_identity.empty();
}

}  // namespace curator::ledger
