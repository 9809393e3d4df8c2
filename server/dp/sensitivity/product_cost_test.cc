// The cost of products of queries: held against the largest move of all neighbours of small tables, in exact
// arithmetic.
#include "dp/sensitivity/product_cost.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

constexpr UnitBound kAdded{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};

// The squared norm of a move of all answers, each divided by the parameter of its noise, over 2: the rho of
// the discrete Gaussian mechanism for two tables that differ by `moved` in the cells of the whole domain.
mpq_class RhoOf(const Domain& domain, const ProductQueries& queries, const std::vector<Rational>& noise,
                const std::vector<int64_t>& moved) {
  mpq_class rho = 0;
  for (size_t g = 0; g < queries.groups.size(); ++g) {
    const ProductGroup& group = queries.groups[g];
    std::vector<int64_t> counts(static_cast<size_t>(domain.CellCount(group.attributes).value()));
    for (size_t cell = 0; cell < moved.size(); ++cell) {
      size_t rest = cell;
      std::vector<size_t> codes(domain.attributes().size());
      for (size_t a = codes.size(); a-- > 0;) {
        const auto size = static_cast<size_t>(domain.attributes()[a].size());
        codes[a] = rest % size;
        rest /= size;
      }
      size_t place = 0;
      for (const uint32_t a : group.attributes)
        place = place * static_cast<size_t>(domain.attributes()[a].size()) + codes[a];
      counts[place] += moved[cell];
    }
    std::vector<int64_t> factors = {1};
    for (const std::vector<int64_t>& axis : VarianceFactors(domain, queries, group)) {
      std::vector<int64_t> longer;
      for (const int64_t factor : factors) {
        for (const int64_t own : axis) longer.push_back(factor * own);
      }
      factors = longer;
    }
    const std::vector<int64_t> answers = AnswersFromCounts(domain, queries, group, counts);
    for (size_t r = 0; r < answers.size(); ++r) {
      const mpq_class parameter = mpq_class(noise[g].numerator, noise[g].denominator) * mpq_class(factors[r]);
      rho += mpq_class(mpz_class(answers[r]) * answers[r]) / (2 * parameter);
    }
  }
  return rho;
}

// The largest of all moves of a unit of one record.
mpq_class LargestRho(const Domain& domain, NeighbourRelation relation, const ProductQueries& queries,
                     const std::vector<Rational>& noise) {
  size_t cells = 1;
  for (const Attribute& attribute : domain.attributes()) cells *= static_cast<size_t>(attribute.size());
  mpq_class largest = 0;
  for (size_t in = 0; in < cells; ++in) {
    std::vector<int64_t> moved(cells);
    moved[in] = 1;
    largest = std::max(largest, RhoOf(domain, queries, noise, moved));
    for (size_t out = 0; out < cells && relation == NeighbourRelation::kReplaceOne; ++out) {
      --moved[out];
      largest = std::max(largest, RhoOf(domain, queries, noise, moved));
      ++moved[out];
    }
  }
  return largest;
}

mpq_class Charged(const Domain& domain, const UnitBound& unit, const ProductQueries& queries,
                  const std::vector<Rational>& noise) {
  const auto rho = CostOfProducts(domain, unit, queries, noise);
  EXPECT_TRUE(rho.ok()) << rho.status();
  mpq_class charged(rho.ok() ? rho->units() : 0, kRhoUnitsPerOne);
  charged.canonicalize();
  return charged;
}

// At least what is needed, and at most a unit more.
void ExpectExact(const mpq_class& charged, const mpq_class& needed) {
  EXPECT_GE(charged, needed);
  EXPECT_LE(charged - needed, mpq_class(2, kRhoUnitsPerOne));
}

TEST(ProductCost, OfContrastsIsExactForOneGroupUnderBothRelations) {
  const Domain domain = CodedDomain({2, 3, 5});
  const std::vector<ProductGroup> groups = {{{}, {}},      {{}, {}, 3},      {{0}, {0}},
                                            {{1}, {0}, 5}, {{1, 2}, {0, 0}}, {{0, 1, 2}, {0, 0, 0}, 2}};
  for (const ProductGroup& group : groups) {
    const ProductQueries queries{.axes = {{}}, .groups = {group}};
    for (const UnitBound& unit : {kAdded, kReplaced}) {
      ExpectExact(Charged(domain, unit, queries, {{7, 3}}),
                  LargestRho(domain, unit.relation, queries, {{7, 3}}));
    }
  }
}

TEST(ProductCost, OfContrastsIsTheProductOfSharesOfTheCodes) {
  const Domain domain = CodedDomain({2, 3, 5});
  const ProductQueries queries{.axes = {{}}, .groups = {{{0, 1, 2}, {0, 0, 0}}}};
  ExpectExact(Charged(domain, kAdded, queries, {{1, 1}}), mpq_class(1, 2) * mpq_class(8, 30));
}

// The canaries of the claim: each of these would be too cheap.
TEST(ProductCost, OfABinaryAttributeIsFourTimesItselfWhereARecordIsReplaced) {
  const Domain domain = CodedDomain({2, 7});
  const ProductQueries queries{.axes = {{}}, .groups = {{{0, 1}, {0, 0}}}};
  const mpq_class added = LargestRho(domain, NeighbourRelation::kAddRemove, queries, {{1, 1}});
  const mpq_class replaced = LargestRho(domain, NeighbourRelation::kReplaceOne, queries, {{1, 1}});
  EXPECT_EQ(replaced, 4 * added);
  EXPECT_GT(replaced, 2 * added) << "as counts of cells cost";
  ExpectExact(Charged(domain, kReplaced, queries, {{1, 1}}), replaced);
}

TEST(ProductCost, OfWeightedQueriesIsOfTheLargestColumn) {
  const Domain domain = CodedDomain({3, 2});
  // Rows of squared norms 9 + 1 + 4, 1 + 1 + 4; columns 10, 2, 8. The first two columns are opposite.
  const ProductQueries queries{.axes = {{.weights = {3, -1, -2, 1, 1, -2}}, {}}, .groups = {{{0}, {0}}}};
  ExpectExact(Charged(domain, kAdded, queries, {{1, 1}}), 5);
  for (const UnitBound& unit : {kAdded, kReplaced}) {
    for (const ProductGroup& group : {ProductGroup{{0}, {0}}, ProductGroup{{0, 1}, {0, 1}}}) {
      const ProductQueries one{.axes = queries.axes, .groups = {group}};
      const mpq_class needed = LargestRho(domain, unit.relation, one, {{5, 2}});
      const mpq_class charged = Charged(domain, unit, one, {{5, 2}});
      EXPECT_GE(charged, needed);
      if (unit.relation == NeighbourRelation::kAddRemove) ExpectExact(charged, needed);
    }
  }
}

TEST(ProductCost, CoversAllNeighboursOfRandomQueries) {
  std::mt19937_64 random(28);
  for (int round = 0; round < 200; ++round) {
    const Domain domain =
        CodedDomain({static_cast<int64_t>(2 + random() % 3), static_cast<int64_t>(2 + random() % 3)});
    ProductQueries queries{.axes = {{}, {}, {}},
                           .groups = {{{}, {}}, {{0}, {1}}, {{1}, {0}}, {{0, 1}, {1, 2}}}};
    for (size_t axis = 1; axis < 3; ++axis) {
      const auto codes = static_cast<size_t>(domain.attributes()[axis - 1].size());
      queries.axes[axis].weights.resize(codes * (1 + random() % 3));
      for (int32_t& weight : queries.axes[axis].weights) weight = static_cast<int32_t>(random() % 9) - 4;
    }
    for (ProductGroup& group : queries.groups) group.multiplier = static_cast<int64_t>(1 + random() % 3);
    std::vector<Rational> noise;
    for (size_t i = 0; i < queries.groups.size(); ++i)
      noise.push_back({static_cast<int64_t>(1 + random() % 50), static_cast<int64_t>(1 + random() % 9)});
    for (const UnitBound& unit : {kAdded, kReplaced})
      EXPECT_GE(Charged(domain, unit, queries, noise), LargestRho(domain, unit.relation, queries, noise));
  }
}

TEST(ProductCost, GrowsWithTheSquareOfAUnitsRecords) {
  const Domain domain = CodedDomain({3});
  const ProductQueries queries{.axes = {{}}, .groups = {{{0}, {0}}}};
  ExpectExact(Charged(domain, {NeighbourRelation::kAddRemove, 3}, queries, {{1, 1}}), 9 * mpq_class(1, 3));
}

TEST(ProductCost, OfScaledWeightsIsThatOfTheSameQueries) {
  const Domain domain = CodedDomain({3, 2});
  const auto cost = [&](int32_t scale, int64_t factor) {
    const ProductQueries queries{
        .axes = {{.weights = {3 * scale, -scale, -2 * scale}, .variance_factor = factor}, {}},
        .groups = {{{0, 1}, {0, 1}}}};
    ExpectExact(Charged(domain, kAdded, queries, {{9, 4}}),
                LargestRho(domain, NeighbourRelation::kAddRemove, queries, {{9, 4}}));
    return Charged(domain, kAdded, queries, {{9, 4}});
  };
  EXPECT_EQ(cost(16, 256), cost(1, 1));
  EXPECT_EQ(cost(16, 1), 256 * cost(1, 1));
}

TEST(ProductCost, IsThatOfTheSameNoiseOnAFinerLattice) {
  const Domain domain = CodedDomain({3});
  const auto cost = [&](int64_t multiplier, const Rational& noise) {
    return Charged(domain, kAdded, {.axes = {{}}, .groups = {{{0}, {0}, multiplier}}}, {noise});
  };
  EXPECT_EQ(cost(8, {7, 3}), cost(1, {7, 3}));
}

TEST(ProductCost, OfUnboundedUnitsAndMalformedQueriesIsRefused) {
  const Domain domain = CodedDomain({3});
  const ProductQueries queries{.axes = {{}}, .groups = {{{0}, {0}}}};
  const auto status = [&](const UnitBound& unit, const std::vector<Rational>& noise) {
    return CostOfProducts(domain, unit, queries, noise).status().code();
  };
  EXPECT_EQ(status({NeighbourRelation::kAddRemove, 0}, {{1, 1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status(kAdded, {}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status(kAdded, {{0, 1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status(kAdded, {{1, std::numeric_limits<int64_t>::max()}}), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(CostOfProducts(domain, kAdded, {}, {}).ok());
}

}  // namespace
}  // namespace curator::dp
