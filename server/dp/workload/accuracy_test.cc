#include "dp/workload/accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dp/noise/testing/drawn_noise.h"
#include "dp/queries/testing/all_intervals.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/testing/simultaneous_tail.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

const NoiseSpec kLaplace{Mechanism::kDiscreteLaplace, {20, 1}};
const NoiseSpec kGaussian{Mechanism::kDiscreteGaussian, {900, 1}};

AnswerError SumOf(int64_t terms) {
  return {.variance_factor = static_cast<double>(terms), .terms = terms};
}

TEST(SimultaneousError, OfOneAnswerIsItsInterval) {
  for (const NoiseSpec& noise : {kLaplace, kGaussian}) {
    EXPECT_EQ(SimultaneousError(noise, {{SumOf(1), 1}}, 0.95).value(),
              HalfWidthOf(noise, SumOf(1), 0.95).value());
  }
}

TEST(SimultaneousError, GrowsWithTheAnswersAndIsTheSmallest) {
  for (const NoiseSpec& noise : {kLaplace, kGaussian}) {
    const ErrorClasses classes = {{SumOf(1), 1000}, {SumOf(12), 30}};
    const double error = SimultaneousError(noise, classes, 0.9).value();
    EXPECT_GT(error, HalfWidthOf(noise, SumOf(12), 0.9).value());
    EXPECT_LE(SimultaneousTail(noise, classes, error), 0.1 * (1 + 1e-9));
    EXPECT_GT(SimultaneousTail(noise, classes, error - 1), 0.1 * (1 - 1e-9));
  }
}

// A class of less variance may have a larger weight in it, and so a longer tail.
TEST(ExceedsTail, CountsALongerTailOfLessVariance) {
  const AnswerError wide{.variance_factor = 10, .terms = 0, .fourth_factor = 0.5};
  const AnswerError peaked{.variance_factor = 9, .terms = 0, .fourth_factor = 60};
  const ErrorClasses classes = {{peaked, 1'000'000}, {wide, 1}};
  for (const double max_error : {1100.0, 1600.0, 2400.0}) {
    const double tail = SimultaneousTail(kLaplace, classes, max_error);
    ASSERT_LT(tail, 1);
    EXPECT_TRUE(ExceedsTail(kLaplace, classes, max_error, tail * (1 - 1e-5))) << max_error;
    EXPECT_FALSE(ExceedsTail(kLaplace, classes, max_error, tail * (1 + 1e-5))) << max_error;
  }
}

// By drawn noise: how often all 528 intervals of a tree of 32 bins are within the error at once.
TEST(SimultaneousError, OfATreeIsKeptByAllOfItsAnswersTogether) {
  constexpr int kDraws = 10'000;
  const IntervalTree tree(32, 2);
  const QueryGroup all{{0}, AllIntervals(32)};
  const ErrorClasses classes = Classified(TreeErrors(tree, all));
  for (const NoiseSpec& noise : {kLaplace, kGaussian}) {
    const double error = SimultaneousError(noise, classes, 0.9).value();
    seeded::SeededBits bits(3);
    std::vector<int64_t> values(static_cast<size_t>(tree.nodes()));
    int kept = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      FillWithNoise(noise, bits, values);
      double sum = 0;  // of the bins before
      double least = 0;
      double most = 0;
      for (const double bin : tree.EstimateBins(values)) {
        sum += bin;
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
      kept += most - least <= error ? 1 : 0;
    }
    EXPECT_GE(kept, 0.9 * kDraws);
    // Chernoff's bound for any weights has 7.0 deviations of the widest answer for Laplace noise.
    const double deviations = error / MeanDeviation(noise, {classes.back()});
    EXPECT_LE(deviations, noise.mechanism == Mechanism::kDiscreteLaplace ? 5.3 : 3.2);
  }
}

TEST(Merged, NeverMakesAnErrorSmaller) {
  std::vector<AnswerError> errors;
  for (int64_t terms = 1; terms <= 5000; ++terms) errors.push_back(SumOf(terms));
  const ErrorClasses merged = Classified(errors);
  EXPECT_LE(merged.size(), kMostErrorClasses);
  int64_t answers = 0;
  double variance = 0;
  for (const ErrorClass& each : merged) {
    answers += each.answers;
    variance += each.error.variance_factor * static_cast<double>(each.answers);
  }
  EXPECT_EQ(answers, 5000);
  EXPECT_GE(variance, 5000.0 * 5001 / 2);
  EXPECT_LE(variance, 5000.0 * 5001 / 2 * 1.3);
}

TEST(MeanDeviation, IsThatOfAllAnswersHoweverTheyWereMerged) {
  std::vector<AnswerError> errors;
  for (int64_t terms = 1; terms <= 5000; ++terms) errors.push_back(SumOf(terms));
  ErrorClasses merged = Merged(Classified(errors));
  EXPECT_NEAR(std::pow(MeanDeviation(GaussianErrors{.variance = 1}, merged), 2), 2500.5, 1e-6);
  merged.push_back({SumOf(10'000), 5000});
  EXPECT_NEAR(std::pow(MeanDeviation(GaussianErrors{.variance = 1}, Merged(merged)), 2), 6250.25, 1e-6);
}

TEST(SimultaneousError, OfRealAnswersIsNoWholeNumber) {
  const GaussianErrors noise{.variance = 9};
  const double error = SimultaneousError(noise, {{{}, 1}}, 0.95).value();
  EXPECT_NEAR(error, 1.96 * 3, 0.02);
  EXPECT_FALSE(ExceedsTail(noise, {{{}, 1}}, error, 0.05));
  EXPECT_TRUE(ExceedsTail(noise, {{{}, 1}}, error * (1 - 1e-5), 0.05));
}

}  // namespace
}  // namespace curator::dp
