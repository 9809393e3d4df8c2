#include "dp/workload/half_widths.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "base/errors.h"
#include "dp/noise/testing/drawn_noise.h"
#include "dp/queries/testing/all_intervals.h"
#include "dp/workload/noise_sum.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr std::array<double, 3> kLevels = {0.8, 0.95, 0.99};
const NoiseSpec kLaplaceNoise{Mechanism::kDiscreteLaplace, {6, 1}};
const NoiseSpec kGaussianNoise{Mechanism::kDiscreteGaussian, {36, 1}};

std::vector<AnswerError> ErrorsOfAll(const IntervalTree& tree) {
  return TreeErrors(tree, {{0}, AllIntervals(tree.bins())});
}

// The share of all intervals' estimates, over many draws of the noise, that lie within their half widths.
double CoverageOf(const NoiseSpec& noise, const IntervalTree& tree, const std::vector<AnswerError>& errors,
                  const std::vector<double>& widths, int draws, uint64_t seed) {
  seeded::SeededBits bits(seed);
  std::vector<int64_t> values(static_cast<size_t>(tree.nodes()));
  int64_t held = 0;
  for (int draw = 0; draw < draws; ++draw) {
    FillWithNoise(noise, bits, values);
    std::vector<double> below = {0};
    for (const double bin : tree.EstimateBins(values)) below.push_back(below.back() + bin);
    for (size_t i = 0; i < errors.size(); ++i) {
      const CodeInterval interval = errors[i].interval;
      held += std::abs(below[interval.last + 1] - below[interval.first]) <= widths[i] ? 1 : 0;
    }
  }
  return static_cast<double>(held) / draws / static_cast<double>(errors.size());
}

std::vector<double> WidthsOf(const NoiseSpec& noise, const IntervalTree& tree,
                             const std::vector<AnswerError>& errors, double level) {
  HalfWidths half_widths(noise, level);
  std::vector<double> widths;
  for (const AnswerError& error : errors) widths.push_back(half_widths.Of(error, WeightsIn(tree)).value());
  return widths;
}

// Issue: at 95%, within 0.3 percentage points for Gaussian noise and 0.5 for Laplace noise.
bool IsCovered(const NoiseSpec& noise, double level, double coverage) {
  const double spare = noise.mechanism == Mechanism::kDiscreteLaplace ? 0.005 : 0.003;
  constexpr double kChance = 0.0015;  // four standard deviations of the draws below, measured over seeds
  return coverage >= level - kChance && coverage <= level + spare + kChance;
}

// 2,080 intervals of 64 bins: some from their own distribution, others scaled.
TEST(HalfWidths, OfATreesEstimatesHoldTheirLevelAndHardlyMore) {
  const IntervalTree tree(64, 2);
  const std::vector<AnswerError> errors = ErrorsOfAll(tree);
  for (const NoiseSpec& noise : {kLaplaceNoise, kGaussianNoise}) {
    for (const double level : kLevels) {
      const std::vector<double> widths = WidthsOf(noise, tree, errors, level);
      const double coverage = CoverageOf(noise, tree, errors, widths, 10'000, 7);
      EXPECT_TRUE(IsCovered(noise, level, coverage)) << MechanismName(noise.mechanism) << " " << coverage;
    }
  }
}

TEST(HalfWidthsCanary, SomewhatWiderOrNarrowerIntervalsAreCaught) {
  const IntervalTree tree(64, 2);
  const std::vector<AnswerError> errors = ErrorsOfAll(tree);
  for (const NoiseSpec& noise : {kLaplaceNoise, kGaussianNoise}) {
    for (const double factor : {0.96, 1.06}) {
      std::vector<double> widths = WidthsOf(noise, tree, errors, 0.95);
      for (double& width : widths) width *= factor;
      EXPECT_FALSE(IsCovered(noise, 0.95, CoverageOf(noise, tree, errors, widths, 10'000, 7))) << factor;
    }
  }
}

// Those that are scaled are compared with those of the own distribution, one by one.
TEST(HalfWidths, OfManyEstimatesAreNotNarrowerThanTheirOwn) {
  for (const auto& [bins, branching] : {std::pair<int64_t, int64_t>{1000, 2}, {4096, 8}, {1 << 20, 32}}) {
    const IntervalTree tree(bins, branching);
    std::mt19937_64 random(5);
    std::vector<CodeInterval> sides;
    for (int i = 0; i < 3000; ++i) {
      auto first = static_cast<uint32_t>(random() % static_cast<uint64_t>(bins));
      auto last = static_cast<uint32_t>(random() % static_cast<uint64_t>(bins));
      if (first > last) std::swap(first, last);
      sides.push_back({first, i % 3 == 0 ? std::min(last, first + 5) : last});
    }
    const std::vector<AnswerError> errors = TreeErrors(tree, {{0}, Boxes{sides}});
    for (const NoiseSpec& noise : {NoiseSpec{Mechanism::kDiscreteLaplace, {1, 1}}, kLaplaceNoise,
                                   NoiseSpec{Mechanism::kDiscreteGaussian, {2, 1}}, kGaussianNoise}) {
      for (const double level : kLevels) {
        const std::vector<double> widths = WidthsOf(noise, tree, errors, level);
        for (size_t i = errors.size() - 100; i < errors.size(); ++i) {
          int64_t steps = HalfWidths::kMostSteps;
          const double own =
              CombinationHalfWidth(noise, tree.WeightsOf(errors[i].interval), level, steps).value();
          const double blur =
              0.004 * std::sqrt(errors[i].variance_factor) * ForecastError(noise).standard_deviation;
          EXPECT_GE(widths[i], own - 0.9 * blur) << bins << " " << level;
          EXPECT_LE(widths[i], own * 1.012) << bins << " " << level;
        }
      }
    }
  }
}

// What is scaled is no proof, but of much Gaussian noise all half widths are proved.
TEST(HalfWidths, OfManyEstimatesAreTheBoundWhereItIsHardlyWider) {
  const IntervalTree tree(4096, 8);
  Boxes prefixes;
  for (uint32_t last = 0; last < 2000; ++last) prefixes.sides.push_back({0, last});
  const std::vector<AnswerError> errors = TreeErrors(tree, {{0}, prefixes});
  const NoiseSpec noise{Mechanism::kDiscreteGaussian, {10'000, 1}};
  const std::vector<double> widths = WidthsOf(noise, tree, errors, 0.95);
  for (size_t i = 1900; i < errors.size(); ++i) {
    const double bound = HalfWidthOf(noise, errors[i], 0.95).value();
    EXPECT_NEAR(widths[i], bound, bound * 1e-6) << i;
  }
}

TEST(HalfWidths, OfSumsAreExactAndThenFromBothSidesOfAGrid) {
  HalfWidths half_widths(kLaplaceNoise, 0.8);
  for (int64_t terms = 1; terms <= 5000; terms += terms < 600 ? 1 : 97) {
    const auto exact = static_cast<double>(SumConfidenceHalfWidth(kLaplaceNoise, terms, 0.8).value());
    const double width = half_widths.Of({.variance_factor = 1, .terms = terms}, nullptr).value();
    EXPECT_GE(width, exact) << terms;
    EXPECT_LE(width, terms <= 512 ? exact : exact * 1.001 + 2) << terms;
  }
}

TEST(HalfWidths, WithoutItsTreeAnEstimateHasABound) {
  const IntervalTree tree(64, 2);
  const AnswerError error = ErrorsOfAll(tree)[70];
  HalfWidths half_widths(kLaplaceNoise, 0.95);
  const double bound = half_widths.Of(error, nullptr).value();
  EXPECT_EQ(bound, HalfWidthOf(kLaplaceNoise, error, 0.95).value());
  EXPECT_LT(half_widths.Of(error, WeightsIn(tree)).value(), 0.8 * bound);
}

TEST(HalfWidths, ALevelThatIsNoProbabilityIsRefused) {
  for (const double level : {0.0, 1.0, -1.0, std::nan("")}) {
    HalfWidths half_widths(kLaplaceNoise, level);
    EXPECT_EQ(FieldViolationOf(half_widths.Of({}, nullptr).status())->field, "confidence_level");
  }
}

}  // namespace
}  // namespace curator::dp
