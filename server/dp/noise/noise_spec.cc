#include "dp/noise/noise_spec.h"

#include <cmath>

#include "base/errors.h"
#include "dp/noise/discrete_distributions.h"

namespace curator::dp {

std::string_view MechanismName(Mechanism mechanism) {
  return mechanism == Mechanism::kDiscreteLaplace ? "discrete Laplace" : "discrete Gaussian";
}

absl::Status Validate(const NoiseSpec& noise) {
  if (noise.parameter.numerator <= 0 || noise.parameter.denominator <= 0) {
    return absl::InvalidArgumentError("the noise parameter must be a positive quotient of positive integers");
  }
  return absl::OkStatus();
}

ErrorForecast ForecastError(const NoiseSpec& noise) {
  if (noise.mechanism == Mechanism::kDiscreteLaplace) {
    return {.standard_deviation = std::sqrt(DiscreteLaplaceVariance(noise.parameter)),
            .expected_absolute_error = DiscreteLaplaceMeanAbsoluteValue(noise.parameter)};
  }
  return {.standard_deviation = std::sqrt(DiscreteGaussianVariance(noise.parameter)),
          .expected_absolute_error = DiscreteGaussianMeanAbsoluteValue(noise.parameter)};
}

absl::StatusOr<int64_t> ConfidenceHalfWidth(const NoiseSpec& noise, double level) {
  if (!(level > 0 && level < 1)) {
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  }
  return noise.mechanism == Mechanism::kDiscreteLaplace ? DiscreteLaplaceHalfWidth(noise.parameter, level)
                                                        : DiscreteGaussianHalfWidth(noise.parameter, level);
}

}  // namespace curator::dp
