// The balances of many datasets at once, for measurements.
#include <iterator>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

constexpr char kDatasets[] = "SELECT id, name FROM datasets WHERE state <> 'ARCHIVED' ORDER BY name LIMIT $1";
constexpr char kAccounts[] =
    "SELECT d.name, a.id, a.scope_type, a.scope_key, c.counter, c.limit_value, c.spent, c.held FROM datasets "
    "d "
    "JOIN accounts a ON a.lineage_id = d.lineage_id JOIN account_counters c ON c.account_id = a.id "
    "WHERE d.state <> 'ARCHIVED' AND d.name <= $1 AND "
    "(a.scope_type IN ('DATASET', 'PART') OR CAST($2 AS BIGINT) = 1) "
    "ORDER BY d.name, a.scope_type, a.scope_key, c.position LIMIT $3";
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

}  // namespace

absl::StatusOr<Balances> SqlLedger::ReadBalances(const BalanceQuery& query) {
  if (query.most_datasets < 1) return InvalidField("most_datasets", "must be at least 1");
  if (query.most_accounts < 1) return InvalidField("most_accounts", "must be at least 1");
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
    if (balances.datasets.empty()) return absl::OkStatus();
    const std::string& last = balances.datasets.back().name;
    const int64_t most_rows = (query.most_accounts + 1) * kMostCounters;
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute(kAccounts, {last, int64_t{query.with_analysts ? 1 : 0}, most_rows}));
    ASSIGN_OR_RETURN(balances.accounts, AccountsIn(rows));
    const bool are_too_many = std::ssize(balances.accounts) > query.most_accounts;
    if (are_too_many) balances.accounts.resize(static_cast<size_t>(query.most_accounts));
    balances.is_cut = balances.is_cut || are_too_many || std::ssize(rows) == most_rows;
    return absl::OkStatus();
  }));
  return balances;
}

}  // namespace curator::ledger::sql
