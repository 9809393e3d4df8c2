#include "bench/ledger_load.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "bench/must.h"
#include "client/request_id.h"
#include "host/entropy.h"

namespace curator::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Observed Summarize(std::vector<double> latencies_us, double seconds) {
  if (latencies_us.empty()) return {};
  std::sort(latencies_us.begin(), latencies_us.end());
  const size_t count = latencies_us.size();
  return {.per_second = static_cast<double>(count) / seconds,
          .median_us = latencies_us[count / 2],
          .p99_us = latencies_us[count * 99 / 100],
          .p999_us = latencies_us[count * 999 / 1000],
          .charges = static_cast<int64_t>(count)};
}

Observed ChargeByClients(const Load& load, const std::function<void(int client)>& charge) {
  const Clock::time_point start = Clock::now();
  const auto deadline = start + std::chrono::microseconds(static_cast<int64_t>(load.seconds * 1e6));
  std::vector<std::vector<double>> of_clients(static_cast<size_t>(load.clients));
  std::vector<std::thread> threads;
  for (int client = 0; client < load.clients; ++client) {
    threads.emplace_back(
        [&latencies_us = of_clients[static_cast<size_t>(client)], &charge, deadline, client] {
          for (Clock::time_point before = Clock::now(); before < deadline;) {
            charge(client);
            const Clock::time_point after = Clock::now();
            latencies_us.push_back(std::chrono::duration<double, std::micro>(after - before).count());
            before = after;
          }
        });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<double> all;
  for (const std::vector<double>& some : of_clients) all.insert(all.end(), some.begin(), some.end());
  return Summarize(std::move(all), seconds);
}

HotDataset::HotDataset(ledger::Ledger& ledger) : ledger_(ledger) {
  const std::string name = absl::StrCat("hot-", absl::BytesToHexString(host::RandomBytes(4)));
  const ledger::Dataset created =
      Must(ledger.CreateDataset({.request_id = absl::StrCat("create ", name),
                                 .name = name,
                                 .owner = TestPrincipal("olga"),
                                 .schema = "schema bytes",
                                 .schema_hash = Sha256("schema bytes"),
                                 .neighbour_relation = "ADD_REMOVE",
                                 .privacy_unit = "RECORD",
                                 .partition_attribute = {},
                                 .successor_of = {},
                                 .accounts = {{.scope_type = ledger::ScopeType::kDataset,
                                               .scope_key = {},
                                               .rule = "rule bytes",
                                               .rule_name = "ZCDP",
                                               .limits = {{"rho", std::numeric_limits<int64_t>::max()}}}}}));
  dataset_ = Must(ledger.SealDataset(created.id, host::RandomBytes(32), TestPrincipal("olga")));
  account_id_ = Must(ledger.ListAccounts(dataset_.id)).at(0).id;
}

ledger::ChargeRequest HotDataset::Request(const std::string& request_id) const {
  // As large as those of a real workload's charge.
  static const std::string event(120, 'e');
  static const std::string key(60, 'k');
  static const std::string fingerprint(32, 'f');
  return {.dataset_id = dataset_.id,
          .dataset_version = dataset_.version,
          .principal = TestPrincipal("ana"),
          .request_id = request_id,
          .fingerprint = fingerprint,
          .kind = "workload",
          .event = event,
          .label = "all 2-way marginals, discrete Gaussian",
          .sealed_key = key,
          .postings = {{account_id_, "rho", 1000}}};
}

void HotDataset::ChargeOnce() const {
  const ledger::ChargeRequest request = Request(Must(client::NewRequestId()));
  Must(ledger_.Begin(request));
}

Observed HotDataset::Charge(const Load& load) {
  const Observed seen = ChargeByClients(load, [this](int) { ChargeOnce(); });
  charges_ += seen.charges;
  return seen;
}

void HotDataset::FillTo(int64_t charges) {
  constexpr int64_t kClients = 128;
  const int64_t missing = charges - charges_;
  if (missing <= 0) return;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < kClients; ++i) {
    const int64_t share = missing / kClients + (i < missing % kClients ? 1 : 0);
    threads.emplace_back([this, share] {
      for (int64_t charge = 0; charge < share; ++charge) ChargeOnce();
    });
  }
  for (std::thread& thread : threads) thread.join();
  charges_ = charges;
}

}  // namespace curator::bench
