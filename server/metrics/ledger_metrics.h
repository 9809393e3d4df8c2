// The metrics of a ledger's work: how long its transactions took, how charges ended.
//
// Thread-safe.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "ledger/observer.h"
#include "metrics/metric_set.h"

namespace curator::metrics {

class LedgerMetrics final : public ledger::Observer {
 public:
  // Its families belong to `metrics`, which must outlive it. `backend`: "sqlite" or "postgresql".
  LedgerMetrics(MetricSet& metrics, const std::string& backend);

  void OnCommit(std::chrono::nanoseconds took, size_t charges, const absl::Status& outcome) override;
  void OnAnchored(std::chrono::nanoseconds took, const absl::Status& outcome) override;
  void OnCharge(std::string_view dataset_id, std::string_view kind, ledger::ChargeOutcome outcome) override;

  // The ids of the datasets of charges that Name() has not named yet.
  std::vector<std::string> UnnamedDatasets();
  void Name(const std::string& dataset_id, const std::string& name);
  // curator_charges_total. None of datasets that have no name yet: a count that moved to another series later
  // would fall. Those of datasets beyond a number of them are of "other".
  std::vector<Reading> Charges();

 private:
  using ChargeKey = std::tuple<std::string, std::string, ledger::ChargeOutcome>;  // dataset, kind
  void NoteOutcome(const absl::Status& outcome);

  prometheus::Histogram& commits_;
  prometheus::Histogram& batches_;
  prometheus::Histogram& anchored_;
  prometheus::Counter& errors_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> names_ ABSL_GUARDED_BY(mutex_);  // of datasets with charges
  std::map<ChargeKey, int64_t> charges_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::metrics
