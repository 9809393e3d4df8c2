// Numerical composition: certified bounds on the privacy of a fixed schedule.
//
// The losses of the mechanisms are discretised on an integer grid ("connect the dots") and convolved in a
// tree, equal mechanisms by repeated squaring. Every error is on the safe side: discretisation, truncation,
// rounding and the FFT's own error only raise the upper bound. Where no bound can be certified the functions
// return an error.
//
// For schedules fixed beforehand; no adaptive admission uses it. Deterministic on a given machine, and
// independent of the order of the schedule. Thread-safe; at most about 1 GiB of memory and some seconds.
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

// Bounds around the true epsilon, or delta, of the schedule's dominating pairs. `lower` is present only where
// mechanisms of the schedule's kind attain the pairs.
struct CertifiedBounds {
  double upper = 0;
  std::optional<double> lower;
};

// The least epsilon at 0 < delta < 1; infinity when the stated deltas alone use it up. Errors:
// INVALID_ARGUMENT for numbers out of range; FAILED_PRECONDITION and OUT_OF_RANGE as LossesOf(), and when the
// work would be too much.
absl::StatusOr<CertifiedBounds> NumericalEpsilon(const Schedule& schedule, double delta,
                                                 const NumericalOptions& options);

// For tests: the least delta at epsilon >= 0, from 0 to 1. Errors: as NumericalEpsilon().
absl::StatusOr<CertifiedBounds> NumericalDelta(const Schedule& schedule, double epsilon,
                                               const NumericalOptions& options);

}  // namespace curator::dp
