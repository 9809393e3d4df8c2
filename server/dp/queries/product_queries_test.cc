#include "dp/queries/product_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;

const Domain& Products() {
  static const Domain domain = CodedDomain({2, 3, 4});
  return domain;
}

// Two queries over an attribute of three codes.
AxisQueries Weighted() {
  return {.weights = {5, -3, -2, 1, 1, -2}};
}

ProductQueries Of(std::vector<ProductGroup> groups) {
  return {.axes = {{}, Weighted()}, .groups = std::move(groups)};
}

TEST(AxisQueries, HelmertContrastsHaveTheSumOfTheirSquaredWeightsAsFactors) {
  EXPECT_EQ(NumberOfQueries(AxisQueries(), 4), 3);
  EXPECT_THAT(VarianceFactors(AxisQueries(), 4), ElementsAre(2, 6, 12));
  EXPECT_EQ(NumberOfQueries(Weighted(), 3), 2);
  EXPECT_THAT(VarianceFactors(Weighted(), 3), ElementsAre(1, 1));
  EXPECT_THAT(VarianceFactors(AxisQueries{.weights = {5, -3, -2}, .variance_factor = 9}, 3), ElementsAre(9));
}

TEST(ProductQueries, AreProductsOfQueriesOverEachAttribute) {
  const ProductQueries queries = Of({{{}, {}}, {{2}, {0}}, {{1}, {1}}, {{0, 1}, {0, 1}}});
  ASSERT_TRUE(ValidateProducts(Products(), queries).ok());
  const auto answers = [&](size_t group, const std::vector<int64_t>& counts) {
    const std::vector<int64_t> found = AnswersFromCounts(Products(), queries, queries.groups[group], counts);
    EXPECT_EQ(found.size(), NumberOfQueries(Products(), queries, queries.groups[group]));
    return found;
  };
  EXPECT_THAT(answers(0, {17}), ElementsAre(17));
  EXPECT_THAT(answers(1, {1, 10, 100, 1000}), ElementsAre(1 - 10, 1 + 10 - 200, 111 - 3000));
  EXPECT_THAT(answers(2, {1, 10, 100}), ElementsAre(5 - 30 - 200, 1 + 10 - 200));
  EXPECT_THAT(answers(3, {1, 10, 100, 0, 0, 0}), ElementsAre(5 - 30 - 200, 1 + 10 - 200));
  EXPECT_THAT(answers(3, {0, 0, 0, 1, 10, 100}), ElementsAre(-(5 - 30 - 200), -(1 + 10 - 200)));
}

TEST(ProductQueries, OfThreeAttributesRunOverTheLastOneFastest) {
  const ProductQueries queries = Of({{{0, 1, 2}, {0, 1, 0}}});
  std::vector<int64_t> counts(24);
  counts[1 * 12 + 2 * 4 + 3] = 1;  // codes 1, 2 and 3
  EXPECT_THAT(AnswersFromCounts(Products(), queries, queries.groups[0], counts),
              ElementsAre(0, 0, -1 * -2 * -3, 0, 0, -1 * -2 * -3));
}

TEST(ProductQueries, AreMultipliedByTheMultiplierOfTheirGroup) {
  const ProductQueries queries = Of({{{}, {}, 5}, {{0}, {0}, 4}});
  EXPECT_THAT(AnswersFromCounts(Products(), queries, queries.groups[0], std::vector<int64_t>{17}),
              ElementsAre(85));
  EXPECT_THAT(AnswersFromCounts(Products(), queries, queries.groups[1], std::vector<int64_t>{10, 3}),
              ElementsAre(28));
  EXPECT_THAT(VarianceFactors(Products(), queries, queries.groups[1]),
              ElementsAre(ElementsAre(2), ElementsAre(16)));
}

TEST(ProductQueries, MalformedOnesAreRefused) {
  const auto is_valid = [](const ProductQueries& queries) {
    return ValidateProducts(Products(), queries).ok();
  };
  EXPECT_TRUE(is_valid(Of({{{0, 1}, {0, 1}}})));
  EXPECT_FALSE(is_valid(Of({}))) << "no group";
  EXPECT_FALSE(is_valid(Of({{{1, 0}, {0, 0}}}))) << "attributes that do not rise";
  EXPECT_FALSE(is_valid(Of({{{3}, {0}}}))) << "no attribute of the domain";
  EXPECT_FALSE(is_valid(Of({{{0, 1}, {0}}}))) << "an attribute without queries";
  EXPECT_FALSE(is_valid(Of({{{0}, {2}}}))) << "no axis";
  EXPECT_FALSE(is_valid(Of({{{2}, {1}}}))) << "weights of another number of codes";
  EXPECT_FALSE(is_valid(Of({{{0}, {0}}, {{0}, {0}}}))) << "the same attributes twice";
  EXPECT_FALSE(is_valid(Of({{{0}, {0}, 0}}))) << "no positive multiplier";
  ProductQueries without_noise = Of({{{1}, {1}}});
  without_noise.axes[1].variance_factor = 0;
  EXPECT_FALSE(is_valid(without_noise));
  const Domain constant = CodedDomain({1, 2});
  EXPECT_FALSE(ValidateProducts(constant, {.axes = {{}}, .groups = {{{0}, {0}}}}).ok()) << "one code";
  const Domain many = CodedDomain(std::vector<int64_t>(9, 2));
  EXPECT_FALSE(
      ValidateProducts(many,
                       {.axes = {{}}, .groups = {{{0, 1, 2, 3, 4, 5, 6, 7, 8}, std::vector<uint32_t>(9, 0)}}})
          .ok());
}

TEST(ProductQueries, OfTooLargeWeightsAreRefused) {
  const auto is_valid = [](int32_t first, int32_t second, int64_t multiplier = 1) {
    const ProductQueries queries{.axes = {{.weights = {first, -first}}, {.weights = {second, 0, -second}}},
                                 .groups = {{{0, 1}, {0, 1}, multiplier}}};
    return ValidateProducts(Products(), queries).ok();
  };
  EXPECT_TRUE(is_valid(1 << 20, 1 << 10));
  EXPECT_FALSE(is_valid(1 << 20, (1 << 10) + 1));
  EXPECT_FALSE(is_valid((1 << 20) + 1, 1));
  EXPECT_TRUE(is_valid(1 << 10, 1 << 10, 1 << 10));
  EXPECT_FALSE(is_valid(1 << 10, 1 << 10, (1 << 10) + 1));
}

}  // namespace
}  // namespace curator::dp
