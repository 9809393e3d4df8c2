// Numerical composition: the privacy of a fixed schedule, certified to the last digit that is printed.
//
// The losses of its mechanisms are put on an integer grid, connected by the dots, and convolved in a tree,
// equal mechanisms by repeated squaring. Every error is on the safe side: discretisation, truncation,
// rounding and the FFT's own error only ever raise the upper bound. It never says more than it can certify:
// it refuses instead.
//
// For schedules fixed beforehand. It gates no adaptive admission. Deterministic for a given machine; does not
// depend on the order of the schedule. Thread-safe; at most about 1 GiB of memory and some seconds.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"

namespace curator::dp {

enum class Sides { kUpper, kBoth };

struct NumericalOptions {
  Sides sides = Sides::kBoth;
  // The widest grid step that is used; small schedules take a finer one, huge ones a coarser (still valid).
  double step = 1e-4;
};

// The true epsilon, or delta, of the schedule's dominating pairs lies between the two. There is a lower bound
// only where the pairs are attained by mechanisms of the schedule's kind.
struct CertifiedBounds {
  double upper = 0;
  std::optional<double> lower;
};

// The least epsilon at 0 < delta < 1; infinity when the stated deltas alone use it up. Errors:
// INVALID_ARGUMENT for numbers out of range; FAILED_PRECONDITION and OUT_OF_RANGE as LossesOf(), and when the
// work would be too much.
absl::StatusOr<CertifiedBounds> NumericalEpsilon(const Schedule& schedule, double delta,
                                                 const NumericalOptions& options);

// The least delta at epsilon >= 0, never negative, never above 1.
absl::StatusOr<CertifiedBounds> NumericalDelta(const Schedule& schedule, double epsilon,
                                               const NumericalOptions& options);

}  // namespace curator::dp
