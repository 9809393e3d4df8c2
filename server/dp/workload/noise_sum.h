// The distribution of a sum of many independent noise values: the error of a range or a predicate that is
// summed from noisy cells.
//
// The intervals are those of the discrete distribution itself, not of a normal limit: no sampling and no
// convolution, so a sum of 2^26 cells takes milliseconds.
//
// Method. Let S be the sum, M(z) = E exp(z S). For every theta > 0 where M exists,
//
//   P(S >= w) = 1/(2 pi) integral from -pi to pi of M(z) exp(-z w) / (1 - exp(-z)) dt,   z = theta + i t,
//
// because the integrand is the Fourier series of exp(theta u) P(S >= w + u) in u. The trapezoidal rule with N
// points computes exactly
//
//   P(S >= w) + the sum over j != 0 of exp(theta j N) P(S >= w + j N),
//
// whose error is positive: the rule errs outward, and N is chosen so that it errs by less than 1e-9 of the
// result. theta is the saddle point, so nothing cancels and small tails keep their digits. Points far out,
// where |M| has fallen below exp(-45), are not summed: a bound on all of them is added instead. Sums of at
// most 16 discrete Laplace values are positive mixtures of negative binomials, added up in closed form.
// Everything is raised by 1e-9 for the rounding of 80-bit arithmetic. (Daniels 1954 has the contour; Stoer
// and Bulirsch the rule.)
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dp/noise/noise_spec.h"

namespace curator::dp {

inline constexpr int64_t kMostSummedValues = int64_t{1} << 26;

// At least P(|S| > w) for the sum S of `terms` independent values of `noise`, and above it by at most 1e-8 of
// itself. `noise` valid, 1 <= terms <= kMostSummedValues, w >= 0.
double SumTailProbability(const NoiseSpec& noise, int64_t terms, int64_t w);

// The smallest w with SumTailProbability() <= 1 - level: the interval of w around a noisy sum holds the true
// sum with at least this probability. One narrower by 1 does not, unless its probability is within 1e-8 of
// what is allowed. Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < level < 1, and ("terms") outside
// 1..kMostSummedValues.
absl::StatusOr<int64_t> SumConfidenceHalfWidth(const NoiseSpec& noise, int64_t terms, double level);

}  // namespace curator::dp
