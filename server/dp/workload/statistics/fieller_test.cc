#include "dp/workload/statistics/fieller.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace curator::dp {
namespace {

constexpr Mechanism kGaussian = Mechanism::kDiscreteGaussian;
constexpr Mechanism kLaplace = Mechanism::kDiscreteLaplace;
constexpr double kNormal95 = 1.959963984540054;

// A value of the continuous law with this deviation.
double Draw(Mechanism mechanism, double deviation, std::mt19937_64& random) {
  const auto uniform = [&random] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  if (mechanism == kLaplace) return deviation / std::numbers::sqrt2 * std::log(uniform() / uniform());
  return deviation * std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

TEST(NoiseSums, HaveTheHalfWidthsOfTheirLaws) {
  const std::array<double, 1> one = {10};
  EXPECT_NEAR(NoiseSums(kGaussian, 0.95).HalfWidth(one), 10 * kNormal95, 1e-9);
  EXPECT_NEAR(NoiseSums(kLaplace, 0.95).HalfWidth(one), 10 / std::numbers::sqrt2 * std::log(20), 1e-9);
  const std::array<double, 2> two = {6, 8};
  EXPECT_NEAR(NoiseSums(kGaussian, 0.99).HalfWidth(two), 10 * 2.5758293035489, 1e-8);
  // Two Laplace values of scale 1: P(|X| > w) = (1 + w / 2) exp(-w).
  const std::array<double, 2> alike = {std::numbers::sqrt2, std::numbers::sqrt2};
  const double width = NoiseSums(kLaplace, 0.95).HalfWidth(alike);
  EXPECT_NEAR((1 + width / 2) * std::exp(-width), 0.05, 1e-4);
  const std::array<double, 2> none = {0, 0};
  EXPECT_EQ(NoiseSums(kGaussian, 0.95).HalfWidth(none), 0);
  EXPECT_EQ(NoiseSums(kLaplace, 0.95).HalfWidth(none), 0);
}

TEST(NoiseSums, HoldTheirLevelForUpToFourTerms) {
  std::mt19937_64 random(1);
  for (const Mechanism mechanism : {kGaussian, kLaplace}) {
    for (const std::array<double, 4>& terms :
         {std::array<double, 4>{1, 1, 1, 1}, std::array<double, 4>{5, 3, 0, 0},
          std::array<double, 4>{9, 9, 1, 0.01}}) {
      const NoiseSums noise(mechanism, 0.9);
      const double width = noise.HalfWidth(terms);
      int held = 0;
      constexpr int kDraws = 20'000;
      for (int draw = 0; draw < kDraws; ++draw) {
        double sum = 0;
        for (const double term : terms) sum += Draw(mechanism, term, random);
        const bool is_held = std::abs(sum) <= width;
        EXPECT_EQ(is_held, !noise.Excludes(std::abs(sum), terms)) << sum;
        held += is_held ? 1 : 0;
      }
      EXPECT_NEAR(held / double{kDraws}, 0.9, 0.01);
    }
  }
}

// Over a range of -50..50 around the centre, with noise of deviation `s` in the count.
NoisyMoments Moments(double count, double sum, double squares, double s) {
  return {.count = count,
          .sum = sum,
          .squares = squares,
          .count_deviation = s,
          .sum_deviation = 50 * s,
          .squares_deviation = 1250 * s,
          .centre_of_squares = 1250,
          .step_of_squares = 1,
          .least = -50,
          .most = 50};
}

TEST(FiellersInterval, IsTheSetThatTheFormulaGives) {
  const NoisyMoments of = Moments(200, 3000, 0, 10);
  const EstimateWithEnds mean = MeanOf(NoiseSums(kGaussian, 0.95), of);
  EXPECT_EQ(mean.value, 15);
  // The ends solve (S - t N)^2 = (z sqrt(500^2 + 100 t^2) + 1/2)^2.
  for (const double end : {mean.low, mean.high}) {
    EXPECT_NEAR(std::abs(3000 - end * 200), kNormal95 * std::sqrt(250'000 + 100 * end * end) + 0.5, 1e-6);
  }
  EXPECT_LT(mean.low, 15);
  EXPECT_GT(mean.high, 15);
  EXPECT_NEAR(mean.standard_deviation, std::hypot(500, 15 * 10) / 200, 1e-12);
}

TEST(FiellersInterval, IsUnboundedWhereTheCountIsNotClearOfZero) {
  for (const Mechanism mechanism : {kGaussian, kLaplace}) {
    const NoiseSums noise(mechanism, 0.95);
    const std::array<double, 1> one = {10};
    const double clear = noise.HalfWidth(one);
    const EstimateWithEnds unknown = MeanOf(noise, Moments(clear - 0.01, 0, 0, 10));
    EXPECT_EQ(unknown.low, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(unknown.high, std::numeric_limits<double>::infinity());
    EXPECT_EQ(unknown.value, 0);
    EXPECT_TRUE(std::isfinite(MeanOf(noise, Moments(clear + 0.01, 0, 0, 10)).low));
    for (const double count : {0.0, -5.0}) {
      const EstimateWithEnds none = MeanOf(noise, Moments(count, 3, 0, 10));
      EXPECT_TRUE(std::isnan(none.value));
      EXPECT_TRUE(std::isinf(none.low) && std::isinf(none.high));
    }
  }
}

TEST(FiellersInterval, LiesWithinTheBoundsOfTheColumn) {
  const NoiseSums noise(kGaussian, 0.95);
  const EstimateWithEnds above = MeanOf(noise, Moments(100, 9000, 0, 1));
  EXPECT_EQ(above.value, 50);
  EXPECT_EQ(above.low, 50);
  EXPECT_EQ(above.high, 50);
  const EstimateWithEnds near = MeanOf(noise, Moments(100, 4990, 0, 10));
  EXPECT_EQ(near.high, 50);
  EXPECT_LT(near.low, 49.9);
  const EstimateWithEnds wide = MeanOf(noise, Moments(25, 0, 0, 10));
  EXPECT_EQ(wide.low, -50);
  EXPECT_EQ(wide.high, 50);
}

TEST(VarianceInterval, HasTheVarianceOfTheNoiseTakenOffTheSquareOfTheSum) {
  const NoiseSums noise(kGaussian, 0.95);
  // 100 numbers of mean 10 and sum of squares 50,000; the square of the noisy sum has 500^2 too much.
  const EstimateWithEnds variance = VarianceOf(noise, Moments(100, 1000, 50'000, 10));
  EXPECT_NEAR(variance.value, (50'000 - (1'000'000 - 250'000) / 100.0) / 99, 1e-9);
  EXPECT_LT(variance.low, variance.value);
  EXPECT_GT(variance.high, variance.value);
}

TEST(VarianceInterval, LiesBetweenZeroAndTheLargestThatIsPossible) {
  const NoiseSums noise(kGaussian, 0.95);
  const EstimateWithEnds negative = VarianceOf(noise, Moments(100, 4000, 1000, 1));
  EXPECT_EQ(negative.value, 0);
  EXPECT_EQ(negative.low, 0);
  const EstimateWithEnds large = VarianceOf(noise, Moments(1000, 0, 9'000'000, 1));
  EXPECT_NEAR(large.value, 2500, 10);
  EXPECT_EQ(large.high, large.value);
  EXPECT_TRUE(std::isnan(VarianceOf(noise, Moments(1, 0, 0, 1)).value));
  EXPECT_TRUE(std::isinf(VarianceOf(noise, Moments(30, 0, 30'000, 10)).high));
  EXPECT_TRUE(std::isfinite(VarianceOf(noise, Moments(70, 0, 70'000, 10)).high));
}

TEST(VarianceInterval, IsWiderByWhatRoundedSquaresMayBeOff) {
  const NoiseSums noise(kGaussian, 0.95);
  NoisyMoments of = Moments(1'000'000, 0, 8e8, 1);
  const EstimateWithEnds exact = VarianceOf(noise, of);
  of.step_of_squares = 4;
  const EstimateWithEnds rounded = VarianceOf(noise, of);
  EXPECT_NEAR(rounded.high - exact.high, 2, 0.01);
  EXPECT_NEAR(exact.low - rounded.low, 2, 0.01);
}

// ---- Coverage, and the mistakes that it finds

struct Group {
  double count;
  double mean;
  double variance;
};

using Holds = std::function<bool(const NoisyMoments&, const Group&)>;

double CoverageBy(Mechanism mechanism, const Group& group, const Holds& holds) {
  constexpr int kDraws = 20'000;
  constexpr double kNoise = 10;
  std::mt19937_64 random(5);
  int held = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double in_count = Draw(mechanism, kNoise, random);
    NoisyMoments of = Moments(group.count + in_count,
                              group.count * group.mean + Draw(mechanism, 50 * kNoise, random), 0, kNoise);
    of.squares = group.count * group.mean * group.mean + group.variance * (group.count - 1) +
                 Draw(mechanism, 1250 * kNoise, random) + 1250 * in_count;
    held += holds(of, group) ? 1 : 0;
  }
  return 100 * held / double{kDraws};
}

const std::vector<Group> kGroups = {{100, 0, 800}, {100, 45, 20}, {300, -30, 400}, {3000, 10, 100}};

TEST(FiellersInterval, HoldsItsLevel) {
  for (const Mechanism mechanism : {kGaussian, kLaplace}) {
    const NoiseSums noise(mechanism, 0.95);
    for (const Group& group : kGroups) {
      const double mean = CoverageBy(mechanism, group, [&](const NoisyMoments& of, const Group& truth) {
        const EstimateWithEnds found = MeanOf(noise, of);
        return found.low <= truth.mean && found.high >= truth.mean;
      });
      EXPECT_GT(mean, 94) << group.count;
      EXPECT_LT(mean, 96.5) << group.count;
      const double variance = CoverageBy(mechanism, group, [&](const NoisyMoments& of, const Group& truth) {
        const EstimateWithEnds found = VarianceOf(noise, of);
        return found.low <= truth.variance && found.high >= truth.variance;
      });
      EXPECT_GT(variance, 94) << group.count;
      EXPECT_LT(variance, 96.5) << group.count;
    }
  }
}

TEST(FiellersIntervalCanary, TheDeltaMethodIsFoundOutForFewRecords) {
  const double delta = CoverageBy(kGaussian, {25, 45, 0}, [&](const NoisyMoments& of, const Group& truth) {
    if (of.count <= 0) return true;
    const double mean = of.sum / of.count;
    const double width = kNormal95 * std::hypot(of.sum_deviation, mean * of.count_deviation) / of.count;
    return std::abs(truth.mean - mean) <= width;
  });
  EXPECT_LT(delta, 94);
}

TEST(FiellersIntervalCanary, ANormalLawForLaplaceNoiseIsFoundOutAtAHighLevel) {
  const auto held = [&](Mechanism law) {
    const NoiseSums noise(law, 0.99);
    return CoverageBy(kLaplace, {300, 0, 0}, [&](const NoisyMoments& of, const Group& truth) {
      const EstimateWithEnds found = MeanOf(noise, of);
      return found.low <= truth.mean && found.high >= truth.mean;
    });
  };
  EXPECT_GT(held(kLaplace), 98.7);
  EXPECT_LT(held(kGaussian), 98);
}

TEST(VarianceIntervalCanary, TheSquareOfANoisySumWithoutItsCorrectionIsFoundOut) {
  const auto bias = [&](bool is_corrected) {
    double sum = 0;
    CoverageBy(kGaussian, {120, 0, 600}, [&](const NoisyMoments& of, const Group& truth) {
      const double square = of.sum * of.sum - (is_corrected ? of.sum_deviation * of.sum_deviation : 0);
      sum += (of.squares - square / of.count) / (of.count - 1) - truth.variance;
      return true;
    });
    return sum / 20'000;
  };
  EXPECT_NEAR(bias(true), 0, 10);  // a ratio has a bias of the second order
  EXPECT_LT(bias(false), -20);
}

}  // namespace
}  // namespace curator::dp
