#include "bench/bare_combining.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ledger/sql/charge_combiner.h"

namespace curator::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kCost = 1000;

absl::Status ChargeTogether(ledger::sql::Database& database, size_t charges) {
  using ledger::sql::ColumnType;
  static const std::vector<ledger::sql::Column> kColumns = {
      {"account_id", ColumnType::kInteger}, {"principal", ColumnType::kText}, {"cost", ColumnType::kInteger}};
  const auto sum = static_cast<int64_t>(charges) * kCost;
  const auto body = [&](ledger::sql::Transaction& transaction) {
    return transaction.ExecuteLast(
        {ledger::sql::Statement{
             "UPDATE plain_accounts SET spent = spent + $1 WHERE id = 1 AND $1 <= limit_value - spent",
             {{sum}}},
         ledger::sql::Insertion{
             "plain_charges", &kColumns,
             std::vector<ledger::sql::Parameters>(
                 charges, ledger::sql::RowOf(int64_t{1}, std::string("analyst/ana"), kCost))}});
  };
  return database.Write(body).status;
}

std::vector<double> ChargeUntil(Clock::time_point deadline, ledger::sql::ChargeCombiner& combiner,
                                int client) {
  // The combiner takes no two charges of one key at once; each client waits for its own.
  const ledger::ChargeRequest request = {.principal = "analyst/ana", .request_id = absl::StrCat(client)};
  std::vector<double> latencies_us;
  for (Clock::time_point before = Clock::now(); before < deadline;) {
    const auto charged = combiner.Charge({.request = &request, .identity = {}, .encoded = {}});
    if (!charged.ok()) {
      std::fprintf(stderr, "%s\n", charged.status().ToString().c_str());
      std::exit(1);
    }
    const Clock::time_point after = Clock::now();
    latencies_us.push_back(std::chrono::duration<double, std::micro>(after - before).count());
    before = after;
  }
  return latencies_us;
}

}  // namespace

Observed ChargeBarelyCombined(ledger::sql::Database& database, const Load& load) {
  using ledger::sql::ChargeCombiner;
  const auto decide = [&database](std::vector<ledger::sql::WantedCharge>& batch) {
    const absl::Status charged = ChargeTogether(database, batch.size());
    ChargeCombiner::Decided decided{ChargeCombiner::Results(batch.size(), ledger::Attempt()), 0};
    if (!charged.ok()) decided.point = charged;
    return decided;
  };
  ChargeCombiner combiner({}, decide, [](int64_t) { return absl::OkStatus(); });
  const Clock::time_point start = Clock::now();
  const auto deadline = start + std::chrono::microseconds(static_cast<int64_t>(load.seconds * 1e6));
  std::vector<std::vector<double>> of_clients(static_cast<size_t>(load.clients));
  std::vector<std::thread> threads;
  for (int client = 0; client < load.clients; ++client) {
    threads.emplace_back([&combiner, &of_clients, deadline, client] {
      of_clients[static_cast<size_t>(client)] = ChargeUntil(deadline, combiner, client);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<double> all;
  for (const std::vector<double>& some : of_clients) all.insert(all.end(), some.begin(), some.end());
  return Summarize(std::move(all), seconds);
}

}  // namespace curator::bench
