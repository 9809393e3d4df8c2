#include "bench/ledger_load.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/request_id.h"
#include "host/entropy.h"

namespace curator::bench {
namespace {

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  host::FillWithEntropy({reinterpret_cast<uint8_t*>(bytes.data()), size});
  return bytes;
}

template <typename Value>
Value Must(absl::StatusOr<Value> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

}  // namespace

Observed Summarize(std::vector<double> latencies_us, double seconds) {
  if (latencies_us.empty()) return {};
  std::sort(latencies_us.begin(), latencies_us.end());
  const size_t count = latencies_us.size();
  return {.per_second = static_cast<double>(count) / seconds,
          .median_us = latencies_us[count / 2],
          .p99_us = latencies_us[count * 99 / 100],
          .charges = static_cast<int64_t>(count)};
}

HotDataset::HotDataset(ledger::Ledger& ledger) : ledger_(ledger) {
  const std::string name = absl::StrCat("hot-", absl::BytesToHexString(RandomBytes(4)));
  const ledger::Dataset created =
      Must(ledger.CreateDataset({.request_id = absl::StrCat("create ", name),
                                 .name = name,
                                 .owner = "olga",
                                 .schema = "schema bytes",
                                 .schema_hash = "schema hash",
                                 .neighbour_relation = "ADD_REMOVE",
                                 .privacy_unit = "RECORD",
                                 .partition_attribute = {},
                                 .successor_of = {},
                                 .accounts = {{.scope_type = ledger::ScopeType::kDataset,
                                               .scope_key = {},
                                               .rule = "rule bytes",
                                               .rule_name = "ZCDP",
                                               .limits = {{"rho", std::numeric_limits<int64_t>::max()}}}}}));
  dataset_ = Must(ledger.SealDataset(created.id, RandomBytes(32), "olga"));
  account_id_ = Must(ledger.ListAccounts(dataset_.id)).at(0).id;
}

ledger::ChargeRequest HotDataset::Request(const std::string& request_id) const {
  // As large as those of a real workload's charge.
  static const std::string event(120, 'e');
  static const std::string key(60, 'k');
  static const std::string fingerprint(32, 'f');
  return {.dataset_id = dataset_.id,
          .dataset_version = dataset_.version,
          .principal = "analyst/ana",
          .request_id = request_id,
          .fingerprint = fingerprint,
          .kind = "workload",
          .event = event,
          .label = "all 2-way marginals, discrete Gaussian",
          .sealed_key = key,
          .postings = {{account_id_, "rho", 1000}}};
}

std::vector<double> HotDataset::ChargeUntil(int64_t deadline_ns, int64_t most) {
  std::vector<double> latencies_us;
  int64_t start = NowNs();
  while (start < deadline_ns && static_cast<int64_t>(latencies_us.size()) < most) {
    const ledger::ChargeRequest request = Request(Must(client::NewRequestId()));
    Must(ledger_.Begin(request));
    const int64_t end = NowNs();
    latencies_us.push_back(static_cast<double>(end - start) / 1000);
    start = end;
  }
  return latencies_us;
}

Observed HotDataset::Charge(const Load& load) {
  const int64_t start = NowNs();
  const int64_t deadline = start + static_cast<int64_t>(load.seconds * 1e9);
  std::vector<std::vector<double>> of_clients(static_cast<size_t>(load.clients));
  std::vector<std::thread> threads;
  for (int i = 0; i < load.clients; ++i) {
    threads.emplace_back([this, &of_clients, deadline, i] {
      of_clients[static_cast<size_t>(i)] = ChargeUntil(deadline, std::numeric_limits<int64_t>::max());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = static_cast<double>(NowNs() - start) / 1e9;
  std::vector<double> all;
  for (const std::vector<double>& some : of_clients) all.insert(all.end(), some.begin(), some.end());
  charges_ += static_cast<int64_t>(all.size());
  return Summarize(std::move(all), seconds);
}

void HotDataset::FillTo(int64_t charges) {
  constexpr int64_t kClients = 128;
  const int64_t missing = charges - charges_;
  if (missing <= 0) return;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < kClients; ++i) {
    const int64_t share = missing / kClients + (i < missing % kClients ? 1 : 0);
    threads.emplace_back([this, share, i] { ChargeUntil(std::numeric_limits<int64_t>::max(), share); });
  }
  for (std::thread& thread : threads) thread.join();
  charges_ = charges;
}

}  // namespace curator::bench
