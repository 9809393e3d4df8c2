#include "metrics/ledger_readings.h"

#include <utility>

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

double Ratio(const CounterBalance& balance) {
  if (balance.limit <= 0) return 0;
  return static_cast<double>(balance.limit - balance.spent - balance.held) /
         static_cast<double>(balance.limit);
}

}  // namespace

std::shared_ptr<const Balances> LedgerReadings::Read() {
  const std::scoped_lock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (balances_ != nullptr && now - read_at_ < options_.most_age) return balances_;
  absl::StatusOr<Balances> read = ledger_.ReadBalances({.with_analysts = options_.per_analyst});
  failures_ += read.ok() ? 0 : 1;
  // Old balances would look like present ones.
  balances_ = std::make_shared<const Balances>(read.ok() ? *std::move(read) : Balances());
  read_at_ = now;
  return balances_;
}

std::vector<Reading> LedgerReadings::Charges() {
  const std::vector<std::string> ids = work_.UnnamedDatasets();
  if (!ids.empty()) {
    const absl::StatusOr<std::vector<std::string>> names = ledger_.DatasetNames(ids);
    for (size_t i = 0; names.ok() && i < names->size(); ++i) work_.Name(ids[i], (*names)[i]);
  }
  return work_.Charges();
}

double LedgerReadings::Amount(const CounterBalance& balance, int64_t amount) const {
  return options_.amount(balance.counter, amount);
}

void LedgerReadings::AddAccounts(MetricSet& metrics, const std::string& name, const std::string& help,
                                 Value value) {
  metrics.Add({.name = name, .help = help, .read = [this, value = std::move(value)] {
                 std::vector<Reading> readings;
                 const std::shared_ptr<const Balances> balances = Read();
                 for (const MeasuredAccount& each : balances->accounts) {
                   for (const CounterBalance& balance : each.account.counters)
                     readings.push_back({value(balance), LabelsOf(each, balance)});
                 }
                 return readings;
               }});
}

void LedgerReadings::AddDatasets(MetricSet& metrics, const std::string& name, const std::string& help,
                                 std::function<double(const std::string&)> value) {
  metrics.Add({.name = name, .help = help, .read = [this, value = std::move(value)] {
                 std::vector<Reading> readings;
                 const std::shared_ptr<const Balances> balances = Read();
                 for (const ledger::MeasuredDataset& each : balances->datasets)
                   readings.push_back({value(each.id), {{"dataset", each.name}}});
                 return readings;
               }});
}

void LedgerReadings::AddTo(MetricSet& metrics) {
  metrics.Add({.name = "curator_charges_total",
               .help = "Requests for charges and what became of charges since the start.",
               .kind = Kind::kCounter,
               .read = [this] { return Charges(); }});
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
  metrics.Add("curator_metrics_datasets_cut", "Whether there are more datasets or accounts than are shown.",
              Kind::kGauge, [this] { return Read()->is_cut ? 1 : 0; });
  metrics.Add("curator_metrics_read_errors_total", "Reads of balances that failed.", Kind::kCounter, [this] {
    const std::scoped_lock lock(mutex_);
    return static_cast<double>(failures_);
  });
}

}  // namespace curator::metrics
