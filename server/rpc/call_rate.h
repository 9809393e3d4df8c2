// How often each principal calls: so many calls a second, and so many at one moment after a pause.
//
// It is the generic cell rate algorithm (ITU-T I.371, Annex A): for each principal one number is kept, the
// time at which its next call is due if calls came evenly; a call that comes earlier than the burst allows is
// refused.
//
// Thread-safe. Memory is kept for the principals that have called within the last burst.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace curator::rpc {

// Of one principal, the same at each of its calls.
struct CallsAllowed {
  int64_t per_second = 1;
  int64_t burst = 1;
};

class CallRate {
 public:
  using Steady = std::chrono::steady_clock;

  // `now` must be thread-safe.
  explicit CallRate(std::function<Steady::time_point()> now = Steady::now);

  // Counts a call, or refuses it uncounted with OverQuota() (base/errors.h), which says when one would be
  // due.
  absl::Status Count(const std::string& principal, const CallsAllowed& allowed);

  // How many calls less than `allowed.burst` the principal may make at this moment.
  int64_t Used(const std::string& principal, const CallsAllowed& allowed) const;

  size_t principals() const;

 private:
  void ForgetIdle(Steady::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<Steady::time_point()> now_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Steady::time_point> due_ ABSL_GUARDED_BY(mutex_);
  size_t most_kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::rpc
