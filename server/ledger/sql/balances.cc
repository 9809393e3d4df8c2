// The balances of many datasets at once, for measurements.
#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

constexpr char kDatasets[] =
    "SELECT id, name FROM datasets WHERE state <> 'ARCHIVED' AND name < '~' ORDER BY name LIMIT $1";
constexpr char kAccounts[] =
    "SELECT d.name, a.id, a.scope_type, a.scope_key, c.counter, c.limit_value, c.spent, c.held FROM datasets "
    "d "
    "JOIN accounts a ON a.lineage_id = d.lineage_id JOIN account_counters c ON c.account_id = a.id "
    "WHERE d.state <> 'ARCHIVED' AND d.name <= $1 ";
// The index on the scope finds these few among the accounts of a lineage's analysts.
constexpr char kOfDatasetsAndParts[] = "AND a.scope_type IN ('DATASET', 'PART') ";
constexpr char kInOrder[] = "ORDER BY d.name, a.scope_type, a.scope_key, c.position LIMIT $2";
// Of an account: a rule of ours has two at most.
constexpr int64_t kMostCounters = 2;

absl::StatusOr<std::vector<MeasuredAccount>> AccountsIn(const std::vector<Row>& rows) {
  std::vector<MeasuredAccount> accounts;
  for (const Row& row : rows) {
    const std::string dataset = row.Text(0);
    const bool is_new = accounts.empty() || accounts.back().account.id != row.Integer(1) ||
                        accounts.back().dataset != dataset;
    if (is_new) {
      ASSIGN_OR_RETURN(const ScopeType scope, ScopeFromName(row.Text(2)));
      MeasuredAccount& made = accounts.emplace_back();
      made.dataset = dataset;
      made.account.id = row.Integer(1);
      made.account.scope_type = scope;
      made.account.scope_key = row.Text(3);
    }
    accounts.back().account.counters.push_back(
        {.counter = row.Text(4), .limit = row.Integer(5), .spent = row.Integer(6), .held = row.Integer(7)});
  }
  return accounts;
}

// Those of `ids` that are stored and not listed yet.
absl::Status AddDatasets(Transaction& transaction, const std::vector<std::string>& ids, Balances& balances) {
  std::vector<Parameters> keys;
  for (const std::string& id : ids) {
    if (std::ranges::find(balances.datasets, id, &MeasuredDataset::id) == balances.datasets.end())
      keys.push_back({id});
  }
  if (keys.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Answers answers,
                   transaction.ExecuteEach("SELECT id, name FROM datasets WHERE id = $1", keys));
  for (const std::vector<Row>& rows : answers) {
    for (const Row& row : rows) balances.datasets.push_back({.id = row.Text(0), .name = row.Text(1)});
  }
  std::ranges::sort(balances.datasets, std::less<>(), &MeasuredDataset::name);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Balances> SqlLedger::ReadBalances(const BalanceQuery& query) {
  if (query.most_datasets < 1) return InvalidField("most_datasets", "must be at least 1");
  if (query.most_accounts < 1) return InvalidField("most_accounts", "must be at least 1");
  const std::vector<std::string> damaged = damage_.DatasetIds(static_cast<size_t>(query.most_datasets));
  Balances balances;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    balances = {};
    ASSIGN_OR_RETURN(const std::vector<Row> datasets,
                     transaction.Execute(kDatasets, {query.most_datasets + 1}));
    for (const Row& row : datasets) balances.datasets.push_back({.id = row.Text(0), .name = row.Text(1)});
    if (std::ssize(balances.datasets) > query.most_datasets) {
      balances.datasets.pop_back();
      balances.is_cut = true;
    }
    if (balances.datasets.empty()) return AddDatasets(transaction, damaged, balances);
    const std::string last = balances.datasets.back().name;
    const int64_t most_rows = (query.most_accounts + 1) * kMostCounters;
    const std::string statement =
        absl::StrCat(kAccounts, query.with_analysts ? "" : kOfDatasetsAndParts, kInOrder);
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute(statement, {last, most_rows}));
    ASSIGN_OR_RETURN(balances.accounts, AccountsIn(rows));
    const bool are_too_many = std::ssize(balances.accounts) > query.most_accounts;
    if (are_too_many) balances.accounts.resize(static_cast<size_t>(query.most_accounts));
    balances.is_cut = balances.is_cut || are_too_many || std::ssize(rows) == most_rows;
    return AddDatasets(transaction, damaged, balances);
  }));
  return balances;
}

}  // namespace curator::ledger::sql
