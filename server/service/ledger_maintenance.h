// What a ledger needs from time to time: overdue reservations expire, also those that no call concerns any
// more, stored counts of events are brought forward (Ledger::AdvanceCounts()), and what was used of quotas on
// days before yesterday is forgotten.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "ledger/ledger.h"

namespace curator::service {

// Runs on a thread of its own, from its construction until it is destroyed, which waits for a step that runs.
// Thread-safe.
class LedgerMaintenance {
 public:
  // `ledger` must outlive it. Waits `interval` after each round. Logs when calls begin to fail.
  LedgerMaintenance(ledger::Ledger& ledger, absl::Duration interval);
  LedgerMaintenance(const LedgerMaintenance&) = delete;
  LedgerMaintenance& operator=(const LedgerMaintenance&) = delete;

 private:
  void Run(const std::stop_token& stop, absl::Duration interval);
  // The status of the call that failed, or OK.
  absl::Status RunOnce(const std::stop_token& stop);
  // RESOURCE_EXHAUSTED when memory runs out.
  absl::Status RunGuarded(const std::stop_token& stop);

  ledger::Ledger& ledger_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // stopped and joined before the members above are destroyed
};

}  // namespace curator::service
