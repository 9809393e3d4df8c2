#include "dp/workload/noise_combination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dp/noise/noise_spec.h"
#include "dp/workload/noise_sum.h"

namespace curator::dp {
namespace {

constexpr int64_t kManySteps = int64_t{1} << 40;

// A combination with whole weights, whose distribution is that of whole numbers.
struct Combination {
  NoiseSpec noise;
  std::vector<WeightedValues> values;
};

std::string WordsOf(const Combination& combination) {
  std::string words(MechanismName(combination.noise.mechanism));
  words += " " + std::to_string(combination.noise.parameter.numerator) + "/" +
           std::to_string(combination.noise.parameter.denominator) + ":";
  for (const WeightedValues& each : combination.values)
    words += " " + std::to_string(each.count) + " times " + std::to_string(each.weight);
  return words;
}

double DeviationOf(const Combination& combination) {
  double squares = 0;
  for (const WeightedValues& each : combination.values) squares += each.count * each.weight * each.weight;
  return std::sqrt(squares) * ForecastError(combination.noise).standard_deviation;
}

// P(|S| > w) for w = 0 .. last, from the definition: by convolution, cut at +-last.
std::vector<double> ExactTails(const Combination& combination, int64_t last) {
  const auto size = static_cast<size_t>(2 * last + 1);
  const double parameter = static_cast<double>(combination.noise.parameter.numerator) /
                           static_cast<double>(combination.noise.parameter.denominator);
  const bool is_laplace = combination.noise.mechanism == Mechanism::kDiscreteLaplace;
  const auto mass = [&](double x) {
    return std::exp(is_laplace ? -std::abs(x) / parameter : -x * x / (2 * parameter));
  };
  double total = 1;
  for (int x = 1; x <= 4000; ++x) total += 2 * mass(x);
  std::vector<double> sum(size, 0);
  sum[static_cast<size_t>(last)] = 1;
  for (const WeightedValues& each : combination.values) {
    const auto weight = static_cast<int64_t>(each.weight);
    for (int repetition = 0; repetition < static_cast<int>(each.count); ++repetition) {
      std::vector<double> next(size, 0);
      for (int64_t x = -2 * last / weight; x <= 2 * last / weight; ++x) {
        const double share = mass(static_cast<double>(x)) / total;
        if (share < 1e-20) continue;
        for (int64_t s = std::max<int64_t>(0, x * weight);
             s < std::ssize(sum) + std::min<int64_t>(0, x * weight); ++s)
          next[static_cast<size_t>(s)] += share * sum[static_cast<size_t>(s - x * weight)];
      }
      sum = std::move(next);
    }
  }
  std::vector<double> tails(static_cast<size_t>(last) + 1, 0);
  for (size_t w = static_cast<size_t>(last); w-- > 0;)
    tails[w] = tails[w + 1] + 2 * sum[static_cast<size_t>(last) + w + 1];
  return tails;
}

std::vector<Combination> Combinations() {
  constexpr Mechanism kLaplace = Mechanism::kDiscreteLaplace;
  constexpr Mechanism kGaussian = Mechanism::kDiscreteGaussian;
  std::vector<Combination> combinations;
  for (const std::vector<WeightedValues>& values :
       std::vector<std::vector<WeightedValues>>{{{1, 1}},
                                                {{2, 1}, {1, 2}},
                                                {{7, 1}, {4, 2}, {3, 1}, {1, 5}},
                                                {{5, 3}, {2, 1}},
                                                {{20, 1}, {1, 3}}}) {
    for (const NoiseSpec& noise :
         {NoiseSpec{kLaplace, {1, 2}}, NoiseSpec{kLaplace, {3, 1}}, NoiseSpec{kLaplace, {20, 1}},
          NoiseSpec{kGaussian, {1, 3}}, NoiseSpec{kGaussian, {5, 2}}, NoiseSpec{kGaussian, {400, 1}}})
      combinations.push_back({noise, values});
  }
  return combinations;
}

// The smallest half width whose interval has at least the level.
int64_t SmallestWidth(const std::vector<double>& tails, double level) {
  int64_t width = 0;
  while (tails[static_cast<size_t>(width)] > 1 - level) ++width;
  return width;
}

// Whether a half width holds its level, and is not wider than it needs to be by more than 1% of a deviation.
enum class Judgement { kGood, kTooNarrow, kTooWide };
Judgement Judge(double width, int64_t smallest, double deviation) {
  if (width < static_cast<double>(smallest)) return Judgement::kTooNarrow;
  return width <= static_cast<double>(smallest) + 0.01 * deviation ? Judgement::kGood : Judgement::kTooWide;
}

TEST(CombinationHalfWidth, HoldsItsLevelByTheConvolutionAndIsHardlyWider) {
  for (const Combination& combination : Combinations()) {
    const double deviation = DeviationOf(combination);
    const std::vector<double> tails = ExactTails(combination, static_cast<int64_t>(16 * deviation) + 60);
    for (const double level : {0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.9999}) {
      int64_t steps = kManySteps;
      const auto width = CombinationHalfWidth(combination.noise, combination.values, level, steps);
      ASSERT_TRUE(width.has_value()) << WordsOf(combination);
      EXPECT_EQ(Judge(*width, SmallestWidth(tails, level), deviation), Judgement::kGood)
          << WordsOf(combination) << " at " << level << ": " << *width << " instead of "
          << SmallestWidth(tails, level);
      EXPECT_LT(steps, kManySteps);
    }
  }
}

// What the test above would miss if its judgement were lax: a normal law's half width for few Laplace values
// is too narrow at 99%, and a bound too wide.
TEST(CombinationHalfWidthCanary, ANormalLawIsTooNarrowAndABoundIsTooWide) {
  const Combination combination{{Mechanism::kDiscreteLaplace, {20, 1}}, {{2, 1}, {1, 2}}};
  const double deviation = DeviationOf(combination);
  const std::vector<double> tails = ExactTails(combination, static_cast<int64_t>(16 * deviation));
  const int64_t smallest = SmallestWidth(tails, 0.99);
  EXPECT_EQ(Judge(2.5758 * deviation, smallest, deviation), Judgement::kTooNarrow);
  EXPECT_EQ(Judge(HalfWidthBound(combination.noise, 6, 2, 0.99), smallest, deviation), Judgement::kTooWide);
}

TEST(CombinationHalfWidth, OfEqualWeightsIsThatOfASum) {
  for (const NoiseSpec& noise :
       {NoiseSpec{Mechanism::kDiscreteLaplace, {30, 1}}, NoiseSpec{Mechanism::kDiscreteGaussian, {900, 1}}}) {
    for (const double count : {1.0, 30.0, 1000.0}) {
      const std::vector<WeightedValues> values = {{1, count}};
      int64_t steps = kManySteps;
      const double width = CombinationHalfWidth(noise, values, 0.95, steps).value();
      const auto exact =
          static_cast<double>(SumConfidenceHalfWidth(noise, static_cast<int64_t>(count), 0.95).value());
      EXPECT_GE(width, exact);
      EXPECT_LE(width, exact * 1.005);
    }
  }
}

TEST(CombinationHalfWidth, TurnsWithTheWeights) {
  const NoiseSpec noise{Mechanism::kDiscreteLaplace, {4, 1}};
  const std::vector<WeightedValues> values = {{0.75, 1}, {0.25, 3}, {0.125, 8}};
  std::vector<WeightedValues> doubled = values;
  for (WeightedValues& each : doubled) each.weight *= 2;
  int64_t steps = kManySteps;
  const double once = CombinationHalfWidth(noise, values, 0.95, steps).value();
  EXPECT_NEAR(CombinationHalfWidth(noise, doubled, 0.95, steps).value(), 2 * once, 1e-6 * once);
}

TEST(CombinationHalfWidth, GivesUpWithoutStepsAtExtremeLevelsAndWithAlmostNoNoise) {
  const NoiseSpec noise{Mechanism::kDiscreteLaplace, {4, 1}};
  const std::vector<WeightedValues> values = {{1, 3}, {0.5, 1}};
  int64_t none = 0;
  EXPECT_EQ(CombinationHalfWidth(noise, values, 0.95, none), std::nullopt);
  int64_t few = 100;
  EXPECT_EQ(CombinationHalfWidth(noise, values, 0.95, few), std::nullopt);
  EXPECT_GT(few, -20) << "no more are taken";
  int64_t steps = kManySteps;
  EXPECT_EQ(CombinationHalfWidth(noise, values, 1 - 1e-9, steps), std::nullopt);
  for (const Mechanism mechanism : {Mechanism::kDiscreteLaplace, Mechanism::kDiscreteGaussian}) {
    EXPECT_EQ(CombinationHalfWidth({mechanism, {1, 5000}}, values, 0.95, steps), std::nullopt);
    EXPECT_LT(HalfWidthBound({mechanism, {1, 5000}}, 3.25, 1, 0.95), 0.2);
  }
}

TEST(TailBound, IsNeverBelowTheConvolution) {
  for (const Combination& combination : Combinations()) {
    const double deviation = DeviationOf(combination);
    const double squares = std::pow(deviation / ForecastError(combination.noise).standard_deviation, 2);
    const std::vector<double> tails = ExactTails(combination, static_cast<int64_t>(16 * deviation) + 60);
    for (size_t w = 0; w < tails.size() && tails[w] > 1e-12; ++w) {
      const double bound =
          TailBound(combination.noise, squares, combination.values.front().weight, static_cast<double>(w));
      EXPECT_GE(bound, tails[w]) << WordsOf(combination) << " beyond " << w;
    }
    for (const double level : {0.5, 0.95, 0.999}) {
      const double width =
          HalfWidthBound(combination.noise, squares, combination.values.front().weight, level);
      EXPECT_GE(width, static_cast<double>(SmallestWidth(tails, level))) << WordsOf(combination);
    }
  }
}

TEST(TailBound, OfGaussianNoiseIsCloseToANormalLaw) {
  const NoiseSpec noise{Mechanism::kDiscreteGaussian, {2500, 1}};
  EXPECT_NEAR(HalfWidthBound(noise, 4, 1, 0.95), 1.959964 * 100, 1);
  EXPECT_NEAR(TailBound(noise, 4, 1, 500), std::erfc(5 / std::sqrt(2.0)), 1e-7);
}

// Of n Laplace values of scale b, the mean absolute value of the sum is b, 3/2 b, 15/8 b, ...
TEST(MeanAbsoluteValue, OfASumOfLaplaceValuesIsKnownInClosedForm) {
  const NoiseSpec noise{Mechanism::kDiscreteLaplace, {10'000, 1}};
  const auto mean = [&](std::vector<WeightedValues> values) { return MeanAbsoluteValue(noise, values); };
  EXPECT_NEAR(mean({{1, 1}}) / 10'000, 1, 1e-6);
  EXPECT_NEAR(mean({{1, 2}}) / 15'000, 1, 1e-6);
  EXPECT_NEAR(mean({{1, 3}}) / 18'750, 1, 1e-6);
  // The difference of squares: (2^3 - 1^3) / (2^2 - 1^2).
  EXPECT_NEAR(mean({{2, 1}, {1, 1}}) / 10'000 / (7.0 / 3), 1, 1e-6);
}

TEST(MeanAbsoluteValue, OfManyValuesIsThatOfANormalOne) {
  const std::vector<WeightedValues> values = {{3, 1000}, {1, 2000}};
  for (const Mechanism mechanism : {Mechanism::kDiscreteLaplace, Mechanism::kDiscreteGaussian}) {
    const NoiseSpec noise{mechanism, {10'000, 1}};
    const double one = mechanism == Mechanism::kDiscreteLaplace ? 2e8 : 1e4;
    EXPECT_NEAR(MeanAbsoluteValue(noise, values) / std::sqrt(one * 11'000 * 2 / std::numbers::pi), 1, 1e-3);
  }
}

TEST(Compacted, TakesEqualWeightsTogether) {
  EXPECT_EQ(Compacted({{-0.5, 2}, {0, 7}, {1, 1}, {0.5, 1}}),
            (std::vector<WeightedValues>{{1, 1}, {0.5, 3}}));
}

}  // namespace
}  // namespace curator::dp
