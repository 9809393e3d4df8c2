#include "bench/bare_combining.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ledger/sql/change_combiner.h"

namespace curator::bench {
namespace {

constexpr int64_t kCost = 1000;

// A charge that is nothing but two rows.
class BareCharge final : public ledger::sql::CombinedChange {
 public:
  explicit BareCharge(std::string id) : id_(std::move(id)) {}

  const std::string& dataset_id() const override { return dataset_; }
  size_t bytes() const override { return 0; }
  std::vector<ledger::sql::ChargeKey> keys() const override { return {{"analyst/ana", id_}}; }
  void AddNeeds(ledger::sql::Needs&) const override {}
  absl::Status Decide(ledger::sql::WriteSet&, const ledger::sql::FoundCharges&) override {
    return absl::OkStatus();
  }
  absl::Status DecideOptimistically(ledger::sql::WriteSet&) override { return absl::OkStatus(); }

 private:
  const std::string dataset_;
  const std::string id_;
};

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
  using ledger::sql::ChangeCombiner;
  const auto commit_batch = [&database](const std::vector<ledger::sql::CombinedChange*>& batch) {
    const absl::Status charged = ChargeTogether(database, batch.size());
    ChangeCombiner::BatchResult result{ChangeCombiner::Results(batch.size()), 0};
    if (!charged.ok()) result.anchor_point = charged;
    return result;
  };
  ChangeCombiner combiner({}, commit_batch, [](int64_t) { return absl::OkStatus(); });
  return ChargeByClients(load, [&combiner, transactions](int client) {
    // The combiner takes no two changes of one charge at once; each client waits for its own.
    BareCharge charge(absl::StrCat(client));
    for (int i = 0; i < transactions; ++i) CheckCharged(combiner.Make("", charge));
  });
}

}  // namespace curator::bench
