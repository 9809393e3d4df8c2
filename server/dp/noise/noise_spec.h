// The kind and size of the noise that is added to integer values, and forecasts of the error that it causes.
//
// The forecasts are for display and for choosing parameters; no charge depends on them, so they are doubles.
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

// Correct to 1e-9 relative (dp/noise/discrete_distributions.h). `noise` must be valid.
ErrorForecast ForecastError(const NoiseSpec& noise);

// The smallest integer w with P(|X| <= w) >= level. Errors: INVALID_ARGUMENT ("confidence_level") unless
// 0 < level < 1.
absl::StatusOr<int64_t> ConfidenceHalfWidth(const NoiseSpec& noise, double level);

}  // namespace curator::dp
