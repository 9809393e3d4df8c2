// The principals who have lately sent a request that was charged before. Their requests are looked up by key
// before they join a batch: a key that exists would fail the whole batch, and all who wait for it.
//
// A principal is remembered for a minute after each repetition, so repeating costs others at most one batch a
// minute, and those who do not repeat pay for no look-up. At most 10,000 are remembered.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "absl/base/thread_annotations.h"

namespace curator::ledger::sql {

class RepeatingPrincipals {
 public:
  using Clock = std::chrono::steady_clock;

  bool Contains(const std::string& principal, Clock::time_point now = Clock::now());
  void Add(const std::string& principal, Clock::time_point now = Clock::now());

 private:
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::ledger::sql
