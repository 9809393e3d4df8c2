#include "metrics/ledger_metrics.h"

#include <prometheus/family.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace curator::metrics {
namespace {

using ledger::ChargeOutcome;

constexpr size_t kMostDatasets = 1000;
const std::string kOther = "other";

const prometheus::Histogram::BucketBoundaries kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                          0.1,    0.25,  0.5,    1,     2.5,  10};
const prometheus::Histogram::BucketBoundaries kChanges = {1, 2, 4, 8, 16, 32, 64, 128, 256};

prometheus::Histogram& HistogramIn(MetricSet& metrics, const std::string& name, const std::string& help,
                                   const std::string& backend,
                                   const prometheus::Histogram::BucketBoundaries& bounds) {
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(metrics.registry())
      .Add({{"backend", backend}}, bounds);
}

double SecondsOf(std::chrono::nanoseconds took) {
  return std::chrono::duration<double>(took).count();
}

std::string WordOf(ChargeOutcome outcome) {
  switch (outcome) {
    case ChargeOutcome::kAdmission:
      return "admitted";
    case ChargeOutcome::kRefusal:
      return "refused";
    case ChargeOutcome::kReplay:
      return "replayed";
    case ChargeOutcome::kForfeit:
      return "forfeited";
    case ChargeOutcome::kExpiry:
      return "expired";
  }
  return kOther;
}

// The kind of a charge is a word of the server's.
std::string KindOf(std::string_view kind) {
  for (const std::string_view known : {"workload", "synthesis", "reservation"}) {
    if (kind == known) return std::string(kind);
  }
  return kOther;
}

// Of the store or of the program; any other error refuses a request.
bool IsFailure(const absl::Status& outcome) {
  switch (outcome.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
      return true;
    default:
      return false;
  }
}

}  // namespace

LedgerMetrics::LedgerMetrics(MetricSet& metrics, const std::string& backend)
    : commits_(HistogramIn(metrics, "curator_ledger_commit_seconds",
                           "Duration of transactions that change the ledger, with waits for locks.", backend,
                           kSeconds)),
      batches_(HistogramIn(metrics, "curator_ledger_batch_charges",
                           "Changes of charges that shared one transaction.", backend, kChanges)),
      anchored_(HistogramIn(metrics, "curator_anchor_append_seconds",
                            "Time that changes waited until the anchor covered them.", backend, kSeconds)),
      errors_(prometheus::BuildCounter()
                  .Name("curator_ledger_errors_total")
                  .Help("Transactions and waits for the anchor that failed.")
                  .Register(metrics.registry())
                  .Add({{"backend", backend}})) {}

void LedgerMetrics::NoteOutcome(const absl::Status& outcome) {
  if (IsFailure(outcome)) errors_.Increment();
}

void LedgerMetrics::OnCommit(std::chrono::nanoseconds took, size_t charges, const absl::Status& outcome) {
  commits_.Observe(SecondsOf(took));
  if (charges > 0) batches_.Observe(static_cast<double>(charges));
  NoteOutcome(outcome);
}

void LedgerMetrics::OnAnchored(std::chrono::nanoseconds took, const absl::Status& outcome) {
  anchored_.Observe(SecondsOf(took));
  NoteOutcome(outcome);
}

void LedgerMetrics::OnCharge(std::string_view dataset_id, std::string_view kind, ChargeOutcome outcome) {
  const std::scoped_lock lock(mutex_);
  const bool is_known = names_.find(dataset_id) != names_.end();
  const bool has_room = is_known || names_.size() < kMostDatasets;
  if (!is_known && has_room) names_.emplace(dataset_id, std::string());
  ++charges_[{has_room ? std::string(dataset_id) : std::string(), KindOf(kind), outcome}];
}

std::vector<std::string> LedgerMetrics::UnnamedDatasets() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, name] : names_) {
    if (name.empty()) ids.push_back(id);
  }
  return ids;
}

void LedgerMetrics::Name(const std::string& dataset_id, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = names_.find(dataset_id); found != names_.end()) found->second = name;
}

std::vector<Reading> LedgerMetrics::Charges() {
  const std::scoped_lock lock(mutex_);
  std::map<ChargeKey, int64_t> by_name;
  for (const auto& [key, count] : charges_) {
    const auto& [id, kind, outcome] = key;
    const auto known = names_.find(id);
    const std::string& name = id.empty() ? kOther : known->second;
    if (!name.empty()) by_name[{name, kind, outcome}] += count;
  }
  std::vector<Reading> readings;
  readings.reserve(by_name.size());
  for (const auto& [key, count] : by_name) {
    const auto& [dataset, kind, outcome] = key;
    readings.push_back({.value = static_cast<double>(count),
                        .labels = {{"dataset", dataset}, {"kind", kind}, {"outcome", WordOf(outcome)}}});
  }
  return readings;
}

}  // namespace curator::metrics
