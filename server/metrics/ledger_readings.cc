#include "metrics/ledger_readings.h"

#include <utility>

#include "absl/cleanup/cleanup.h"

namespace curator::metrics {
namespace {

using ledger::Balances;
using ledger::CounterBalance;
using ledger::MeasuredAccount;
using ledger::ScopeType;

std::string KindOf(ScopeType scope) {
  switch (scope) {
    case ScopeType::kDataset:
      return "dataset";
    case ScopeType::kPart:
      return "part";
    case ScopeType::kAnalyst:
      return "analyst";
    case ScopeType::kAnalystGroup:
      return "group";
  }
  return "other";
}

Labels LabelsOf(const MeasuredAccount& each, const CounterBalance& balance) {
  const bool is_dataset = each.account.scope_type == ScopeType::kDataset;
  return {{"dataset", each.dataset},
          {"account_kind", KindOf(each.account.scope_type)},
          {"account", is_dataset ? each.dataset : each.account.scope_key},
          {"counter", balance.counter}};
}

std::optional<double> Ratio(const CounterBalance& balance) {
  if (balance.limit <= 0) return std::nullopt;
  return static_cast<double>(balance.limit - balance.spent - balance.held) /
         static_cast<double>(balance.limit);
}

}  // namespace

LedgerReadings::Snapshot LedgerReadings::Read() {
  std::unique_lock lock(mutex_);
  first_read_.wait(lock, [this] { return !is_reading_ || balances_ != nullptr; });
  const bool is_young =
      balances_ != nullptr && std::chrono::steady_clock::now() - read_at_ < options_.most_age;
  if (is_reading_ || is_young) return balances_;
  is_reading_ = true;
  const Snapshot before = balances_;
  lock.unlock();
  const absl::Cleanup end = [this] {
    const std::scoped_lock relock(mutex_);
    is_reading_ = false;
    first_read_.notify_all();
  };
  Snapshot read = ReadStore(before);
  lock.lock();
  balances_ = read;
  read_at_ = std::chrono::steady_clock::now();
  lock.unlock();
  return read;
}

LedgerReadings::Snapshot LedgerReadings::ReadStore(const Snapshot& before) {
  absl::StatusOr<Balances> read = ledger_.ReadBalances({.with_analysts = options_.per_analyst});
  if (read.ok()) return std::make_shared<const Balances>(*std::move(read));
  ++failures_;
  // Old balances would look like present ones.
  Balances datasets;
  if (before != nullptr) datasets = {.datasets = before->datasets, .accounts = {}, .is_cut = before->is_cut};
  return std::make_shared<const Balances>(std::move(datasets));
}

void LedgerReadings::NameDatasets() {
  const std::vector<std::string> ids = work_.UnnamedDatasets();
  if (ids.empty()) return;
  const absl::StatusOr<std::vector<std::string>> names = ledger_.DatasetNames(ids);
  for (size_t i = 0; names.ok() && i < names->size(); ++i) work_.Name(ids[i], (*names)[i]);
  if (!absl::IsNotFound(names.status())) return;
  // One that the store has lost does not keep the others without a name.
  for (const std::string& id : ids) {
    const absl::StatusOr<std::vector<std::string>> name = ledger_.DatasetNames({id});
    if (name.ok()) work_.Name(id, name->front());
    if (!name.ok() && !absl::IsNotFound(name.status())) return;
  }
}

double LedgerReadings::Amount(const CounterBalance& balance, int64_t amount) const {
  return options_.amount(balance.counter, amount);
}

void LedgerReadings::AddAccounts(MetricSet& metrics, const std::string& name, const std::string& help,
                                 Value value) {
  metrics.Add({.name = name, .help = help, .read = [this, value = std::move(value)] {
                 std::vector<Reading> readings;
                 const Snapshot balances = Read();
                 for (const MeasuredAccount& each : balances->accounts) {
                   for (const CounterBalance& balance : each.account.counters) {
                     if (const std::optional<double> found = value(balance); found.has_value())
                       readings.push_back({*found, LabelsOf(each, balance)});
                   }
                 }
                 return readings;
               }});
}

void LedgerReadings::AddDatasets(MetricSet& metrics, const std::string& name, const std::string& help,
                                 std::function<double(const std::string&)> value) {
  metrics.Add({.name = name, .help = help, .read = [this, value = std::move(value)] {
                 std::vector<Reading> readings;
                 const Snapshot balances = Read();
                 for (const ledger::MeasuredDataset& each : balances->datasets)
                   readings.push_back({value(each.id), {{"dataset", each.name}}});
                 return readings;
               }});
}

void LedgerReadings::AddTo(MetricSet& metrics) {
  metrics.Add({.name = "curator_charges_total",
               .help = "Requests for charges and what became of charges since the start.",
               .kind = Kind::kCounter,
               .read = [this] {
                 NameDatasets();
                 return work_.Charges();
               }});
  AddAccounts(metrics, "curator_account_limit", "The limit of a counter of an account.",
              [this](const CounterBalance& each) { return Amount(each, each.limit); });
  AddAccounts(metrics, "curator_account_spent", "What was spent of a counter of an account.",
              [this](const CounterBalance& each) { return Amount(each, each.spent); });
  AddAccounts(metrics, "curator_account_held", "What is held of a counter of an account.",
              [this](const CounterBalance& each) { return Amount(each, each.held); });
  AddAccounts(metrics, "curator_account_remaining_ratio",
              "The share of a counter's limit that is neither spent nor held.", Ratio);
  AddDatasets(metrics, "curator_ledger_sound", "Whether no damage is known of the dataset's history.",
              [this](const std::string& id) { return ledger_.DatasetHealth(id).ok() ? 1 : 0; });
  AddDatasets(metrics, "curator_anchor_behind_entries",
              "Entries of the dataset's history that the anchor does not cover yet.",
              [this](const std::string& id) {
                return static_cast<double>(ledger_.StateOfHistory(id).unanchored_entries);
              });
  AddDatasets(metrics, "curator_ledger_verified_timestamp_seconds",
              "When the dataset's history was last verified; 0 when it was not since the start.",
              [this](const std::string& id) {
                return static_cast<double>(ledger_.StateOfHistory(id).verified_at_us) / 1e6;
              });
  metrics.Add({.name = "curator_ledger_waiting",
               .help = "Changes of charges that wait for a transaction or are in one.",
               .read = [this] {
                 return std::vector<Reading>{{.value = static_cast<double>(ledger_.ChangesInProgress()),
                                              .labels = {{"backend", options_.backend}}}};
               }});
  metrics.Add("curator_metrics_cut", "Whether there are more datasets or accounts than are shown.",
              Kind::kGauge, [this] { return Read()->is_cut ? 1 : 0; });
  metrics.Add("curator_metrics_read_errors_total", "Reads of balances that failed.", Kind::kCounter,
              [this] { return static_cast<double>(failures_); });
}

}  // namespace curator::metrics
