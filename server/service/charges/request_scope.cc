#include "service/charges/request_scope.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

bool IsIn(const ledger::Part& part, int64_t version) {
  return part.sealed_version >= 1 && part.sealed_version <= version;
}

absl::StatusOr<ledger::Part> FindPart(const ledger::Dataset& dataset, const std::string& name,
                                      const std::string& field) {
  for (const ledger::Part& part : dataset.parts) {
    if (part.name == name) return part;
  }
  if (dataset.parts.empty()) return InvalidField(field, "must be left out: this dataset has no parts");
  const std::string known =
      absl::StrJoin(dataset.parts, ", ",
                    [](std::string* out, const ledger::Part& part) { absl::StrAppend(out, part.name); });
  return InvalidField(field, absl::StrCat("there is no part \"", name, "\"; there are: ", known));
}

absl::StatusOr<std::vector<ledger::Part>> NamedParts(const ledger::Dataset& dataset, int64_t version,
                                                     const std::vector<std::string>& names) {
  std::vector<ledger::Part> named;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string field = absl::StrCat("parts[", i, "]");
    ASSIGN_OR_RETURN(ledger::Part part, FindPart(dataset, names[i], field));
    if (std::find(named.begin(), named.end(), part) != named.end()) {
      return InvalidField(field, "names a part twice");
    }
    if (version > 0 && !IsIn(part, version)) {
      return absl::FailedPreconditionError(absl::StrCat("part \"", part.name, "\" of dataset \"",
                                                        dataset.name,
                                                        "\" is not sealed yet: it cannot be asked"));
    }
    named.push_back(std::move(part));
  }
  std::sort(named.begin(), named.end(),
            [](const ledger::Part& a, const ledger::Part& b) { return a.number < b.number; });
  return named;
}

absl::StatusOr<std::vector<ledger::Part>> TouchedParts(const ledger::Dataset& dataset, int64_t version,
                                                       const std::vector<std::string>& names) {
  if (!names.empty()) return NamedParts(dataset, version, names);
  std::vector<ledger::Part> touched = dataset.parts;
  if (version > 0) std::erase_if(touched, [&](const ledger::Part& part) { return !IsIn(part, version); });
  return touched;
}

bool IsPostedTo(const ledger::Charge& charge, const ledger::Account& account) {
  return std::any_of(charge.postings.begin(), charge.postings.end(),
                     [&](const ledger::Posting& posting) { return posting.account_id == account.id; });
}

bool IsTouched(const std::vector<ledger::Part>& parts, const ledger::Account& account) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const ledger::Part& part) { return part.account_id == account.id; });
}

void KeepChargedAccounts(const std::optional<ledger::Charge>& earlier, const Principal& principal,
                         RequestScope& scope) {
  std::erase_if(scope.accounts, [&](const ledger::Account& account) {
    if (account.scope_type == ledger::ScopeType::kPart) return !IsTouched(scope.parts, account);
    return earlier ? !IsPostedTo(*earlier, account) : !PaysFrom(account, principal);
  });
}

// Of any kind: the ledger refuses another request under this id, whatever its scope.
absl::StatusOr<std::optional<ledger::Charge>> ChargedHere(ledger::Ledger& ledger, const DatasetView& dataset,
                                                          const Principal& principal,
                                                          std::string_view request_id) {
  if (request_id.empty()) return std::nullopt;
  absl::StatusOr<ledger::Charge> charge = ledger.FindCharge(principal, request_id);
  if (absl::IsNotFound(charge.status())) return std::nullopt;
  RETURN_IF_ERROR(charge.status());
  if (charge->dataset_id != dataset.record.id) return std::nullopt;
  return *std::move(charge);
}

// The current version, with all accounts that the principal's charges may post to.
absl::StatusOr<RequestScope> WholeScope(ledger::Ledger& ledger, const DatasetView& dataset,
                                        const Principal& principal) {
  RequestScope scope{.version = dataset.record.version, .parts = {}, .accounts = {}};
  ASSIGN_OR_RETURN(scope.accounts, PayingAccounts(ledger, dataset, principal.name()));
  return scope;
}

// Whether the whole scope is that of every request, charged before or not.
bool IsSimple(const DatasetView& dataset, const RequestScope& whole, const std::vector<std::string>& parts) {
  return dataset.record.parts.empty() && whole.accounts.size() == 1 && parts.empty();
}

absl::StatusOr<RequestScope> Narrowed(RequestScope scope, const DatasetView& dataset,
                                      const Principal& principal,
                                      const std::optional<ledger::Charge>& earlier,
                                      const std::vector<std::string>& parts) {
  if (earlier) scope.version = earlier->dataset_version;
  ASSIGN_OR_RETURN(scope.parts, TouchedParts(dataset.record, scope.version, parts));
  KeepChargedAccounts(earlier, principal, scope);
  return scope;
}

absl::StatusOr<RequestScope> ScopeWithin(RequestScope whole, ledger::Ledger& ledger,
                                         const DatasetView& dataset, const Principal& principal,
                                         std::string_view request_id, const std::vector<std::string>& parts) {
  if (IsSimple(dataset, whole, parts)) return whole;
  ASSIGN_OR_RETURN(const std::optional<ledger::Charge> earlier,
                   ChargedHere(ledger, dataset, principal, request_id));
  return Narrowed(std::move(whole), dataset, principal, earlier, parts);
}

}  // namespace

absl::StatusOr<std::optional<ledger::Charge>> FindEarlier(ledger::Ledger& ledger, const DatasetView& dataset,
                                                          const Principal& principal,
                                                          std::string_view request_id,
                                                          std::string_view kind) {
  ASSIGN_OR_RETURN(std::optional<ledger::Charge> charge, ChargedHere(ledger, dataset, principal, request_id));
  if (charge && charge->kind != kind) return std::nullopt;
  return charge;
}

std::vector<int64_t> RequestScope::PartNumbers() const {
  std::vector<int64_t> numbers;
  for (const ledger::Part& part : parts) numbers.push_back(part.number);
  return numbers;
}

std::string RequestScope::Description() const {
  if (parts.empty()) return "";
  return parts.size() == 1 ? absl::StrCat(" of part ", parts.front().name)
                           : absl::StrCat(" of ", parts.size(), " parts");
}

absl::StatusOr<RequestScope> ScopeOf(ledger::Ledger& ledger, const DatasetView& dataset,
                                     const Principal& principal, std::string_view request_id,
                                     const std::vector<std::string>& parts) {
  ASSIGN_OR_RETURN(RequestScope scope, WholeScope(ledger, dataset, principal));
  return ScopeWithin(std::move(scope), ledger, dataset, principal, request_id, parts);
}

absl::StatusOr<RequestScope> ScopeIn(const KnownDataset& dataset, const Principal& principal,
                                     const std::optional<ledger::Charge>& earlier,
                                     const std::vector<std::string>& parts) {
  RequestScope scope{.version = dataset.view.record.version, .parts = {}, .accounts = dataset.accounts};
  if (IsSimple(dataset.view, scope, parts)) return scope;
  const bool is_here = earlier && earlier->dataset_id == dataset.view.record.id;
  return Narrowed(std::move(scope), dataset.view, principal, is_here ? earlier : std::nullopt, parts);
}

absl::StatusOr<RequestScope> OutsideScopeOf(ledger::Ledger& ledger, const DatasetView& dataset,
                                            const Principal& principal, std::string_view request_id,
                                            std::vector<ledger::Account> accounts) {
  if (dataset.record.parts.empty()) {
    return ScopeWithin({.version = dataset.record.version, .parts = {}, .accounts = std::move(accounts)},
                       ledger, dataset, principal, request_id, {});
  }
  const dp::UnitBound& unit = dataset.unit_bound;
  if (unit.relation != dp::NeighbourRelation::kAddRemove || unit.max_records != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("dataset \"", dataset.record.name,
                     "\" is partitioned, and one of its units may lie in several parts: a "
                     "stated event says nothing of a unit that is only partly in what a mechanism reads. "
                     "Only Curator's own "
                     "mechanisms are counted here"));
  }
  RequestScope scope{
      .version = dataset.record.version, .parts = dataset.record.parts, .accounts = std::move(accounts)};
  ASSIGN_OR_RETURN(const std::optional<ledger::Charge> earlier,
                   ChargedHere(ledger, dataset, principal, request_id));
  if (earlier) {
    scope.version = earlier->dataset_version;
    std::erase_if(scope.accounts,
                  [&](const ledger::Account& account) { return !IsPostedTo(*earlier, account); });
    return scope;
  }
  KeepChargedAccounts(earlier, principal, scope);
  return scope;
}

std::vector<records::SealedId> TablesOf(const DatasetView& dataset, const RequestScope& scope) {
  const ledger::Dataset& record = dataset.record;
  if (record.parts.empty()) return {{record.id, record.content_hash}};
  std::vector<records::SealedId> tables;
  for (const ledger::Part& part : scope.parts)
    tables.push_back(
        {.dataset_id = StoredIdOf(record, part), .content_hash = part.content_hash, .is_part = true});
  return tables;
}

std::string StoredIdOf(const ledger::Dataset& dataset, const ledger::Part& part) {
  return absl::StrCat(dataset.id, "-part-", part.number);
}

records::PartIds StoredIdsOf(ledger::Ledger& ledger, const ledger::Dataset& dataset) {
  return {.dataset_id = dataset.id,
          .list = [&ledger, id = dataset.id]() -> absl::StatusOr<std::vector<std::string>> {
            ASSIGN_OR_RETURN(const ledger::Dataset current, ledger.GetDatasetById(id));
            std::vector<std::string> ids;
            for (const ledger::Part& part : current.parts) ids.push_back(StoredIdOf(current, part));
            return ids;
          }};
}

}  // namespace curator::service
