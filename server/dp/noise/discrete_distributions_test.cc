#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/errors.h"
#include "dp/noise/noise_spec.h"
#include "dp/noise/testing/log_probability.h"

namespace curator::dp {
namespace {

struct Moments {
  double variance;
  double mean_absolute_value;
};

// From the definition: sums over the integers, with probability proportional to exp(-exponent(x)).
template <typename Exponent>
Moments SumMoments(int64_t last, const Exponent& exponent) {
  long double total = 1;
  long double absolute = 0;
  long double squares = 0;
  for (int64_t x = last; x >= 1; --x) {
    const long double real = static_cast<long double>(x);
    const long double weight = 2 * std::exp(-exponent(real));
    total += weight;
    absolute += real * weight;
    squares += real * real * weight;
  }
  return {static_cast<double>(squares / total), static_cast<double>(absolute / total)};
}

void ExpectRelative(double actual, double expected) {
  if (expected == 0) {
    EXPECT_EQ(actual, 0);
  } else {
    EXPECT_NEAR(actual / expected, 1, 1e-9);
  }
}

const std::vector<Rational> kParameters = {
    {1, 1000}, {1, 50},   {1, 4},      {1, 2},      {999, 1000}, {1, 1},      {3, 2},        {10, 3},
    {100, 1},  {1234, 5}, {39'999, 1}, {40'000, 1}, {40'001, 1}, {90'000, 1}, {1'000'000, 1}};

TEST(DiscreteDistributions, LaplaceMomentsAgreeWithTheirSums) {
  for (const Rational scale : kParameters) {
    const long double b =
        static_cast<long double>(scale.numerator) / static_cast<long double>(scale.denominator);
    if (b > 1e4L) continue;  // the sum would be long
    const Moments sums = SumMoments(static_cast<int64_t>(60 * b) + 10, [b](long double x) { return x / b; });
    ExpectRelative(DiscreteLaplaceVariance(scale), sums.variance);
    ExpectRelative(DiscreteLaplaceMeanAbsoluteValue(scale), sums.mean_absolute_value);
  }
}

TEST(DiscreteDistributions, GaussianMomentsAgreeWithTheirSums) {
  for (const Rational sigma_squared : kParameters) {
    const long double s2 = static_cast<long double>(sigma_squared.numerator) /
                           static_cast<long double>(sigma_squared.denominator);
    const auto last = static_cast<int64_t>(40 * std::sqrt(s2)) + 10;
    const Moments sums = SumMoments(last, [s2](long double x) { return x * x / (2 * s2); });
    ExpectRelative(DiscreteGaussianVariance(sigma_squared), sums.variance);
    ExpectRelative(DiscreteGaussianMeanAbsoluteValue(sigma_squared), sums.mean_absolute_value);
  }
}

TEST(DiscreteDistributions, OfLargeScalesAreTheirContinuousLimits) {
  const Rational scale{1'000'000'000'000, 1};
  ExpectRelative(DiscreteLaplaceVariance(scale), 2e24);
  ExpectRelative(DiscreteLaplaceMeanAbsoluteValue(scale), 1e12);
  EXPECT_NEAR(static_cast<double>(DiscreteLaplaceHalfWidth(scale, 0.95).value()), 1e12 * std::log(20.0), 2);
  const Rational sigma_squared{std::numeric_limits<int64_t>::max() / 2, 1};
  const double sigma = std::sqrt(static_cast<double>(sigma_squared.numerator));
  ExpectRelative(DiscreteGaussianVariance(sigma_squared), sigma * sigma);
  ExpectRelative(DiscreteGaussianMeanAbsoluteValue(sigma_squared), sigma * std::sqrt(2 / M_PI));
  ExpectRelative(static_cast<double>(DiscreteGaussianHalfWidth(sigma_squared, 0.95).value()),
                 sigma * 1.959963984540054);
}

// The smallest w whose tail, summed from the definition, leaves at least `level`.
template <typename Exponent>
int64_t HalfWidthBySum(int64_t last, double level, const Exponent& exponent) {
  long double total = 1;
  for (int64_t x = last; x >= 1; --x) total += 2 * std::exp(-exponent(static_cast<long double>(x)));
  const long double allowed = (1 - static_cast<long double>(level)) * total;
  long double tail = 0;
  int64_t w = last;
  for (; w >= 1; --w) {
    tail += 2 * std::exp(-exponent(static_cast<long double>(w)));
    if (tail > allowed) break;
  }
  return w;
}

TEST(DiscreteDistributions, HalfWidthsAreTheSmallestThatReachTheirLevel) {
  for (const Rational parameter : kParameters) {
    const long double value =
        static_cast<long double>(parameter.numerator) / static_cast<long double>(parameter.denominator);
    for (const double level : {0.001, 0.5, 0.683, 0.9, 0.95, 0.99, 0.999999, 1 - 1e-12}) {
      if (value < 1e3L) {
        EXPECT_EQ(DiscreteLaplaceHalfWidth(parameter, level).value(),
                  HalfWidthBySum(static_cast<int64_t>(60 * value) + 10, level,
                                 [value](long double x) { return x / value; }))
            << parameter.numerator << "/" << parameter.denominator << " at " << level;
      }
      EXPECT_EQ(DiscreteGaussianHalfWidth(parameter, level).value(),
                HalfWidthBySum(static_cast<int64_t>(40 * std::sqrt(value)) + 10, level,
                               [value](long double x) { return x * x / (2 * value); }))
          << parameter.numerator << "/" << parameter.denominator << " at " << level;
    }
  }
}

TEST(DiscreteDistributions, ProbabilitiesAddUpToOne) {
  for (const Rational parameter : {Rational{1, 1000}, {1, 2}, {1, 1}, {10, 3}, {100, 1}}) {
    double laplace = 0;
    double gaussian = 0;
    for (int64_t x = -10'000; x <= 10'000; ++x) {
      laplace += std::exp(DiscreteLaplaceLogProbability(parameter, x));
      gaussian += std::exp(DiscreteGaussianLogProbability(parameter, x));
    }
    EXPECT_NEAR(laplace, 1, 1e-12);
    EXPECT_NEAR(gaussian, 1, 1e-12);
  }
}

TEST(DiscreteDistributions, WithoutNoiseThereIsNoError) {
  EXPECT_EQ(DiscreteLaplaceVariance({0, 1}), 0);
  EXPECT_EQ(DiscreteLaplaceMeanAbsoluteValue({0, 1}), 0);
  EXPECT_EQ(DiscreteLaplaceHalfWidth({0, 1}, 0.95).value(), 0);
  EXPECT_EQ(DiscreteGaussianVariance({0, 1}), 0);
  EXPECT_EQ(DiscreteGaussianMeanAbsoluteValue({0, 1}), 0);
  EXPECT_EQ(DiscreteGaussianHalfWidth({0, 1}, 0.95).value(), 0);
}

TEST(DiscreteDistributions, LevelsOutsideTheOpenUnitIntervalAreRefused) {
  for (const double level : {0.0, 1.0, -0.5, 1.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(FieldViolationOf(DiscreteLaplaceHalfWidth({1, 1}, level).status())->field, "level");
    EXPECT_EQ(FieldViolationOf(DiscreteGaussianHalfWidth({1, 1}, level).status())->field, "level");
  }
}

}  // namespace
}  // namespace curator::dp
