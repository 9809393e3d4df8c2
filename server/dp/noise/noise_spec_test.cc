#include "dp/noise/noise_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/errors.h"

namespace curator::dp {
namespace {

NoiseSpec Laplace(int64_t numerator, int64_t denominator) {
  return {.mechanism = Mechanism::kDiscreteLaplace, .parameter = {numerator, denominator}};
}
NoiseSpec Gaussian(int64_t numerator, int64_t denominator) {
  return {.mechanism = Mechanism::kDiscreteGaussian, .parameter = {numerator, denominator}};
}

double Unnormalised(const NoiseSpec& noise, int x) {
  const double parameter =
      static_cast<double>(noise.parameter.numerator) / static_cast<double>(noise.parameter.denominator);
  return noise.mechanism == Mechanism::kDiscreteLaplace ? std::exp(-std::abs(x) / parameter)
                                                        : std::exp(-x * x / (2 * parameter));
}

TEST(ForecastError, AgreesWithSummingTheDistribution) {
  for (const NoiseSpec& noise : {Laplace(1, 3), Laplace(10, 1), Gaussian(1, 2), Gaussian(50, 1)}) {
    double weight = 0, first = 0, second = 0;
    for (int x = -2000; x <= 2000; ++x) {
      weight += Unnormalised(noise, x);
      first += std::abs(x) * Unnormalised(noise, x);
      second += static_cast<double>(x) * x * Unnormalised(noise, x);
    }
    const ErrorForecast forecast = ForecastError(noise);
    EXPECT_NEAR(forecast.standard_deviation, std::sqrt(second / weight), 1e-8 * forecast.standard_deviation);
    EXPECT_NEAR(forecast.expected_absolute_error, first / weight, 1e-8 * forecast.expected_absolute_error);
  }
}

TEST(ConfidenceHalfWidth, IsTheSmallestThatHoldsTheLevel) {
  for (const NoiseSpec& noise : {Laplace(1, 3), Laplace(10, 1), Gaussian(1, 2), Gaussian(50, 1)}) {
    for (const double level : {0.5, 0.95, 0.999}) {
      const int64_t width = ConfidenceHalfWidth(noise, level).value();
      double weight = 0, inside = 0, narrower = 0;
      for (int x = -2000; x <= 2000; ++x) {
        weight += Unnormalised(noise, x);
        if (std::abs(x) <= width) inside += Unnormalised(noise, x);
        if (std::abs(x) < width) narrower += Unnormalised(noise, x);
      }
      EXPECT_GE(inside / weight, level - 1e-12);
      EXPECT_LT(narrower / weight, level);
    }
  }
}

TEST(ConfidenceHalfWidth, RefusesALevelOutsideOfZeroToOne) {
  for (const double level : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    const auto width = ConfidenceHalfWidth(Laplace(1, 1), level);
    ASSERT_FALSE(width.ok()) << level;
    EXPECT_EQ(FieldViolationOf(width.status())->field, "confidence_level");
  }
}

TEST(ValidateNoise, RefusesParametersThatAreNotPositive) {
  EXPECT_TRUE(Validate(Laplace(1, 7)).ok());
  EXPECT_FALSE(Validate(Laplace(0, 7)).ok());
  EXPECT_FALSE(Validate(Gaussian(1, 0)).ok());
  EXPECT_FALSE(Validate(Gaussian(-1, -1)).ok());
}

}  // namespace
}  // namespace curator::dp
