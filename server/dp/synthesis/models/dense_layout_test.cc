#include "dp/synthesis/models/dense_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/errors.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/testing/pacer_probe.h"
#include "dp/workload/marginals.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

using ::testing::HasSubstr;

struct Table {
  Domain domain;
  DenseLayout layout;
  std::vector<float> weights;
};

Table RandomTable(const std::vector<int64_t>& sizes, uint64_t seed) {
  const Domain domain = CodedDomain(sizes);
  AttributeSet all;
  for (uint32_t i = 0; i < sizes.size(); ++i) all.push_back(i);
  DenseLayout layout = DenseLayout::Create(domain, all, 1 << 26).value();
  std::mt19937_64 random(seed);
  std::vector<float> weights(static_cast<size_t>(layout.cells()));
  for (float& weight : weights) weight = static_cast<float>(random() % 1000);
  return {domain, std::move(layout), std::move(weights)};
}

// The definition: decode every cell.
std::vector<size_t> CellsOfMarginal(const DenseLayout& layout, const AttributeSet& set) {
  std::vector<size_t> cells;
  for (int64_t cell = 0; cell < layout.cells(); ++cell) {
    int64_t rest = cell;
    std::vector<int64_t> codes(layout.sizes().size());
    for (size_t i = codes.size(); i-- > 0;) {
      codes[i] = rest % layout.sizes()[i];
      rest /= layout.sizes()[i];
    }
    int64_t index = 0;
    for (const uint32_t attribute : set) index = index * layout.sizes()[attribute] + codes[attribute];
    cells.push_back(static_cast<size_t>(index));
  }
  return cells;
}

// Small blocks, large blocks, one block, attributes of size one, marginals too large to be laid out whole.
const std::vector<std::vector<int64_t>> kShapes = {
    {2, 3},           {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, {7, 1, 5, 300}, {300, 4, 5}, {1}, {1000},
    {9, 16, 7, 15, 2}};

TEST(DenseMarginal, SumsAsItsDefinitionSays) {
  for (const auto& sizes : kShapes) {
    const Table table = RandomTable(sizes, 1);
    Pacer pacer{std::stop_token()};
    for (int k = 1; k <= static_cast<int>(std::min<size_t>(sizes.size(), 4)); ++k) {
      const auto sets = AllKWayMarginals(table.domain, k, {}).value();
      for (const AttributeSet& set : sets) {
        const DenseMarginal marginal = DenseMarginal::Create(table.layout, set, pacer).value();
        std::vector<double> expected(static_cast<size_t>(marginal.cells()));
        const std::vector<size_t> cells = CellsOfMarginal(table.layout, set);
        for (size_t i = 0; i < cells.size(); ++i) expected[cells[i]] += static_cast<double>(table.weights[i]);
        ASSERT_EQ(marginal.Sum(table.weights, pacer).value(), expected);
      }
    }
  }
}

TEST(DenseMarginal, TheEmptySetIsTheTotal) {
  const Table table = RandomTable({2, 3}, 2);
  Pacer pacer{std::stop_token()};
  double total = 0;
  for (const float weight : table.weights) total += static_cast<double>(weight);
  const DenseMarginal whole = DenseMarginal::Create(table.layout, {}, pacer).value();
  EXPECT_EQ(whole.Sum(table.weights, pacer).value(), std::vector<double>{total});
}

TEST(DenseMarginal, ScalesEachWeightByTheFactorOfItsCell) {
  for (const auto& sizes : kShapes) {
    const Table table = RandomTable(sizes, 3);
    Pacer pacer{std::stop_token()};
    const auto sets =
        AllKWayMarginals(table.domain, static_cast<int>(std::min<size_t>(sizes.size(), 2)), {}).value();
    for (const AttributeSet& set : sets) {
      const DenseMarginal marginal = DenseMarginal::Create(table.layout, set, pacer).value();
      std::vector<float> factors(static_cast<size_t>(marginal.cells()));
      for (size_t i = 0; i < factors.size(); ++i) factors[i] = static_cast<float>(i % 17) / 4;
      std::vector<float> weights = table.weights;
      ASSERT_TRUE(marginal.Scale(factors, weights, pacer).ok());
      const std::vector<size_t> cells = CellsOfMarginal(table.layout, set);
      for (size_t i = 0; i < cells.size(); ++i) ASSERT_EQ(weights[i], table.weights[i] * factors[cells[i]]);
    }
  }
}

TEST(AllMarginals, AgreesWithSummingOneByOne) {
  for (const auto& sizes : kShapes) {
    const Table table = RandomTable(sizes, 4);
    Pacer pacer{std::stop_token()};
    std::vector<AttributeSet> sets;
    for (int k = 1; k <= static_cast<int>(std::min<size_t>(sizes.size(), 3)); ++k) {
      const auto more = AllKWayMarginals(table.domain, k, {}).value();
      sets.insert(sets.end(), more.begin(), more.end());
    }
    const auto all = AllMarginals(table.layout, table.weights, sets, pacer).value();
    for (size_t i = 0; i < sets.size(); ++i) {
      const DenseMarginal marginal = DenseMarginal::Create(table.layout, sets[i], pacer).value();
      ASSERT_EQ(all[i], marginal.Sum(table.weights, pacer).value());
    }
  }
}

TEST(ProductWeights, MultiplyTheirFactors) {
  const Table table = RandomTable({2, 3, 4}, 5);
  Pacer pacer{std::stop_token()};
  const std::vector<LogFactor> factors = {{{0, 1}, {0.1, -0.2, 0.3, 0, 1, -70}}, {{2}, {0, -1, 2, 0.5}}};
  std::vector<DenseMarginal> marginals;
  for (const LogFactor& factor : factors) {
    marginals.push_back(DenseMarginal::Create(table.layout, factor.set, pacer).value());
  }
  const auto weights = ProductWeights(table.layout, 2.5, factors, marginals, pacer).value();
  EXPECT_NEAR(weights[0], 2.5 * std::exp(0.1), 1e-5);
  EXPECT_NEAR(weights[5], 2.5 * std::exp(-0.2 - 1), 1e-6);
  EXPECT_NEAR(weights[18], 2.5 * std::exp(1.0 + 2), 1e-4);
  EXPECT_NEAR(weights[20], 2.5 * std::exp(-60.0), 1e-30);
}

TEST(DenseLayout, RefusesADomainThatIsTooLargeWithTheNumbers) {
  const absl::Status refused = DenseLayout::Create(CodedDomain({1000, 1000}), {0, 1}, 999'999).status();
  ASSERT_TRUE(FieldViolationOf(refused).has_value());
  EXPECT_THAT(std::string(refused.message()), HasSubstr("1000000 cells"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("999999"));
  const Domain endless = CodedDomain(std::vector<int64_t>(9, 1 << 20));
  EXPECT_FALSE(DenseLayout::Create(endless, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 1 << 26).ok());
}

// Steps are counted, not timed: every look at the stop token stands for fewer than 2^20 cells.
TEST(Pacing, LooksAtTheStopTokenEveryMillionCells) {
  const Table table = RandomTable({1 << 12, 1 << 10}, 6);
  const int64_t least_looks = table.layout.cells() >> 20;
  for (const AttributeSet& set : {AttributeSet{0}, AttributeSet{1}, AttributeSet{0, 1}, AttributeSet{}}) {
    Pacer pacer{std::stop_token()};
    const DenseMarginal marginal = DenseMarginal::Create(table.layout, set, pacer).value();
    int64_t before = PacerProbe::Checks(pacer);
    ASSERT_TRUE(marginal.Sum(table.weights, pacer).ok());
    EXPECT_GE(PacerProbe::Checks(pacer) - before, least_looks);
    before = PacerProbe::Checks(pacer);
    std::vector<float> weights = table.weights;
    const std::vector<float> factors(static_cast<size_t>(marginal.cells()), 1);
    ASSERT_TRUE(marginal.Scale(factors, weights, pacer).ok());
    EXPECT_GE(PacerProbe::Checks(pacer) - before, least_looks);
    before = PacerProbe::Checks(pacer);
    ASSERT_TRUE(AllMarginals(table.layout, table.weights, std::vector<AttributeSet>{set}, pacer).ok());
    if (set.size() < 2) {
      EXPECT_GE(PacerProbe::Checks(pacer) - before, least_looks);
    }
  }
}

TEST(Pacing, ASingleHugeAttributeIsWorkedOnInPieces) {
  const Table table = RandomTable({1 << 22}, 7);
  Pacer pacer{std::stop_token()};
  const DenseMarginal marginal = DenseMarginal::Create(table.layout, {0}, pacer).value();
  const int64_t before = PacerProbe::Checks(pacer);
  ASSERT_TRUE(marginal.Sum(table.weights, pacer).ok());
  EXPECT_GE(PacerProbe::Checks(pacer) - before, 4);
}

TEST(Pacing, StopsWhenTold) {
  const Table table = RandomTable({1 << 12, 1 << 10}, 8);
  std::stop_source source;
  Pacer pacer{source.get_token()};
  const DenseMarginal marginal = DenseMarginal::Create(table.layout, {0}, pacer).value();
  source.request_stop();
  EXPECT_EQ(marginal.Sum(table.weights, pacer).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace curator::dp
