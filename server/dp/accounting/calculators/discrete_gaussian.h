// The discrete Gaussian mechanism's own privacy curve (Canonne, Kamath, Steinke 2020, Thm 7) and calibration.
//
// It is not the curve of the continuous Gaussian of the same variance: at integer shifts it lies now above,
// now below. One coordinate only, shifted by an integer; answers are certified. Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dp/accounting/interval.h"
#include "dp/accounting/units.h"

namespace curator::dp {

// delta at `epsilon` >= 0, enclosed, of noise with parameter sigma^2 (P(x) ~ e^(-x^2/(2 sigma^2))) on a count
// that a neighbour changes by `shift` >= 1:
//   P[X > epsilon sigma^2/shift - shift/2] - e^epsilon P[X > epsilon sigma^2/shift + shift/2].
// Errors: INVALID_ARGUMENT for numbers out of range; OUT_OF_RANGE when sigma^2 exceeds 1e8 (the sum would be
// too long).
absl::StatusOr<Interval> DiscreteGaussianDelta(Rational sigma_squared, int64_t shift,
                                               const Interval& epsilon);

// The least sigma, in thousandths, that is (epsilon, delta)-DP together with every larger one tried up to a
// little above the continuous Gaussian's sigma (delta is not monotone in sigma, so a lone lucky value is not
// taken). Errors: as above, and INVALID_ARGUMENT unless epsilon > 0 and 0 < delta < 1.
absl::StatusOr<int64_t> DiscreteGaussianSigmaThousandths(const Interval& epsilon, const Interval& delta,
                                                         int64_t shift);

}  // namespace curator::dp
