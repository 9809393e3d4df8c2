#include "dp/synthesis/models/clique_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

AttributeSet Everything(const Domain& domain) {
  AttributeSet all;
  for (uint32_t i = 0; i < domain.size(); ++i) all.push_back(i);
  return all;
}

class CliqueFitTest : public testing::Test {
 protected:
  CliqueFit FitOver(const Domain& domain, double records = 100, int64_t max_cells = 1 << 20) {
    return {domain, Everything(domain), {.answer = records, .standard_deviation = 1}, max_cells};
  }

  void Add(CliqueFit& fit, QueryGroup group, std::vector<double> answers, double deviation) {
    ASSERT_TRUE(fit.Add({std::move(group), std::move(answers), deviation}, pacer_).ok());
  }

  std::vector<double> Marginal(CliqueFit& fit, const AttributeSet& set) {
    return fit.Marginals(std::span(&set, 1), pacer_).value().front();
  }

  Pacer pacer_{std::stop_token()};
};

TEST_F(CliqueFitTest, ReproducesConsistentAnswersWithoutNoise) {
  const Domain domain = CodedDomain({2, 2, 3});
  CliqueFit fit = FitOver(domain);
  Add(fit, {{0, 1}, EveryCell()}, {40, 10, 20, 30}, 0.05);
  Add(fit, {{1, 2}, EveryCell()}, {30, 10, 20, 10, 10, 20}, 0.05);
  ASSERT_TRUE(fit.Replay({.most_sweeps = 2000, .converged = 1e-6, .prior_weight = 0.01}, pacer_).ok());
  EXPECT_EQ(CellsOfTree(fit.tree()), 4 + 6);
  const std::vector<double> first = Marginal(fit, {0, 1});
  const std::vector<double> expected = {40, 10, 20, 30};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(first[i], expected[i], 0.01);
  // Maximum entropy: given attribute 1, attributes 0 and 2 are independent.
  const std::vector<double> joint = Marginal(fit, {0, 1, 2});
  EXPECT_NEAR(joint[0], 40.0 * 30 / 60, 0.02);
  EXPECT_NEAR(joint[9 + 2], 30.0 * 20 / 40, 0.02);
}

TEST_F(CliqueFitTest, ConvergesBetweenContradictingAnswersInsteadOfDiverging) {
  const Domain domain = CodedDomain({2, 2});
  CliqueFit fit = FitOver(domain);
  Add(fit, {{0}, EveryCell()}, {80, 20}, 1);
  Add(fit, {{0}, EveryCell()}, {60, 40}, 1);
  Add(fit, {{0, 1}, EveryCell()}, {-30, 100, 10, 20}, 1);
  ASSERT_TRUE(fit.Replay({.most_sweeps = 20'000, .converged = 1e-9, .prior_weight = 0.05}, pacer_).ok());
  // The denied cell is empty, so its neighbour alone answers for 80, 60 and 100: least squares says 80.
  EXPECT_NEAR(Marginal(fit, {0})[0], 80, 0.1);
  const std::vector<double> before = Marginal(fit, {0, 1});
  ASSERT_TRUE(fit.Replay({.most_sweeps = 100, .converged = 0, .prior_weight = 0.05}, pacer_).ok());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(Marginal(fit, {0, 1})[i], before[i], 0.05);
}

TEST_F(CliqueFitTest, WeighsAnswersByTheirNoise) {
  const Domain domain = CodedDomain({2});
  CliqueFit fit = FitOver(domain);
  Add(fit, {{0}, EveryCell()}, {90, 10}, 1);
  Add(fit, {{0}, EveryCell()}, {50, 50}, 3);
  ASSERT_TRUE(fit.Replay({.most_sweeps = 20'000, .converged = 1e-9, .prior_weight = 0.01}, pacer_).ok());
  // Inverse variances 1 and 1/9.
  EXPECT_NEAR(Marginal(fit, {0})[0], (90 + 50 / 9.0) / (1 + 1 / 9.0), 0.1);
}

TEST_F(CliqueFitTest, FitsRangesAndParitiesBesideCells) {
  const Domain domain = CodedDomain({2, 4});
  CliqueFit fit = FitOver(domain);
  Add(fit, {{}, EveryCell()}, {100}, 0.05);
  Add(fit, {{1}, std::vector<LinearQuery>{{{0, 1}, {1, 1}}, {{1, 1}, {2, 1}}}}, {70, 50}, 0.05);
  Add(fit, {{0}, std::vector<LinearQuery>{{{0, 1}, {1, -1}}}}, {30}, 0.05);
  const auto end =
      fit.Replay({.most_sweeps = 5000, .converged = 1e-6, .prior_weight = 0.001}, pacer_).value();
  EXPECT_LT(end.sweeps, 5000);
  const std::vector<double> second = Marginal(fit, {1});
  EXPECT_NEAR(second[0] + second[1], 70, 0.02);
  EXPECT_NEAR(second[1] + second[2], 50, 0.02);
  const std::vector<double> first = Marginal(fit, {0});
  EXPECT_NEAR(first[0] - first[1], 30, 0.02);
  EXPECT_EQ(fit.factors().size(), 3U);
}

TEST_F(CliqueFitTest, StaysNearUniformWhereNoiseIsAllThereIs) {
  const Domain domain = CodedDomain({2});
  CliqueFit fit = FitOver(domain);
  Add(fit, {{}, EveryCell()}, {100}, 1);
  Add(fit, {{0}, EveryCell()}, {5000, -5000}, 100'000);
  ASSERT_TRUE(fit.Replay({.most_sweeps = 5000, .converged = 1e-9, .prior_weight = 0.1}, pacer_).ok());
  EXPECT_NEAR(Marginal(fit, {0})[0], 50, 1);
}

// The minimiser does not depend on the cliques that it is held in.
TEST_F(CliqueFitTest, FindsInATreeWhatItFindsInOneTable) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 5);
  const Domain domain = CodedDomain({2, 3, 2, 4, 2});
  CliqueFit tree = FitOver(domain, 1000);
  CliqueFit table = FitOver(domain, 1000);
  ASSERT_TRUE(table.Join(Everything(domain)).ok());
  for (const AttributeSet& set :
       std::vector<AttributeSet>{{}, {0}, {1}, {3}, {0, 1}, {1, 2}, {2, 3}, {1, 4}}) {
    std::vector<double> answers;
    const int64_t cells = domain.CellCount(set).value();
    for (int64_t i = 0; i < cells; ++i)
      answers.push_back(1000.0 * static_cast<double>(1 + i % 3) / static_cast<double>(2 * cells) +
                        noise(random));
    Add(tree, {set, EveryCell()}, answers, 5);
    Add(table, {set, EveryCell()}, answers, 5);
  }
  const ReplayRule rule{.most_sweeps = 5000, .converged = 1e-6, .prior_weight = 0.05};
  ASSERT_TRUE(tree.Replay(rule, pacer_).ok());
  ASSERT_TRUE(table.Replay(rule, pacer_).ok());
  EXPECT_LT(CellsOfTree(tree.tree()), CellsOfTree(table.tree()));
  EXPECT_NEAR(tree.records(), table.records(), 0.05);
  for (const AttributeSet& set : std::vector<AttributeSet>{{0}, {0, 1}, {2, 3}, {0, 4}, {0, 3}, {0, 2, 3}}) {
    const std::vector<double> left = Marginal(tree, set);
    const std::vector<double> right = Marginal(table, set);
    for (size_t i = 0; i < left.size(); ++i)
      EXPECT_NEAR(left[i], right[i], 0.05) << testing::PrintToString(set);
  }
}

// Answers that contradict one another, of which the prior is hardly a judge: factors of e^100 and more.
TEST_F(CliqueFitTest, StaysFiniteWhereFactorsAreLarge) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> noise(0, 300);
  const Domain domain = CodedDomain({2, 2, 2, 2, 2, 2, 2, 2});
  CliqueFit fit = FitOver(domain, 2000);
  for (uint32_t a = 0; a < 8; ++a) {
    Add(fit, {{a}, EveryCell()}, {1900 + noise(random), 100 + noise(random)}, 100);
    if (a >= 6) continue;
    std::vector<double> answers = {1800};
    for (int i = 1; i < 8; ++i) answers.push_back(30 + noise(random));
    Add(fit, {{a, a + 1, a + 2}, EveryCell()}, answers, 300);
    ASSERT_TRUE(fit.Replay({.most_sweeps = 10, .converged = 0.01, .prior_weight = 1e-4}, pacer_).ok());
  }
  const auto end =
      fit.Replay({.most_sweeps = 20'000, .converged = 0.01, .prior_weight = 1e-4}, pacer_).value();
  EXPECT_LE(end.largest_move, 0.01);
  const std::vector<double> across = Marginal(fit, {0, 3, 7});
  for (const double cell : across) EXPECT_TRUE(std::isfinite(cell) && cell >= 0) << cell;
}

TEST_F(CliqueFitTest, HoldsNoMoreCellsThanItMay) {
  const Domain domain = CodedDomain({10, 10, 10, 10});
  CliqueFit fit = FitOver(domain, 100, 250);
  EXPECT_TRUE(fit.Fits({0, 1}));
  ASSERT_TRUE(fit.Join({0, 1}).ok());
  ASSERT_TRUE(fit.Join({2, 3}).ok());
  EXPECT_FALSE(fit.Fits({1, 2})) << "three pairs have 300 cells";
  EXPECT_TRUE(fit.Fits({0, 1}));
  EXPECT_EQ(fit.Join({1, 2}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fit.Join({1, 9}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CellsOfTree(fit.tree()), 200);
}

TEST_F(CliqueFitTest, RefusesMarginalsThatItDoesNotCover) {
  const Domain domain = CodedDomain({2, 2});
  CliqueFit fit(domain, {0}, {100, 1}, 100);
  const AttributeSet set = {0, 1};
  EXPECT_EQ(fit.Marginals(std::span(&set, 1), pacer_).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace curator::dp
