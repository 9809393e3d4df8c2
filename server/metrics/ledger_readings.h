// What is read of a ledger for metrics: the balances of accounts, and the state of each history.
//
// Balances are read once a second at most, however often the metrics are asked for, and of a bounded number
// of datasets and accounts; so what this costs does not grow with the history.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "ledger/ledger.h"
#include "metrics/ledger_metrics.h"
#include "metrics/metric_set.h"

namespace curator::metrics {

class LedgerReadings {
 public:
  struct Options {
    std::string backend;
    bool per_analyst = false;  // also accounts of analysts and of groups, whose names are personal data
    // The amount of a counter as it is written for people, from the ledger's units.
    std::function<double(std::string_view counter, int64_t amount)> amount;
    std::chrono::milliseconds most_age = std::chrono::seconds(1);
  };

  // `ledger` and `work` must outlive it, and it the `metrics` to which AddTo() adds.
  LedgerReadings(ledger::Ledger& ledger, LedgerMetrics& work, Options options)
      : ledger_(ledger), work_(work), options_(std::move(options)) {}
  void AddTo(MetricSet& metrics);

 private:
  // None: the counter has no such series.
  using Value = std::function<std::optional<double>(const ledger::CounterBalance& balance)>;
  using Snapshot = std::shared_ptr<const ledger::Balances>;
  // As last read; read again where that is older than `most_age`, by one thread, while others get what was
  // read before. Where it cannot be read, the datasets as they were, whose state is known without the store,
  // and no accounts.
  Snapshot Read();
  Snapshot ReadStore(const Snapshot& before);
  void NameDatasets();
  double Amount(const ledger::CounterBalance& balance, int64_t amount) const;
  void AddAccounts(MetricSet& metrics, const std::string& name, const std::string& help, Value value);
  // One series for each dataset, by its id.
  void AddDatasets(MetricSet& metrics, const std::string& name, const std::string& help,
                   std::function<double(const std::string& id)> value);

  ledger::Ledger& ledger_;
  LedgerMetrics& work_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable first_read_;
  Snapshot balances_ ABSL_GUARDED_BY(mutex_);
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point read_at_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> failures_ = 0;
};

}  // namespace curator::metrics
