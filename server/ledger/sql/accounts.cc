// Accounts, opened with their dataset or later.
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {

namespace {

std::string FingerprintOf(const NewAccount& account) {
  CanonicalWriter writer("curator.ledger.create_account", 1);
  writer.Text(account.dataset_id);
  writer.Text(EncodePayload(OpenedAccount{0, account.account}));
  return Sha256(std::move(writer).Take());
}

absl::StatusOr<std::set<std::string>> DatasetsOf(Transaction& transaction, const std::string& lineage_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT id FROM datasets WHERE lineage_id = $1", {lineage_id}));
  std::set<std::string> ids;
  for (const Row& row : rows) ids.insert(row.Text(0));
  return ids;
}

absl::StatusOr<std::vector<Account>> AccountOf(Transaction& transaction, const std::string& lineage_id,
                                               const AccountSpec& spec) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT id FROM accounts WHERE lineage_id = $1 AND scope_type = $2 AND "
                          "scope_key = $3",
                          {lineage_id, std::string(ScopeName(spec.scope_type)), spec.scope_key}));
  std::vector<int64_t> ids;
  for (const Row& row : rows) ids.push_back(row.Integer(0));
  return ReadAccountsById(transaction, ids);
}

// The chains of the whole lineage are locked, so that no charge is admitted meanwhile.
absl::Status OpenLater(WriteSet& change, int64_t id, const NewAccount& account, const Dataset& dataset) {
  Transaction& transaction = change.transaction();
  if (dataset.is_public) {
    return absl::FailedPreconditionError(
        absl::StrCat("dataset ", dataset.name, " is public: it has no accounts"));
  }
  ASSIGN_OR_RETURN(const std::vector<Account> same,
                   AccountOf(transaction, dataset.lineage_id, account.account));
  if (!same.empty()) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is already an account ",
                     AccountName(dataset.name, account.account.scope_type, account.account.scope_key)));
  }
  // A lineage has the id of its first dataset.
  const std::string& first = dataset.lineage_id;
  ASSIGN_OR_RETURN(const OpenedAccount opened,
                   OpenAccount(change, id, account.account, first, dataset.lineage_id));
  change.Append({.dataset_id = first,
                 .kind = kAccountOpened,
                 .payload = EncodePayload(opened),
                 .actor = account.actor.name()});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedAccount> OpenAccount(WriteSet& change, int64_t id, const AccountSpec& spec,
                                          const std::string& dataset_id, const std::string& lineage_id) {
  Transaction& transaction = change.transaction();
  RETURN_IF_ERROR(
      transaction
          .Execute(absl::StrCat("INSERT INTO accounts (id, lineage_id, dataset_id, scope_type, scope_key, "
                                "rule, rule_name) ",
                                std::string(change.dialect().overriding_identity),
                                "VALUES ($1, $2, $3, $4, $5, $6, $7)"),
                   {id, lineage_id, dataset_id, std::string(ScopeName(spec.scope_type)), spec.scope_key,
                    Bytes{spec.rule}, spec.rule_name})
          .status());
  std::vector<Parameters> counters;
  for (const CounterLimit& limit : spec.limits) {
    counters.push_back({id, limit.counter, static_cast<int64_t>(counters.size()), limit.limit});
  }
  RETURN_IF_ERROR(
      transaction
          .ExecuteEach("INSERT INTO account_counters (account_id, counter, position, limit_value) "
                       "VALUES ($1, $2, $3, $4)",
                       counters)
          .status());
  std::vector<Parameters> members;
  for (const std::string& member : spec.members) members.push_back({id, member});
  RETURN_IF_ERROR(
      transaction.ExecuteEach("INSERT INTO account_members (account_id, member) VALUES ($1, $2)", members)
          .status());
  return OpenedAccount{id, spec};
}

namespace {

absl::Status CheckPostsTo(const std::vector<int64_t>& required, const ChargeRequest& request) {
  for (const int64_t id : required) {
    const bool is_posted = std::ranges::any_of(
        request.postings, [id](const Posting& posting) { return posting.account_id == id; });
    if (is_posted) continue;
    return absl::AbortedError(absl::StrCat("an account that applies to ", request.principal.name(),
                                           " was opened after this request was priced: ask again"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPostsToAllAccounts(WriteSet& change, const LockedDataset& dataset,
                                     const ChargeRequest& request) {
  if (!dataset.has_analyst_accounts) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::shared_ptr<const RequiredAccounts> required,
                   change.RequiredAccountsOf(dataset.id));
  const std::string& principal = request.principal.name();
  if (required->are_too_many) {
    if (change.is_optimistic()) return absl::AbortedError("the accounts are not cached");
    ASSIGN_OR_RETURN(const std::vector<int64_t> read,
                     ReadRequiredAccountsOf(change.transaction(), dataset.lineage_id, principal));
    return CheckPostsTo(read, request);
  }
  RETURN_IF_ERROR(CheckPostsTo(required->of_all, request));
  const auto own = required->of_principal.find(principal);
  return own == required->of_principal.end() ? absl::OkStatus() : CheckPostsTo(own->second, request);
}

absl::StatusOr<Account> SqlLedger::CreateAccount(const NewAccount& account) {
  RETURN_IF_ERROR(CheckNewAccount(account));
  RETURN_IF_ERROR(CheckNoDatasetIsLost());
  const RequestKey key{account.actor.name(), account.request_id, FingerprintOf(account)};
  std::vector<Account> opened;
  RETURN_IF_ERROR(Write(account.dataset_id, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    ASSIGN_OR_RETURN(const Dataset dataset, ReadDataset(transaction, account.dataset_id));
    ASSIGN_OR_RETURN(const std::set<std::string> lineage, DatasetsOf(transaction, dataset.lineage_id));
    RETURN_IF_ERROR(change.LockChains(lineage));
    RETURN_IF_ERROR(change.FindDataset(dataset.id).status());
    ASSIGN_OR_RETURN(const std::string known, FindByRequest(transaction, key));
    if (known.empty()) {
      RETURN_IF_ERROR(OpenLater(change, DrawAccountId(), account, dataset));
      RETURN_IF_ERROR(RecordRequest(transaction, key, dataset.id));
    }
    ASSIGN_OR_RETURN(opened, AccountOf(transaction, dataset.lineage_id, account.account));
    return absl::OkStatus();
  }));
  if (opened.empty()) return absl::InternalError("the opened account cannot be read back");
  return std::move(opened.front());
}

}  // namespace curator::ledger::sql
