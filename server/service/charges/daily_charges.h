// A bound on the new charges of one principal and day: a history never shrinks, so what one principal adds to
// those of all datasets in a day is limited. An extension of a reservation counts as one, too: it adds an
// entry each time. What was charged before is found and ended without limit.
//
// Counts what this process charged since midnight (UTC); a restart starts again from 0, and each of several
// servers counts by itself. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "ledger/ledger.h"

namespace curator::service {

class DailyCharges {
 public:
  using Clock = std::function<absl::Time()>;
  explicit DailyCharges(int64_t most, Clock clock = absl::Now) : most_(most), clock_(std::move(clock)) {}

  // OverQuota() until midnight when `charges` new ones of the principal would exceed the bound today.
  absl::Status CheckRoomFor(const Principal& principal, int64_t charges) const;
  // OK also without room, when (principal, request_id) was charged before.
  absl::Status CheckRoomForNew(ledger::Ledger& ledger, const Principal& principal,
                               std::string_view request_id) const;
  // Counts charges that were made.
  void Add(const Principal& principal, int64_t charges);

  int64_t most() const { return most_; }
  // Today, by the principal of this name.
  int64_t MadeBy(const std::string& name) const;

 private:
  int64_t CountOf(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t most_;
  const Clock clock_;
  mutable absl::Mutex mutex_;
  int64_t day_ ABSL_GUARDED_BY(mutex_) = 0;  // since 1970, of which `counts_` are
  std::map<std::string, int64_t> counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::service
