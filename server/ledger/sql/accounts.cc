#include "ledger/sql/accounts.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "ledger/sql/dataset_requests.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

std::string FingerprintOf(const NewAccount& account) {
  CanonicalWriter writer("curator.ledger.create_account", 1);
  writer.Text(account.dataset_id);
  writer.Text(ledger::Bytes(OpenedAccount{0, account.account}));
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
  ASSIGN_OR_RETURN(std::vector<Account> accounts, ReadAccounts(transaction, lineage_id));
  std::erase_if(accounts, [&](const Account& account) {
    return account.scope_type != spec.scope_type || account.scope_key != spec.scope_key;
  });
  return accounts;
}

// With the chains of the whole lineage locked, so that no charge is being admitted meanwhile.
absl::Status OpenLater(Change& change, const NewAccount& account, const Dataset& dataset) {
  Transaction& transaction = change.transaction();
  if (dataset.is_public) {
    return absl::FailedPreconditionError(
        absl::StrCat("dataset ", dataset.name, " is public: it has no accounts"));
  }
  ASSIGN_OR_RETURN(const std::vector<Account> same,
                   AccountOf(transaction, dataset.lineage_id, account.account));
  if (!same.empty()) {
    return absl::AlreadyExistsError(absl::StrCat(
        "there is an account ",
        AccountName(dataset.name, account.account.scope_type, account.account.scope_key), " already"));
  }
  // A lineage bears the id of its first dataset.
  const std::string& first = dataset.lineage_id;
  ASSIGN_OR_RETURN(const OpenedAccount opened,
                   OpenAccount(transaction, account.account, first, dataset.lineage_id));
  change.Append({.dataset_id = first,
                 .kind = kAccountOpened,
                 .charge_id = {},
                 .payload = ledger::Bytes(opened),
                 .actor = account.actor,
                 .prev_hash = {},
                 .hash = {}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedAccount> OpenAccount(Transaction& transaction, const AccountSpec& spec,
                                          const std::string& dataset_id, const std::string& lineage_id) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("INSERT INTO accounts (lineage_id, dataset_id, scope_type, scope_key, rule, "
                          "rule_name) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
                          {lineage_id, dataset_id, std::string(ScopeName(spec.scope_type)), spec.scope_key,
                           Bytes{spec.rule}, spec.rule_name}));
  const int64_t id = rows.at(0).Integer(0);
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

absl::Status CheckPostsToAllConcerned(Transaction& transaction, const std::string& lineage_id,
                                      const ChargeRequest& request) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> concerned,
      transaction.Execute("SELECT a.id FROM accounts a WHERE a.lineage_id = $1 AND (a.scope_type = 'DATASET' "
                          "OR (a.scope_type = 'ANALYST' AND a.scope_key = $2) "
                          "OR (a.scope_type = 'ANALYST_GROUP' AND EXISTS (SELECT 1 FROM account_members m "
                          "WHERE m.account_id = a.id AND m.member = $2)))",
                          {lineage_id, request.principal}));
  for (const Row& row : concerned) {
    const int64_t id = row.Integer(0);
    const bool is_posted = std::any_of(request.postings.begin(), request.postings.end(),
                                       [id](const Posting& posting) { return posting.account_id == id; });
    if (!is_posted) {
      return absl::AbortedError(absl::StrCat("an account that concerns ", request.principal,
                                             " was opened after this request was priced: ask again"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Account> SqlLedger::CreateAccount(const NewAccount& account) {
  RETURN_IF_ERROR(CheckNewAccount(account));
  const RequestKey key{account.actor, account.request_id, FingerprintOf(account)};
  std::vector<Account> opened;
  RETURN_IF_ERROR(Write([&](Change& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    ASSIGN_OR_RETURN(const Dataset dataset, ReadDataset(transaction, account.dataset_id));
    ASSIGN_OR_RETURN(const std::set<std::string> lineage, DatasetsOf(transaction, dataset.lineage_id));
    RETURN_IF_ERROR(change.LockChains(lineage));
    ASSIGN_OR_RETURN(const std::string known, FindByRequest(transaction, key));
    if (known.empty()) {
      RETURN_IF_ERROR(OpenLater(change, account, dataset));
      RETURN_IF_ERROR(RecordRequest(transaction, key, dataset.id));
    }
    ASSIGN_OR_RETURN(opened, AccountOf(transaction, dataset.lineage_id, account.account));
    return absl::OkStatus();
  }));
  if (opened.empty()) return absl::InternalError("the account that was opened is not there");
  return std::move(opened.front());
}

absl::StatusOr<std::vector<Account>> SqlLedger::ListAccounts(std::string_view dataset_id) {
  std::vector<Account> accounts;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const Dataset dataset, ReadDataset(transaction, dataset_id));
    ASSIGN_OR_RETURN(accounts, ReadAccounts(transaction, dataset.lineage_id));
    return absl::OkStatus();
  }));
  return accounts;
}

}  // namespace curator::ledger::sql
