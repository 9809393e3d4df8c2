// Even intervals of decimal numbers, by their bounds and their width, instead of by thousands of edges.
//
// Thread-safe: plain values and a pure function.
#pragma once

#include <vector>

#include "absl/status/statusor.h"

namespace curator::dp {

struct EvenSteps {
  double min = 0;
  double max = 0;
  double step = 1;
  bool operator==(const EvenSteps&) const = default;
};

inline constexpr int kMostStepDigits = 9;  // after the point

// min, min + step, ..., max: each the double nearest to its decimal, on every machine, so that "0.3" lies in
// [0.3, 0.4) where steps are 0.1. Errors: INVALID_ARGUMENT ("numeric.step") for numbers that are not finite,
// have more digits after the point than kMostStepDigits, or overflow when counted in units of the last digit;
// for a step that is not positive or does not divide the distance between the bounds; for too many bins.
absl::StatusOr<std::vector<double>> EdgesOf(const EvenSteps& steps);

}  // namespace curator::dp
