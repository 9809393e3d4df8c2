// The probability that some answer of a request errs by more than a bound, summed without shortcuts: the
// reference of ExceedsTail().
#pragma once

#include <algorithm>

#include "dp/workload/accuracy.h"

namespace curator::dp {

// At least the probability that some answer's error exceeds `max_error`: the sum of TailOf() over the answers
// (exact for sums of measured values, Chernoff's bound for least squares). At most 1.
inline double SimultaneousTail(const NoiseSpec& noise, const ErrorClasses& classes, double max_error) {
  double tail = 0;
  for (const ErrorClass& each : classes)
    tail += static_cast<double>(each.answers) * TailOf(noise, each.error, max_error);
  return std::min(1.0, tail);
}

}  // namespace curator::dp
