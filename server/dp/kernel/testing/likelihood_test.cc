#include "dp/kernel/testing/likelihood.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/noise/noise_spec.h"
#include "dp/noise/testing/log_probability.h"

namespace curator::dp {
namespace {

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};

// True when `value` is a narrow enclosure of a number within 1e-9 of `expected`.
bool Encloses(const Interval& value, double expected) {
  const double tolerance = 1e-9 * (1 + std::abs(expected));
  return value.Upper() - value.Lower() <= 1e-12 * (1 + std::abs(expected)) &&
         std::abs(value.Lower() - expected) <= tolerance;
}

TEST(NoiseLogProbability, IsThatOfTheDistributionsOnBothSidesOfEverySeries) {
  for (const Rational parameter :
       {Rational{1, 20}, Rational{1, 8}, Rational{1, 7}, Rational{1, 6}, Rational{1, 1}, Rational{5, 2},
        Rational{1'000'000, 1}, Rational{1'000'000'000'000, 7}}) {
    for (const int64_t noise : {0, 1, -1, 5, -40}) {
      const NoiseSpec laplace{Mechanism::kDiscreteLaplace, parameter};
      const NoiseSpec gaussian{Mechanism::kDiscreteGaussian, parameter};
      EXPECT_TRUE(Encloses(NoiseLogProbability(laplace, 7 + noise, 7),
                           DiscreteLaplaceLogProbability(parameter, noise)));
      EXPECT_TRUE(Encloses(NoiseLogProbability(gaussian, 7 + noise, 7),
                           DiscreteGaussianLogProbability(parameter, noise)));
    }
  }
}

// Both series are exact, so what is summed over all values is 1 to the last digits of the precision.
TEST(NoiseLogProbability, SumsToOne) {
  for (const Mechanism mechanism : {Mechanism::kDiscreteLaplace, Mechanism::kDiscreteGaussian}) {
    for (const Rational parameter : {Rational{1, 9}, Rational{3, 2}}) {
      Interval sum(0);
      for (int64_t x = -400; x <= 400; ++x)
        sum = sum + Exp(NoiseLogProbability({mechanism, parameter}, x, 0));
      EXPECT_TRUE(Encloses(sum, 1));
      EXPECT_TRUE(sum.CertainlyAtMost(Interval(1) + Interval::Of(Rational{1, int64_t{1} << 62})));
    }
  }
}

TEST(SelectionLogProbability, IsThatOfTheExponentialMechanismWhateverTheGap) {
  const std::vector<int64_t> scores = {0, 4, 4};
  const double all = 1 + 2 * std::exp(2.0);
  EXPECT_TRUE(Encloses(SelectionLogProbability(scores, {1, 2}, 0), -std::log(all)));
  EXPECT_TRUE(Encloses(SelectionLogProbability(scores, {1, 2}, 2), 2 - std::log(all)));
  const std::vector<int64_t> far = {-(int64_t{1} << 61), int64_t{1} << 61};
  EXPECT_TRUE(Encloses(SelectionLogProbability(far, {1, 1}, 0), -std::pow(2.0, 62)));
  EXPECT_TRUE(Encloses(SelectionLogProbability(far, {1, 1}, 1), 0));
}

TEST(LogProbability, OfATranscriptIsTheSumOverItsDrawsAndTheirCells) {
  const Domain domain = CodedDomain({2, 3});
  const SealedTableHandle table = SealRows(domain, {{0, 2}, {0, 2}, {1, 0}}).value();
  const NoiseSpec laplace{Mechanism::kDiscreteLaplace, {3, 2}};
  const NoiseSpec gaussian{Mechanism::kDiscreteGaussian, {9, 4}};
  const Epsilon epsilon(kEpsilonUnitsPerOne);
  const Transcript transcript = {
      CountsDraw{{{0}, {1}}, laplace, {{5, -1}, {0, 0, 9}}}, RecordCountDraw{gaussian, -2},
      FamilySelectionDraw{
          {{{{0}, EveryCell{}}, {2, 1}}, {{{1}, EveryCell{}}, {1, 1, 1}, 0.5}}, epsilon, {1, 0}}};
  double expected = DiscreteGaussianLogProbability({9, 4}, -5);
  for (const int64_t noise : {3, -2, -1, 0, 7}) expected += DiscreteLaplaceLogProbability({3, 2}, noise);
  expected += 0.75 - std::log(1 + std::exp(0.75));  // scores 0 and 2 - 0.5, times epsilon / 2
  EXPECT_TRUE(Encloses(LogProbability(transcript, *table, domain, kRecord).value(), expected));
}

TEST(LogProbability, RefusesWhatTheKernelCannotHaveDrawn) {
  const Domain domain = CodedDomain({2, 3});
  const SealedTableHandle table = SealRows(domain, {}).value();
  const NoiseSpec noise{Mechanism::kDiscreteLaplace, {1, 1}};
  const Epsilon epsilon(kEpsilonUnitsPerOne);
  const QueryGroup marginal{{0}, EveryCell{}};
  const std::vector<Draw> impossible = {
      CountsDraw{{{0}}, noise, {}},
      CountsDraw{{{0}}, noise, {{1, 2, 3}}},
      CountsDraw{{{7}}, noise, {{1, 2}}},
      CountsDraw{{{0}}, {Mechanism::kDiscreteLaplace, {0, 1}}, {{1, 2}}},
      FamilySelectionDraw{{{marginal, {2, 1}}}, epsilon, {1, 0}},
      FamilySelectionDraw{{{marginal, {2}}}, epsilon, {0, 0}},
      QueriesDraw{{marginal}, noise, {}},
      QueriesDraw{{marginal}, noise, {{1, 2, 3}}},
      FamilySelectionDraw{{{marginal, {2, 1}}}, Epsilon(0), {0, 0}},
      FamilySelectionDraw{{{marginal, {2, 1}}}, epsilon, {0, 1}},
      UtilityDraw{CellFrequency{{0}, 1}, {}, epsilon, 2},
      UtilityDraw{CellFrequency{{0}, 1}, {}, Epsilon(0), 0},
  };
  for (size_t i = 0; i < impossible.size(); ++i) {
    EXPECT_EQ(LogProbability(impossible[i], *table, domain, kRecord).status().code(),
              absl::StatusCode::kInvalidArgument)
        << i;
  }
}

}  // namespace
}  // namespace curator::dp
