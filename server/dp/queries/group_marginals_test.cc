#include "dp/queries/group_marginals.h"

#include <gtest/gtest.h>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

const Domain& Schools() {
  static const Domain domain = CodedDomain({2, 3, 10});
  return domain;
}

bool IsValid(const std::vector<GroupMarginal>& marginals) {
  return ValidateGroupMarginals(Schools(), marginals).ok();
}

TEST(GroupMarginals, HaveACellForEachValueAndEachBinOfTheMean) {
  EXPECT_EQ(CellsOf(Schools(), {{0, 1}, std::nullopt}), 6);
  EXPECT_EQ(CellsOf(Schools(), {{0, 1}, MeanBins{2, {0, 4, 6}}}), 18);
  EXPECT_EQ(CellsOf(Schools(), {{}, MeanBins{2, {0, 4, 6}}}), 3);
}

TEST(GroupMarginals, AreOfAttributesOrOfAMeanOrOfBoth) {
  EXPECT_TRUE(IsValid({{{0, 1}, std::nullopt}, {{}, MeanBins{2, {0}}}, {{1}, MeanBins{2, {0, 9, 20}}}}));
  EXPECT_FALSE(IsValid({}));
  EXPECT_FALSE(IsValid({{{}, std::nullopt}}));
  EXPECT_FALSE(IsValid({{{3}, std::nullopt}}));
  EXPECT_FALSE(IsValid({{{1, 0}, std::nullopt}}));
}

TEST(GroupMarginals, BinsOfAMeanRiseFromZero) {
  for (const std::vector<int64_t>& least :
       {std::vector<int64_t>{}, {1}, {-1, 0}, {0, 0}, {0, 5, 4}, std::vector<int64_t>(65, 0)})
    EXPECT_FALSE(IsValid({{{0}, MeanBins{2, least}}}));
  EXPECT_FALSE(IsValid({{{0}, MeanBins{3, {0}}}}));
}

TEST(GroupMarginals, TooManyCellsAreRefusedAlsoTogether) {
  const Domain wide = CodedDomain({1 << 16, 1 << 10, 1 << 12});
  const auto is_valid = [&](std::vector<GroupMarginal> marginals) {
    return ValidateGroupMarginals(wide, marginals).ok();
  };
  EXPECT_TRUE(is_valid({{{0, 1}, std::nullopt}}));
  EXPECT_FALSE(is_valid({{{0, 1}, MeanBins{2, {0, 1}}}}));
  EXPECT_FALSE(is_valid({{{0, 1}, std::nullopt}, {{0}, std::nullopt}}));
  EXPECT_FALSE(is_valid({{{0, 1, 2}, std::nullopt}}));
}

}  // namespace
}  // namespace curator::dp
