// Numerical composition: certified bounds on the privacy of a fixed schedule.
//
// The losses of the mechanisms are discretised on an integer grid ("connect the dots") and convolved in a
// tree, equal mechanisms by repeated squaring. Every error is on the safe side: discretisation, truncation,
// rounding and the FFT's own error only raise the upper bound. Where no bound can be certified the functions
// return an error.
//
// For schedules fixed beforehand; no adaptive admission uses it. Deterministic on a given machine, and
// independent of the order of the schedule. Thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"

namespace curator::dp {

enum class Sides { kUpper, kLower, kBoth };

// What one side of an answer may take. The grid is made coarser until its cells and the forecast of its steps
// are within these limits.
struct NumericalLimits {
  double most_cells_at_once = 1 << 22;  // of any sum of losses: about 64 bytes each
  double most_cells_in_all = 1 << 27;   // of the mechanisms' losses, one after another
  // ConvolutionSteps() of all convolutions, by forecast; the computation ends at twice as many. A step takes
  // 30 to 70 ns.
  double most_steps = std::numeric_limits<double>::infinity();
  int64_t most_atoms = std::numeric_limits<int64_t>::max();  // of all losses together; 16 bytes each
};

struct NumericalOptions {
  Sides sides = Sides::kBoth;
  // The widest grid step that is used; small schedules take a finer one, huge ones a coarser (still valid).
  double step = 1e-4;
  NumericalLimits limits = {};  // these are up to 1 GiB, and minutes for hundreds of thousands of mechanisms
  std::stop_token stop = {};
};

// Bounds around the true epsilon, or delta, of the schedule's dominating pairs. `lower` is present only where
// mechanisms of the schedule's kind attain the pairs. A side that was not asked for is infinite, or absent.
struct CertifiedBounds {
  double upper = 0;
  std::optional<double> lower;
  double steps = 0;  // that the convolutions took
};

// The least epsilon at 0 < delta < 1; infinity when the stated deltas alone use it up. Errors:
// INVALID_ARGUMENT for numbers out of range; FAILED_PRECONDITION and OUT_OF_RANGE as LossesOf(), and when no
// grid is within the limits; CANCELLED once a stop is requested, between two convolutions.
absl::StatusOr<CertifiedBounds> NumericalEpsilon(const Schedule& schedule, double delta,
                                                 const NumericalOptions& options);

// For tests: the least delta at epsilon >= 0, from 0 to 1. Errors: as NumericalEpsilon().
absl::StatusOr<CertifiedBounds> NumericalDelta(const Schedule& schedule, double epsilon,
                                               const NumericalOptions& options);

}  // namespace curator::dp
