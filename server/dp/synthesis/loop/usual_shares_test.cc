#include "dp/synthesis/loop/usual_shares.h"

#include <gtest/gtest.h>

namespace curator::dp {
namespace {

LoopFacts FactsFor(double attributes, const BudgetShare& budget) {
  return {.records = 20'000,
          .attributes = attributes,
          .mean_size = 2,
          .candidate_cells = 8,
          .candidates = 5000,
          .budget = budget};
}

constexpr int64_t kOne = 1'000'000'000'000;
constexpr BudgetShare kPure = {.is_pure = true, .units = kOne};
constexpr BudgetShare kRhoOfTheSame = {.is_pure = false, .units = kOne / 2};

// Their epsilons add up, so noise grows with their number instead of its root.
TEST(UsualMeasurements, AreFewerUnderAPureBudget) {
  EXPECT_LT(UsualMeasurements(FactsFor(16, kPure)), UsualMeasurements(FactsFor(16, kRhoOfTheSame)) / 2);
}

TEST(UsualMeasurements, AreMoreOfMoreMoney) {
  BudgetShare tenth = kPure;
  tenth.units /= 10;
  EXPECT_LT(UsualMeasurements(FactsFor(16, tenth)), UsualMeasurements(FactsFor(16, kPure)));
}

TEST(UsualOneWayPercent, IsMostOfAPureBudgetWhereAttributesOutnumberTheMeasurementsByFar) {
  EXPECT_LT(UsualOneWayPercent(FactsFor(16, kPure)), 20);
  EXPECT_GT(UsualOneWayPercent(FactsFor(110, kPure)), 50);
}

TEST(UsualOneWayPercent, IsAllWithoutCandidates) {
  LoopFacts facts = FactsFor(16, kPure);
  facts.candidates = 0;
  EXPECT_EQ(UsualOneWayPercent(facts), 99);
}

}  // namespace
}  // namespace curator::dp
