// How often a pacer has checked for a stop, and a stop at one of these checks, for tests.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dp/synthesis/pacer.h"

namespace curator::dp {

struct PacerProbe {
  static int64_t Checks(const Pacer& pacer) { return pacer.checks_; }

  // A stop is requested just before the n-th check, n = 1, 2, ...
  static void StopAt(Pacer& pacer, int64_t n) { pacer.stopping_check_ = n; }

  // The most steps between two checks, or since the last one: below 2^20 when calls kept to kMostSteps.
  static int64_t LongestStride(const Pacer& pacer) {
    return std::max(pacer.longest_stride_, pacer.since_check_);
  }
};

}  // namespace curator::dp
