// What principals use of something in each period of a fixed length: an hour, a minute.
//
// A period begins when a whole number of them has passed since 1970, for all principals at once: so at most
// twice as much is used in a time of its length, and nothing is kept from one period to the next.
//
// Counts what this process saw. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace curator::service {

class PeriodUse {
 public:
  using Clock = std::function<absl::Time()>;

  // `length` is a whole number of seconds, at least 1. `clock` must be thread-safe.
  explicit PeriodUse(absl::Duration length, Clock clock = absl::Now);

  // Adds `amount` >= 0 unless the principal would then have used more than `most` in this period: whether it
  // was added.
  bool Add(const std::string& principal, int64_t amount, int64_t most);

  int64_t UsedBy(const std::string& principal) const;
  // Until the next period.
  absl::Duration Left() const;
  absl::Duration length() const { return absl::Seconds(seconds_); }

 private:
  int64_t PeriodNow() const;

  const int64_t seconds_;
  const Clock clock_;
  mutable absl::Mutex mutex_;
  int64_t period_ ABSL_GUARDED_BY(mutex_) = 0;  // of which `used_` is
  std::map<std::string, int64_t> used_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::service
