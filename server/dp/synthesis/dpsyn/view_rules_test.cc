#include "dp/synthesis/dpsyn/view_rules.h"

#include <gtest/gtest.h>

#include <vector>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

SelectionRule RuleFor(uint32_t attributes, double epsilon, double records) {
  const Domain domain = CodedDomain(std::vector<int64_t>(attributes, 2));
  AttributeSet all;
  std::vector<AttributeSet> pairs;
  for (uint32_t a = 0; a < attributes; ++a) {
    all.push_back(a);
    for (uint32_t b = a + 1; b < attributes; ++b) pairs.push_back({a, b});
  }
  return RuleOfSelections(domain, all, pairs, {.pure = true, .amount = epsilon}, records, 25);
}

TEST(RuleOfSelections, SelectsMorePairsForMoreMoneyAndLeavesLessToSingleAttributes) {
  const SelectionRule little = RuleFor(12, 0.1, 20'000);
  const SelectionRule more = RuleFor(12, 1, 20'000);
  EXPECT_GT(little.selections, 0);
  EXPECT_GT(more.selections, little.selections);
  EXPECT_LT(more.single_percent, little.single_percent);
}

TEST(RuleOfSelections, SelectsNoPairThatNoiseWouldHide) {
  EXPECT_EQ(RuleFor(12, 0.1, 100).selections, 0);
}

// A choice among thousands of pairs that costs next to nothing is as good as random.
TEST(RuleOfSelections, SelectsNoMoreOfManyPairsThanItCanTellApart) {
  EXPECT_LE(RuleFor(110, 1, 4000).selections, 4);
  EXPECT_GT(RuleFor(110, 1, 40'000).selections, 10);
  EXPECT_EQ(RuleFor(110, 1, 400).selections, 0);
}

TEST(MostPairNoise, IsLowerWhereEachAttributeDependsOnFewOfTheOthers) {
  EXPECT_EQ(MostPairNoise(2), MostPairNoise(14));
  EXPECT_LT(MostPairNoise(110), MostPairNoise(16));
}

}  // namespace
}  // namespace curator::dp
