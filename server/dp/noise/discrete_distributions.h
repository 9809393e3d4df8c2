// Moments and quantiles of the noise distributions, for error forecasts and confidence intervals: public
// numbers in floating point. Nothing here draws, and no price depends on it.
//
// Each number is correct to 1e-9 relative for scales (and sigmas) from 1e-3 to 1e12, as far as a double can
// hold it: a variance below 1e-307 is 0. Parameters are those that a sampler's Create() accepts; a zero
// parameter means no noise. Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"

namespace curator::dp {

// Discrete Laplace, P(x) ~ exp(-|x|/scale).
double DiscreteLaplaceVariance(Rational scale);
double DiscreteLaplaceMeanAbsoluteValue(Rational scale);
// The smallest w with P(|X| <= w) >= level. Errors: INVALID_ARGUMENT, naming "level", unless 0 < level < 1.
absl::StatusOr<int64_t> DiscreteLaplaceHalfWidth(Rational scale, double level);

// Discrete Gaussian, P(x) ~ exp(-x^2/(2 sigma_squared)).
double DiscreteGaussianVariance(Rational sigma_squared);
double DiscreteGaussianMeanAbsoluteValue(Rational sigma_squared);
// The smallest w with P(|X| <= w) >= level. Errors: INVALID_ARGUMENT, naming "level", unless 0 < level < 1.
absl::StatusOr<int64_t> DiscreteGaussianHalfWidth(Rational sigma_squared, double level);

}  // namespace curator::dp
