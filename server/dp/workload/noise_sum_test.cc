#include "dp/workload/noise_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/errors.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/noise_spec.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using Real = long double;

// P(X = x) for x = -last .. last.
std::vector<Real> ProbabilitiesOf(const NoiseSpec& noise, int64_t last) {
  const Real parameter =
      static_cast<Real>(noise.parameter.numerator) / static_cast<Real>(noise.parameter.denominator);
  std::vector<Real> mass;
  Real total = 0;
  for (int64_t x = -last; x <= last; ++x) {
    const auto real = static_cast<Real>(x);
    mass.push_back(noise.mechanism == Mechanism::kDiscreteLaplace ? std::exp(-std::fabs(real) / parameter)
                                                                  : std::exp(-real * real / (2 * parameter)));
    total += mass.back();
  }
  for (Real& value : mass) value /= total;
  return mass;
}

// From the definition: convolution, cut at +-last. Sums of positive numbers: small tails keep their digits.
std::vector<Real> Convolution(const std::vector<Real>& a, const std::vector<Real>& b) {
  const auto size = static_cast<int64_t>(a.size());
  const int64_t last = size / 2;
  std::vector<Real> sum(a.size(), 0);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t from = std::max<int64_t>(0, last - i);
    const int64_t to = std::min<int64_t>(size - 1, size - 1 + last - i);
    for (int64_t j = from; j <= to; ++j)
      sum[static_cast<size_t>(i + j - last)] += a[static_cast<size_t>(i)] * b[static_cast<size_t>(j)];
  }
  return sum;
}

std::vector<Real> SumOf(const NoiseSpec& noise, int64_t terms, int64_t last) {
  std::vector<Real> power = ProbabilitiesOf(noise, last);
  std::vector<Real> sum(power.size(), 0);
  sum[static_cast<size_t>(last)] = 1;
  for (int64_t left = terms; left > 0; left /= 2) {
    if (left % 2 == 1) sum = Convolution(sum, power);
    if (left > 1) power = Convolution(power, power);
  }
  return sum;
}

// P(|S| > w) for w = 0 .. last.
std::vector<Real> TwoSidedTails(const std::vector<Real>& sum) {
  const size_t last = sum.size() / 2;
  std::vector<Real> tails(last + 1, 0);
  for (size_t w = last; w-- > 0;) tails[w] = tails[w + 1] + sum[last + w + 1] + sum[last - w - 1];
  return tails;
}

struct Case {
  NoiseSpec noise;
  int64_t terms;
  int64_t last;
};

constexpr Mechanism kLaplace = Mechanism::kDiscreteLaplace;
constexpr Mechanism kGaussian = Mechanism::kDiscreteGaussian;

std::vector<Case> Cases() {
  return {{{kLaplace, {1, 3}}, 2, 60},    {{kLaplace, {1, 3}}, 40, 80},    {{kLaplace, {1, 1}}, 3, 100},
          {{kLaplace, {5, 1}}, 2, 400},   {{kLaplace, {5, 1}}, 7, 500},    {{kLaplace, {5, 1}}, 16, 600},
          {{kLaplace, {5, 1}}, 17, 600},  {{kLaplace, {5, 1}}, 100, 1000}, {{kLaplace, {9, 7}}, 300, 500},
          {{kGaussian, {1, 7}}, 2, 30},   {{kGaussian, {1, 9}}, 100, 60},  {{kGaussian, {1, 3}}, 12, 60},
          {{kGaussian, {1, 2}}, 2, 40},   {{kGaussian, {2, 1}}, 5, 60},    {{kGaussian, {30, 1}}, 2, 160},
          {{kGaussian, {30, 1}}, 64, 700}};
}

std::string Words(const Case& c) {
  return std::to_string(c.terms) + " of " + std::string(MechanismName(c.noise.mechanism)) + " " +
         std::to_string(c.noise.parameter.numerator) + "/" + std::to_string(c.noise.parameter.denominator);
}

TEST(NoiseSum, TailsAreThoseOfTheConvolutionRoundedOutward) {
  for (const Case& c : Cases()) {
    const std::vector<Real> tails = TwoSidedTails(SumOf(c.noise, c.terms, c.last));
    int compared = 0;
    for (int64_t w = 0; w < c.last; ++w) {
      const auto exact = static_cast<double>(tails[static_cast<size_t>(w)]);
      if (exact < 1e-20) break;  // the cut would show
      const double bound = SumTailProbability(c.noise, c.terms, w);
      EXPECT_GE(bound, exact * (1 - 1e-12)) << Words(c) << " beyond " << w;
      EXPECT_LE(bound, exact * (1 + 1e-8)) << Words(c) << " beyond " << w;
      ++compared;
    }
    EXPECT_GE(compared, 4) << Words(c);
  }
}

TEST(NoiseSum, HalfWidthsAreTheSmallestThatReachTheirLevel) {
  for (const Case& c : Cases()) {
    const std::vector<Real> tails = TwoSidedTails(SumOf(c.noise, c.terms, c.last));
    for (const double level : {0.001, 0.5, 0.9, 0.95, 0.99, 1 - 1e-6, 1 - 1e-12}) {
      int64_t expected = 0;
      while (tails[static_cast<size_t>(expected)] > 1 - static_cast<Real>(level)) ++expected;
      EXPECT_EQ(SumConfidenceHalfWidth(c.noise, c.terms, level).value(), expected)
          << Words(c) << " at " << level;
    }
  }
}

// What a normal limit would say is wrong for few values with heavy tails: the test above can fail.
TEST(NoiseSumCanary, ANormalApproximationMissesItsLevel) {
  const Case c{{kLaplace, {5, 1}}, 2, 400};
  const double deviation = std::sqrt(2 * DiscreteLaplaceVariance({5, 1}));
  const auto normal = static_cast<int64_t>(2.5758 * deviation);
  EXPECT_GT(SumTailProbability(c.noise, c.terms, normal), 0.01 * 1.2);
  EXPECT_GT(SumConfidenceHalfWidth(c.noise, c.terms, 0.99).value(), normal);
}

TEST(NoiseSum, OneValueHasItsOwnInterval) {
  for (const NoiseSpec& noise : {NoiseSpec{kLaplace, {7, 2}}, NoiseSpec{kGaussian, {81, 2}}}) {
    for (const double level : {0.5, 0.95, 0.999})
      EXPECT_EQ(SumConfidenceHalfWidth(noise, 1, level).value(), ConfidenceHalfWidth(noise, level).value());
  }
}

TEST(NoiseSum, ManyValuesTendToTheNormalLaw) {
  for (const NoiseSpec& noise :
       {NoiseSpec{kLaplace, {1'000'000, 1}}, NoiseSpec{kLaplace, {1, 2}}, NoiseSpec{kGaussian, {1, 8}},
        NoiseSpec{kGaussian, {1'000'000'000'000, 1}}}) {
    const double deviation = ForecastError(noise).standard_deviation;
    for (const int64_t terms : {int64_t{1'000'000}, kMostSummedValues}) {
      const double sigma = deviation * std::sqrt(static_cast<double>(terms));
      const auto width = static_cast<double>(SumConfidenceHalfWidth(noise, terms, 0.95).value());
      EXPECT_NEAR(width / sigma, 1.959964, 2e-4 + 1 / sigma) << terms;
    }
  }
}

TEST(NoiseSum, SumsOfGaussiansAreAlmostGaussiansOfTheSummedVariance) {
  EXPECT_EQ(SumConfidenceHalfWidth({kGaussian, {900, 1}}, 25, 0.99).value(),
            ConfidenceHalfWidth({kGaussian, {22'500, 1}}, 0.99).value());
}

// Also where almost every value is 0, or where their number or scale is the largest: a width for every level,
// rising, and within the sub-Gaussian bound (Canonne, Kamath, Steinke 2020) where there is one.
TEST(NoiseSum, ParametersOfEverySizeHaveTheirWidths) {
  for (const Rational parameter : std::vector<Rational>{{1, 40}, {1, 5}, {1, 2}, {50, 1}, {1 << 30, 1}}) {
    for (const Mechanism mechanism : {kLaplace, kGaussian}) {
      for (const int64_t terms : {int64_t{2}, int64_t{17}, int64_t{1000}, kMostSummedValues}) {
        int64_t last = 0;
        for (const double level : {0.01, 0.95, 0.999999, 1 - 1e-12}) {
          const int64_t width = SumConfidenceHalfWidth({mechanism, parameter}, terms, level).value();
          EXPECT_GE(width, last);
          last = width;
          const double variance = static_cast<double>(parameter.numerator) /
                                  static_cast<double>(parameter.denominator) * static_cast<double>(terms);
          const double bound = std::sqrt(2 * variance * std::log(2 / (1 - level))) + 1;
          if (mechanism == kLaplace) continue;
          EXPECT_LE(static_cast<double>(width), bound) << terms << " at " << level;
        }
      }
    }
  }
}

TEST(NoiseSum, ZeroNoiseInEffectHasNoWidth) {
  EXPECT_EQ(SumConfidenceHalfWidth({kLaplace, {1, 1000}}, kMostSummedValues, 1 - 1e-12).value(), 0);
  EXPECT_EQ(SumConfidenceHalfWidth({kGaussian, {1, 100'000}}, 1000, 1 - 1e-12).value(), 0);
}

TEST(NoiseSum, HoldsItsLevelOnDrawnNoise) {
  constexpr int kTrials = 20'000;
  constexpr int64_t kTerms = 20;
  seeded::SeededBits bits(3);
  const DiscreteLaplace laplace = DiscreteLaplace::Create({4, 1}).value();
  const DiscreteGaussian gaussian = DiscreteGaussian::Create({9, 4}).value();
  const int64_t laplace_width = SumConfidenceHalfWidth({kLaplace, {4, 1}}, kTerms, 0.9).value();
  const int64_t gaussian_width = SumConfidenceHalfWidth({kGaussian, {9, 4}}, kTerms, 0.9).value();
  int laplace_held = 0;
  int gaussian_held = 0;
  std::vector<int64_t> values(kTerms);
  const auto absolute_sum = [&values] {
    int64_t sum = 0;
    for (const int64_t value : values) sum += value;
    return std::abs(sum);
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    laplace.Fill(bits, values);
    laplace_held += absolute_sum() <= laplace_width ? 1 : 0;
    gaussian.Fill(bits, values);
    gaussian_held += absolute_sum() <= gaussian_width ? 1 : 0;
  }
  // Five standard deviations of the number of intervals that hold, below; and what discreteness adds, above.
  EXPECT_GE(laplace_held, 0.9 * kTrials - 5 * std::sqrt(0.09 * kTrials));
  EXPECT_LE(laplace_held, 0.93 * kTrials);
  EXPECT_GE(gaussian_held, 0.9 * kTrials - 5 * std::sqrt(0.09 * kTrials));
  EXPECT_LE(gaussian_held, 0.94 * kTrials);
}

TEST(NoiseSum, LevelsAndNumbersOutOfRangeAreRefused) {
  const NoiseSpec noise{kLaplace, {1, 1}};
  for (const double level : {0.0, 1.0, -1.0, std::nan("")})
    EXPECT_EQ(FieldViolationOf(SumConfidenceHalfWidth(noise, 2, level).status())->field, "confidence_level");
  for (const int64_t terms : {int64_t{0}, int64_t{-1}, kMostSummedValues + 1})
    EXPECT_EQ(FieldViolationOf(SumConfidenceHalfWidth(noise, terms, 0.9).status())->field, "terms");
}

}  // namespace
}  // namespace curator::dp
