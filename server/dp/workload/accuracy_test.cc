#include "dp/workload/accuracy.h"

#include <gtest/gtest.h>

#include "dp/workload/testing/simultaneous_tail.h"

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

}  // namespace
}  // namespace curator::dp
