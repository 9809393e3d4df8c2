// The kind and size of the noise that is added to integer values, and moments and quantiles of its
// distribution: forecasts of the error that it causes.
//
// The forecasts are public numbers for display and for choosing parameters; nothing here draws, and no charge
// depends on it, so they are doubles. Each is correct to 1e-9 relative for scales (and sigmas) from 1e-3 to
// 1e12, as far as a double can hold it: a variance below 1e-307 is 0.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"

namespace curator::dp {

enum class Mechanism {
  kDiscreteLaplace,   // P(x) ~ exp(-|x| / scale)
  kDiscreteGaussian,  // P(x) ~ exp(-x^2 / (2 sigma^2))
};

// "discrete Laplace", "discrete Gaussian".
std::string_view MechanismName(Mechanism mechanism);

// Independent noise of one kind on every value.
struct NoiseSpec {
  Mechanism mechanism = Mechanism::kDiscreteLaplace;
  Rational parameter{1, 1};  // in lowest terms, positive: the scale, or sigma squared

  bool operator==(const NoiseSpec&) const = default;
};

// INVALID_ARGUMENT unless the parameter is a positive quotient of positive integers.
absl::Status Validate(const NoiseSpec& noise);

// The error of one value, in counts.
struct ErrorForecast {
  double standard_deviation = 0;
  double expected_absolute_error = 0;
};

// `noise` must be valid.
ErrorForecast ForecastError(const NoiseSpec& noise);

// The smallest integer w with P(|X| <= w) >= level. `noise` must be valid. Errors: INVALID_ARGUMENT
// ("confidence_level") unless 0 < level < 1.
absl::StatusOr<int64_t> ConfidenceHalfWidth(const NoiseSpec& noise, double level);

// The same by distribution. Parameters are those that a sampler's Create() accepts; a zero parameter means no
// noise.

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
