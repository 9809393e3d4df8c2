#include "bench/bare_combining.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "ledger/sql/charge_combiner.h"

namespace curator::bench {
namespace {

constexpr int64_t kCost = 1000;

absl::Status ChargeTogether(ledger::sql::Database& database, size_t charges) {
  using ledger::sql::ColumnType;
  static const std::vector<ledger::sql::Column> kColumns = {
      {"account_id", ColumnType::kInteger}, {"principal", ColumnType::kText}, {"cost", ColumnType::kInteger}};
  const auto sum = static_cast<int64_t>(charges) * kCost;
  const auto body = [&](ledger::sql::Transaction& transaction) {
    return transaction.ExecuteLast(
        {ledger::sql::Update{.table = "plain_accounts",
                             .set = "spent = spent + $1",
                             .where = "id = 1 AND $1 <= limit_value - spent",
                             .types = {ColumnType::kInteger},
                             .rows = {{sum}}},
         ledger::sql::Insertion{
             "plain_charges", &kColumns,
             std::vector<ledger::sql::Parameters>(
                 charges, ledger::sql::RowOf(int64_t{1}, std::string("analyst/ana"), kCost))}});
  };
  return database.Write(body).status;
}

void CheckCharged(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

}  // namespace

Observed ChargeBarelyCombined(ledger::sql::Database& database, const Load& load, int transactions) {
  using ledger::sql::ChargeCombiner;
  const auto commit_batch = [&database](std::vector<ledger::sql::ProposedCharge>& batch) {
    const absl::Status charged = ChargeTogether(database, batch.size());
    ChargeCombiner::BatchResult result{ChargeCombiner::Results(batch.size(), ledger::Attempt()), 0};
    if (!charged.ok()) result.anchor_point = charged;
    return result;
  };
  ChargeCombiner combiner({}, commit_batch, [](int64_t) { return absl::OkStatus(); });
  return ChargeByClients(load, [&combiner, transactions](int client) {
    // The combiner takes no two charges of one key at once; each client waits for its own.
    const ledger::ChargeRequest request = {.principal = TestPrincipal("analyst/ana"),
                                           .request_id = absl::StrCat(client)};
    for (int i = 0; i < transactions; ++i)
      CheckCharged(combiner.Charge("", {.request = &request, .identity = {}, .encoded = {}}).status());
  });
}

}  // namespace curator::bench
