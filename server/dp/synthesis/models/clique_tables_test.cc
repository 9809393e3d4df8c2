#include "dp/synthesis/models/clique_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "dp/domain/row_major.h"
#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

AttributeSet AllOf(const Domain& domain) {
  AttributeSet all;
  for (uint32_t i = 0; i < domain.size(); ++i) all.push_back(i);
  return all;
}

CliqueTree TreeOf(const Domain& domain, const std::vector<LogFactor>& factors) {
  CliqueGraph graph(domain, AllOf(domain));
  for (const LogFactor& factor : factors) graph.Connect(factor.set);
  return graph.Tree();
}

LogFactor RandomFactor(const Domain& domain, const AttributeSet& set, double size, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-size, size);
  LogFactor factor{.set = set, .logarithms = {}};
  for (int64_t cell = 0; cell < domain.CellCount(set).value(); ++cell)
    factor.logarithms.push_back(uniform(random));
  return factor;
}

// The marginal by the definition: a sum over every cell of the domain.
std::vector<double> ByDefinition(const Domain& domain, double log_base, const std::vector<LogFactor>& factors,
                                 const AttributeSet& set) {
  const AttributeSet all = AllOf(domain);
  const std::vector<int64_t> sizes = domain.SizesOf(all);
  std::vector<uint32_t> codes(all.size());
  const auto cell_in = [&](const AttributeSet& within) {
    int64_t cell = 0;
    for (const uint32_t attribute : within) cell = cell * sizes[attribute] + codes[attribute];
    return static_cast<size_t>(cell);
  };
  std::vector<double> sums(static_cast<size_t>(domain.CellCount(set).value()));
  for (int64_t cell = 0; cell < domain.CellCount(all).value(); ++cell) {
    CodesOfCell(sizes, cell, std::span(codes));
    double logarithm = log_base;
    for (const LogFactor& factor : factors) logarithm += factor.logarithms[cell_in(factor.set)];
    sums[cell_in(set)] += std::exp(logarithm);
  }
  return sums;
}

std::vector<double> Marginal(const CliqueTables& tables, const AttributeSet& set) {
  Pacer pacer{std::stop_token()};
  return tables.Marginals(std::span(&set, 1), pacer).value().front();
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& expected, double relative,
                const AttributeSet& set) {
  ASSERT_EQ(got.size(), expected.size());
  double total = 0;
  for (const double cell : expected) total += cell;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], relative * total) << testing::PrintToString(set) << " cell " << i;
}

struct Shape {
  std::vector<int64_t> sizes;
  std::vector<AttributeSet> sets;
};

const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> shapes = {
      {{3, 2, 4}, {}},                                                   // independent
      {{3, 2, 4}, {{0, 1, 2}}},                                          // one clique
      {{3, 2, 4, 2, 3}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}},               // a chain
      {{3, 2, 4, 2, 3}, {{0, 2}, {1, 2}, {2, 3}, {2, 4}}},               // a star
      {{2, 3, 2, 3, 2, 2}, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {4, 5}}},    // a cycle, and a pair by itself
      {{2, 3, 2, 1, 3, 2, 4}, {{0, 1, 2}, {1, 2, 4}, {4, 5}, {3, 6}}}};  // wider, with one value
  return shapes;
}

// Every set of attributes, of which most lie in no clique.
TEST(CliqueTables, HaveTheMarginalsOfTheirDefinition) {
  std::mt19937_64 random(5);
  for (const Shape& shape : Shapes()) {
    const Domain domain = CodedDomain(shape.sizes);
    std::vector<LogFactor> factors;
    for (const AttributeSet& set : shape.sets) factors.push_back(RandomFactor(domain, set, 2, random));
    for (uint32_t i = 0; i < domain.size(); ++i) factors.push_back(RandomFactor(domain, {i}, 1, random));
    Pacer pacer{std::stop_token()};
    CliqueTables tables = CliqueTables::Create(domain, TreeOf(domain, factors), pacer).value();
    ASSERT_TRUE(tables.Calibrate(1.5, factors, pacer).ok());
    EXPECT_NEAR(tables.total() / ByDefinition(domain, 1.5, factors, {})[0], 1, 1e-5);
    for (uint32_t bits = 0; bits < 1U << domain.size(); ++bits) {
      AttributeSet set;
      for (uint32_t i = 0; i < domain.size(); ++i) {
        if ((bits >> i & 1) != 0) set.push_back(i);
      }
      const int64_t before = pacer.steps();
      const std::vector<double> marginal = tables.Marginals(std::span(&set, 1), pacer).value().front();
      EXPECT_LE(pacer.steps() - before, tables.EffortOf(set).steps);
      ExpectNear(marginal, ByDefinition(domain, 1.5, factors, set), 1e-5, set);
      EXPECT_GE(tables.EffortOf(set).steps, std::ssize(marginal));
      EXPECT_GE(tables.EffortOf(set).largest, std::ssize(marginal));
    }
  }
}

// Of three attributes that depend on a fourth alone, whose table is larger than is made at once.
TEST(CliqueTables, AssembleALargeMarginalCodeByCode) {
  constexpr int64_t kSize = 164;
  static_assert(kSize * kSize * kSize > kMostCellsOfATable);
  std::mt19937_64 random(6);
  const Domain domain = CodedDomain({kSize, 2, kSize, kSize});
  std::vector<LogFactor> factors;
  for (const AttributeSet& set : std::vector<AttributeSet>{{0, 1}, {1, 2}, {1, 3}})
    factors.push_back(RandomFactor(domain, set, 2, random));
  Pacer pacer{std::stop_token()};
  CliqueTables tables = CliqueTables::Create(domain, TreeOf(domain, factors), pacer).value();
  ASSERT_TRUE(tables.Calibrate(0, factors, pacer).ok());
  const AttributeSet set = {0, 2, 3};
  const int64_t before = pacer.steps();
  const std::vector<double> marginal = tables.Marginals(std::span(&set, 1), pacer).value().front();
  EXPECT_LE(pacer.steps() - before, tables.EffortOf(set).steps);
  EXPECT_GT(tables.EffortOf(set).largest, kMostCellsOfATable);
  const std::vector<double> hub = Marginal(tables, {1});
  const std::vector<double> first = Marginal(tables, {0, 1});
  const std::vector<double> second = Marginal(tables, {1, 2});
  const std::vector<double> third = Marginal(tables, {1, 3});
  ASSERT_EQ(std::ssize(marginal), kSize * kSize * kSize);
  for (int64_t cell = 0; cell < std::ssize(marginal); cell += 997) {
    const int64_t a = cell / (kSize * kSize);
    const int64_t b = cell / kSize % kSize;
    const int64_t c = cell % kSize;
    double expected = 0;
    for (int64_t hub_code = 0; hub_code < 2; ++hub_code)
      expected += first[a * 2 + hub_code] * second[hub_code * kSize + b] * third[hub_code * kSize + c] /
                  (hub[hub_code] * hub[hub_code]);
    ASSERT_NEAR(marginal[cell] / expected, 1, 1e-4) << cell;
  }
}

// Factors of noisy answers are large, and nearly cancel: e^300 in one clique, e^-300 in another.
TEST(CliqueTables, TakeFactorsFarBeyondTheRangeOfFloats) {
  const Domain domain = CodedDomain({2, 2, 2});
  const std::vector<LogFactor> factors = {
      {{0, 1}, {300, 299, -300, -301}}, {{1, 2}, {1, 2, 3, 4}}, {{0}, {-300, 300}}, {{2}, {250, 251}}};
  Pacer pacer{std::stop_token()};
  CliqueTables tables = CliqueTables::Create(domain, TreeOf(domain, factors), pacer).value();
  ASSERT_TRUE(tables.Calibrate(-250, factors, pacer).ok());
  for (const AttributeSet& set : std::vector<AttributeSet>{{0}, {1}, {2}, {0, 2}, {0, 1, 2}})
    ExpectNear(Marginal(tables, set), ByDefinition(domain, -250, factors, set), 1e-5, set);
}

TEST(CliqueTables, RefuseAFactorThatNoCliqueHolds) {
  const Domain domain = CodedDomain({2, 2, 2});
  Pacer pacer{std::stop_token()};
  CliqueTables tables = CliqueTables::Create(domain, TreeOf(domain, {}), pacer).value();
  const std::vector<LogFactor> factors = {{{0, 1}, {0, 0, 0, 0}}};
  EXPECT_EQ(tables.Calibrate(0, factors, pacer).code(), absl::StatusCode::kInvalidArgument);
}

// A walk after a change of one clique is as good as recomputing everything.
TEST(CliqueTables, CarryAChangeToEveryClique) {
  std::mt19937_64 random(6);
  const Domain domain = CodedDomain({3, 2, 4, 2, 3});
  std::vector<LogFactor> factors;
  for (const AttributeSet& set : std::vector<AttributeSet>{{0, 1}, {1, 2}, {2, 3}, {2, 4}})
    factors.push_back(RandomFactor(domain, set, 2, random));
  Pacer pacer{std::stop_token()};
  CliqueTables tables = CliqueTables::Create(domain, TreeOf(domain, factors), pacer).value();
  ASSERT_TRUE(tables.Calibrate(0, factors, pacer).ok());
  for (const uint32_t attribute : {0U, 3U, 4U}) {
    const LogFactor changed = RandomFactor(domain, {attribute}, 3, random);
    const size_t clique = CliqueHolding(tables.tree(), changed.set);
    const DenseMarginal marginal = DenseMarginal::Create(tables.layout(clique), changed.set, pacer).value();
    std::vector<float> scales;
    for (const double logarithm : changed.logarithms)
      scales.push_back(static_cast<float>(std::exp(logarithm)));
    ASSERT_TRUE(tables.Scale(clique, marginal, scales, pacer).ok());
    // Towards the root first, then from it.
    const std::vector<CliqueTables::Move>& walk = tables.walk();
    for (auto move = walk.rbegin(); move != walk.rend(); ++move) {
      if (!move->down) continue;
      ASSERT_TRUE(tables.Carry({.edge = move->edge, .down = false}, pacer).ok());
    }
    for (const CliqueTables::Move& move : walk) ASSERT_TRUE(tables.Carry(move, pacer).ok());
    factors.push_back(changed);
    for (const AttributeSet& set : std::vector<AttributeSet>{{0}, {1, 2}, {3}, {4}, {0, 3}, {3, 4}})
      ExpectNear(Marginal(tables, set), ByDefinition(domain, 0, factors, set), 1e-4, set);
  }
}

}  // namespace
}  // namespace curator::dp
