#include "dp/queries/marginals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string FieldOf(const absl::Status& status) {
  const auto violation = FieldViolationOf(status);
  return violation ? violation->field : status.ToString();
}

TEST(AllKWayMarginals, ListsEverySubsetOnceInOrder) {
  const Domain domain = CodedDomain({2, 3, 4, 5});
  EXPECT_THAT(AllKWayMarginals(domain, 2, {}).value(),
              ElementsAre(AttributeSet{0, 1}, AttributeSet{0, 2}, AttributeSet{0, 3}, AttributeSet{1, 2},
                          AttributeSet{1, 3}, AttributeSet{2, 3}));
  EXPECT_EQ(AllKWayMarginals(CodedDomain(std::vector<int64_t>(16, 2)), 3, {})->size(), 560u);
  EXPECT_THAT(AllKWayMarginals(domain, 4, {}).value(), ElementsAre(AttributeSet{0, 1, 2, 3}));
}

TEST(AllKWayMarginals, KeepsToTheChosenAttributesInAnyOrder) {
  const std::vector<uint32_t> chosen = {3, 0, 2};
  EXPECT_THAT(AllKWayMarginals(CodedDomain({2, 3, 4, 5}), 2, chosen).value(),
              ElementsAre(AttributeSet{0, 2}, AttributeSet{0, 3}, AttributeSet{2, 3}));
}

TEST(AllKWayMarginals, RefusesImpossibleOrders) {
  const Domain domain = CodedDomain({2, 3});
  for (const int k : {-1, 0, 3, 1000})
    EXPECT_EQ(FieldOf(AllKWayMarginals(domain, k, {}).status()), "workload.k") << k;
}

TEST(AllKWayMarginals, RefusesUnknownAndRepeatedAttributes) {
  const Domain domain = CodedDomain({2, 3});
  EXPECT_EQ(FieldOf(AllKWayMarginals(domain, 1, std::vector<uint32_t>{0, 2}).status()),
            "workload.attributes");
  EXPECT_EQ(FieldOf(AllKWayMarginals(domain, 1, std::vector<uint32_t>{1, 1}).status()),
            "workload.attributes");
}

TEST(KWayMarginalsUpTo, LeavesOutThoseThatAreLargerAndCountsThem) {
  const Domain domain = CodedDomain({2, 3, 4, 5});
  const KWayMarginals kept = KWayMarginalsUpTo(domain, 2, {}, 10).value();
  EXPECT_THAT(kept.sets, ElementsAre(AttributeSet{0, 1}, AttributeSet{0, 2}, AttributeSet{0, 3}));
  EXPECT_EQ(kept.left_out, 3);
  const KWayMarginals all = KWayMarginalsUpTo(domain, 2, {}, 20).value();
  EXPECT_EQ(all.sets, AllKWayMarginals(domain, 2, {}).value());
  EXPECT_EQ(all.left_out, 0);
}

TEST(KWayMarginalsUpTo, CountsOnlyTheCellsThatItKeepsAgainstTheLimit) {
  constexpr int64_t kLarge = int64_t{1} << 24;
  const Domain domain = CodedDomain({2, 3, 4, kLarge, kLarge, kLarge});
  EXPECT_EQ(FieldOf(AllKWayMarginals(domain, 3, {}).status()), "workload");
  const KWayMarginals kept = KWayMarginalsUpTo(domain, 3, {}, 1000).value();
  EXPECT_THAT(kept.sets, ElementsAre(AttributeSet{0, 1, 2}));
  EXPECT_EQ(kept.left_out, 19) << "also those whose cells are more than are counted";
}

TEST(KWayMarginalsUpTo, NamesTheSmallestSizeWhenItLeavesNothing) {
  const absl::Status refused = KWayMarginalsUpTo(CodedDomain({5, 3, 4}), 2, {}, 11).status();
  EXPECT_EQ(FieldOf(refused), "workload.max_cells");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the smallest has 12 cells"));
  EXPECT_EQ(FieldOf(KWayMarginalsUpTo(CodedDomain({2, 3}), 1, {}, 0).status()), "workload.max_cells");
  EXPECT_EQ(FieldOf(KWayMarginalsUpTo(CodedDomain({2, 3}), 3, {}, 9).status()), "workload.k");
}

TEST(AllKWayMarginals, RefusesTooManyBeforeListingThem) {
  const Domain wide = CodedDomain(std::vector<int64_t>(1000, 2));
  const absl::Status refused = AllKWayMarginals(wide, 500, {}).status();
  EXPECT_EQ(FieldOf(refused), "workload");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("100000"));
}

TEST(AllKWayMarginals, RefusesTooManyCellsWithTheNumbers) {
  const absl::Status refused = AllKWayMarginals(CodedDomain({100'000, 1000}), 2, {}).status();
  EXPECT_EQ(FieldOf(refused), "workload");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("100000000"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("67108864"));
}

TEST(ValidateMarginals, RefusesMalformedSets) {
  const Domain domain = CodedDomain({2, 3, 4});
  EXPECT_TRUE(ValidateMarginals(domain, std::vector<AttributeSet>{{0, 2}, {1}}).ok());
  EXPECT_EQ(FieldOf(ValidateMarginals(domain, std::vector<AttributeSet>{})), "workload");
  EXPECT_EQ(FieldOf(ValidateMarginals(domain, std::vector<AttributeSet>{{0}, {}})), "workload.marginals[1]");
  EXPECT_EQ(FieldOf(ValidateMarginals(domain, std::vector<AttributeSet>{{1, 0}})), "workload.marginals[0]");
  EXPECT_EQ(FieldOf(ValidateMarginals(domain, std::vector<AttributeSet>{{0, 0}})), "workload.marginals[0]");
  EXPECT_EQ(FieldOf(ValidateMarginals(domain, std::vector<AttributeSet>{{0, 3}})), "workload.marginals[0]");
  EXPECT_EQ(FieldOf(ValidateMarginals(domain, std::vector<AttributeSet>{{0, 1}, {1}, {0, 1}})),
            "workload.marginals[2]");
}

TEST(TotalCells, RefusesAProductBeyondAllIntegers) {
  const Domain huge = CodedDomain(std::vector<int64_t>(10, 1 << 20));
  AttributeSet all;
  for (uint32_t i = 0; i < 10; ++i) all.push_back(i);
  EXPECT_EQ(FieldOf(TotalCells(huge, std::vector<AttributeSet>{all}).status()), "workload");
}

}  // namespace
}  // namespace curator::dp
