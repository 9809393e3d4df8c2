#include "dp/domain/attribute_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnionOf, ListsEachAttributeOnce) {
  EXPECT_THAT(Union(std::vector<AttributeSet>{{3, 5}, {1}, {3}}), ElementsAre(1, 3, 5));
  EXPECT_THAT(Union({3, 5}, {1, 3}), ElementsAre(1, 3, 5));
}

TEST(AttributeSet, HasIntersectionsDifferencesAndSubsets) {
  EXPECT_THAT(Intersection({0, 2, 4}, {2, 3, 4}), ElementsAre(2, 4));
  EXPECT_THAT(Difference({0, 2, 4}, {2, 3, 4}), ElementsAre(0));
  EXPECT_THAT(Difference({2}, {2}), IsEmpty());
  EXPECT_TRUE(IsSubset({2, 4}, {0, 2, 4}));
  EXPECT_TRUE(IsSubset({}, {}));
  EXPECT_FALSE(IsSubset({2, 5}, {0, 2, 4}));
}

TEST(AttributeSet, KnowsWhereAnAttributeStands) {
  EXPECT_EQ(PositionIn({3, 5, 9}, 9), 2U);
  EXPECT_EQ(PositionIn({3, 5, 9}, 4), std::nullopt);
  EXPECT_FALSE(Contains({3, 5, 9}, 10));
}

TEST(RowMajor, CodesAndStridesNumberEveryCellOnce) {
  const std::vector<int64_t> sizes = {3, 1, 4, 2};
  const std::vector<int64_t> strides = RowMajorStrides(sizes);
  EXPECT_THAT(strides, ElementsAre(8, 8, 2, 1));
  std::vector<uint32_t> codes(sizes.size());
  for (int64_t cell = 0; cell < 24; ++cell) {
    CodesOfCell(sizes, cell, codes);
    int64_t by_strides = 0;
    for (size_t i = 0; i < codes.size(); ++i) {
      ASSERT_LT(codes[i], sizes[i]);
      by_strides += codes[i] * strides[i];
    }
    EXPECT_EQ(by_strides, cell);
    EXPECT_EQ(CellOfCodes(sizes, codes), cell);
  }
}

TEST(RowMajor, StridesWithinASubsetSkipOtherAttributes) {
  EXPECT_THAT(StridesWithin({1, 4, 6}, std::vector<int64_t>{3, 5, 2}, {1, 6}), ElementsAre(2, 0, 1));
}

}  // namespace
}  // namespace curator::dp
