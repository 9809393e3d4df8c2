// A clock that nobody sets: for how long something has been.
//
// Thread-safe: a pure function.
#pragma once

#include <ctime>

#include "absl/time/time.h"

namespace curator::gate {

// Since the host started, with the time that it slept. Says nothing about the time of day.
inline absl::Time SteadyNow() {
  timespec time = {};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return absl::TimeFromTimespec(time);
}

}  // namespace curator::gate
