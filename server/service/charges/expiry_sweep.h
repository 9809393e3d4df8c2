// Expires overdue reservations from time to time, also those that no call concerns any more.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "ledger/ledger.h"

namespace curator::service {

// Runs on a thread of its own, from its construction until it is destroyed, which waits for a step that runs.
// Thread-safe.
class ExpirySweep {
 public:
  // `ledger` must outlive it. Waits `interval` after each call of ExpireReservations(). Logs when calls begin
  // to fail.
  ExpirySweep(ledger::Ledger& ledger, absl::Duration interval);
  ExpirySweep(const ExpirySweep&) = delete;
  ExpirySweep& operator=(const ExpirySweep&) = delete;

 private:
  void Run(const std::stop_token& stop, absl::Duration interval);

  ledger::Ledger& ledger_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // stopped and joined before the members above are destroyed
};

}  // namespace curator::service
