// Layer 3 of the audit, on products of queries: from what the kernel released on two neighbouring tables no
// onlooker proves a loss above the (epsilon, delta) that follows from the rho of its price; of prices that
// are wrong it is proved that the loss is higher.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "dp/accounting/divergence.h"
#include "dp/accounting/interval.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/sensitivity/product_cost.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/black_box.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using dp::NeighbourRelation;
using dp::UnitBound;

using Rows = std::vector<std::vector<uint32_t>>;

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};
constexpr UnitBound kThreeRecords{NeighbourRelation::kAddRemove, 3};

// One group of products and the two tables that it tells apart best, by the sum of the answers with these
// coefficients: those of the move of the answers, divided by the variance factors.
struct Attack {
  std::vector<int64_t> sizes;
  std::vector<dp::AxisQueries> axes;
  dp::ProductGroup group;
  dp::Rational sigma_squared;
  UnitBound unit;
  Rows one;
  Rows other;
  std::vector<int64_t> coefficients;

  dp::Domain domain() const { return dp::CodedDomain(sizes); }
  dp::ProductQueries queries() const { return {.axes = axes, .groups = {group}}; }
};

dp::Rho PriceOf(const Attack& attack) {
  return dp::CostOfProducts(attack.domain(), attack.unit, attack.queries(),
                            std::span(&attack.sigma_squared, 1))
      .value();
}

std::vector<int64_t> Outputs(const Attack& attack, const Rows& rows, size_t size, uint64_t seed) {
  const dp::Domain domain = attack.domain();
  const dp::ProductQueries queries = attack.queries();
  seeded::SeededBits bits(AuditSeed(seed));
  dp::Kernel kernel(dp::SealRows(domain, rows).value(), domain, attack.unit,
                    dp::Meter({{{dp::ZcdpEvent{PriceOf(attack)}}, static_cast<int64_t>(size)}}), bits);
  std::vector<int64_t> outputs;
  for (size_t i = 0; i < size; ++i) {
    const auto values = kernel.NoisyProducts(queries, std::span(&attack.sigma_squared, 1)).value()[0];
    int64_t output = 0;
    for (size_t q = 0; q < values.size(); ++q) output += attack.coefficients[q] * values[q];
    outputs.push_back(output);
  }
  return outputs;
}

constexpr dp::Rational kDelta{3, 20};

// What is proved of delta at the epsilon that `claimed` promises for kDelta: no more than kDelta of a claim
// that is kept.
LowerBound ProvedDelta(const Attack& attack, dp::Rho claimed, size_t size, uint64_t seed) {
  const double epsilon = dp::EpsilonOfZcdp(dp::Interval::Of(claimed), dp::Interval::Of(kDelta)).Upper();
  return DeltaLowerBound(
      {Outputs(attack, attack.one, size, seed), Outputs(attack, attack.other, size, seed + 1)}, epsilon);
}

constexpr double kMost = 0.15;

// Each has the rho 2. Multipliers make the lattice of the output fine, which helps the onlooker.
Attack Binary() {
  return {.sizes = {2},
          .axes = {{}},
          .group = {{0}, {0}, 10},
          .sigma_squared = {1, 2},
          .unit = kReplaced,
          .one = {{0}},
          .other = {{1}},
          .coefficients = {1}};
}
Attack TwoAxes() {
  return {.sizes = {3, 2},
          .axes = {{}},
          .group = {{0, 1}, {0, 0}, 10},
          .sigma_squared = {1, 3},
          .unit = kReplaced,
          .one = {{0, 0}},
          .other = {{0, 1}},
          .coefficients = {3, 1}};  // both move by 20, the factors are 4 and 12
}
Attack Weighted() {
  return {.sizes = {3},
          .axes = {{.weights = {2, -1, -1, 0, 3, -3}}},
          .group = {{0}, {0}},
          .sigma_squared = {45, 2},
          .unit = kThreeRecords,
          .one = {},
          .other = {{1}, {1}, {1}},
          .coefficients = {-1, 3}};
}

TEST(BlackBoxOfProducts, NobodyProvesMoreThanTheirDeltaAtTheirEpsilon) {
  uint64_t seed = 401;
  for (const Attack& attack : {Binary(), TwoAxes(), Weighted()}) {
    EXPECT_EQ(PriceOf(attack), dp::Rho(2 * dp::kRhoUnitsPerOne));
    const LowerBound bound = ProvedDelta(attack, PriceOf(attack), AuditSize(100'000), seed);
    EXPECT_LE(bound.value, kMost) << bound.event;
    seed += 2;
  }
}

TEST(BlackBoxOfProducts, AreFoundToLoseMoreThanHalfTheirRho) {  // the check is no blank
  uint64_t seed = 411;
  for (const Attack& attack : {Binary(), TwoAxes(), Weighted()}) {
    EXPECT_GT(ProvedDelta(attack, dp::Rho(dp::kRhoUnitsPerOne), AuditSize(100'000), seed).value, kMost);
    seed += 2;
  }
}

TEST(BlackBoxOfProductsCanary, TwiceAColumnUnderReplacementIsProved) {
  Attack entering = Binary();
  entering.unit = kRecord;
  const dp::Rho twice(2 * PriceOf(entering).units());
  EXPECT_GT(ProvedDelta(Binary(), twice, AuditSize(100'000), 421).value, kMost);
}

TEST(BlackBoxOfProductsCanary, TheLargestRowInPlaceOfTheLargestColumnIsProved) {
  Attack drawn = {.sizes = {2},
                  .axes = {{.weights = {1, 0, 1, 0, 1, 0, 1, 0}}},
                  .group = {{0}, {0}},
                  .sigma_squared = {1, 1},
                  .unit = kRecord,
                  .one = {},
                  .other = {{0}},
                  .coefficients = {1, 1, 1, 1}};
  Attack row = drawn;
  row.axes = {{.weights = {1, 0}}};
  EXPECT_GT(ProvedDelta(drawn, PriceOf(row), AuditSize(100'000), 423).value, kMost);
}

TEST(BlackBoxOfProductsCanary, AForgottenVarianceFactorIsProved) {
  // The second contrast of three codes, whose factor would be 6, moves by 2.
  Attack drawn = {.sizes = {3},
                  .axes = {{.weights = {1, -1, 0, 1, 1, -2}}},
                  .group = {{0}, {0}},
                  .sigma_squared = {1, 1},
                  .unit = kRecord,
                  .one = {},
                  .other = {{2}},
                  .coefficients = {0, -1}};
  Attack priced = drawn;
  priced.axes = {{}};
  EXPECT_GT(ProvedDelta(drawn, PriceOf(priced), AuditSize(100'000), 425).value, kMost);
}

TEST(BlackBoxOfProductsCanary, TheRecordsOfAUnitInPlaceOfTheirSquareAreProved) {
  EXPECT_GT(ProvedDelta(Weighted(), dp::Rho(PriceOf(Weighted()).units() / 3), AuditSize(100'000), 427).value,
            kMost);
}

}  // namespace
}  // namespace curator::statistics
