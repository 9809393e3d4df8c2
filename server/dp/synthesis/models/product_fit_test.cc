#include "dp/synthesis/models/product_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

TEST(RelaxedStep, SolvesItsEquation) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-8, 8);
  std::uniform_real_distribution<double> goals(-50, 50);
  for (int i = 0; i < 20'000; ++i) {
    const double gain = std::exp(exponent(random));
    const double weight = std::exp(exponent(random));
    const double goal = goals(random);
    const double step = RelaxedStep(gain, weight, goal);
    EXPECT_NEAR(step + gain * weight * std::exp(step), goal, 1e-8 * (1 + std::abs(goal)))
        << gain << " " << weight;
  }
  EXPECT_EQ(RelaxedStep(3, 0, -7), -7);
}

// The paper's update is the step's first order where the prior holds fast: exp(gain (answer - weight)).
TEST(RelaxedStep, IsThePapersUpdateToFirstOrder) {
  const double gain = 1e-7;
  const double answer = 900;
  const double weight = 400;
  EXPECT_NEAR(RelaxedStep(gain, weight, gain * answer), gain * (answer - weight), 1e-4 * gain * answer);
}

// Against bisection, with weights of either sign.
TEST(RelaxedStep, SolvesItsEquationForQueriesThatCountRecordsOftenOrAgainst) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> weights(0, 50);
  std::uniform_real_distribution<double> goals(-40, 40);
  for (int i = 0; i < 5000; ++i) {
    const std::vector<CountedMass> masses = {
        {-1, weights(random)}, {1, weights(random)}, {3, weights(random)}};
    const double goal = goals(random);
    const auto off = [&](double step) {
      double value = step - goal;
      for (const CountedMass& mass : masses)
        value += 0.1 * mass.times * mass.weight * std::exp(mass.times * step);
      return value;
    };
    double low = -kMostStep / 3;
    double high = kMostStep / 3;
    for (int halving = 0; halving < 100; ++halving) {
      const double middle = (low + high) / 2;
      (off(middle) > 0 ? high : low) = middle;
    }
    EXPECT_NEAR(RelaxedStep(0.1, masses, goal), low, 1e-9);
  }
}

DenseLayout Layout(const Domain& domain) {
  AttributeSet all;
  for (uint32_t i = 0; i < domain.size(); ++i) all.push_back(i);
  return DenseLayout::Create(domain, all, 1 << 26).value();
}

std::vector<double> Marginal(const DenseLayout& layout, const ProductFit& fit, const AttributeSet& set) {
  Pacer pacer{std::stop_token()};
  return DenseMarginal::Create(layout, set, pacer)->Sum(fit.weights(), pacer).value();
}

TEST(ProductFit, ReproducesConsistentAnswersWithoutNoise) {
  const DenseLayout layout = Layout(CodedDomain({2, 2, 3}));
  Pacer pacer{std::stop_token()};
  ProductFit fit(layout, 100);
  ASSERT_TRUE(fit.Add({{{0, 1}, EveryCell()}, {40, 10, 20, 30}, 0.05}, pacer).ok());
  ASSERT_TRUE(fit.Add({{{1, 2}, EveryCell()}, {30, 10, 20, 10, 10, 20}, 0.05}, pacer).ok());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 2000, .converged = 1e-6, .prior_weight = 0.01}, pacer).ok());
  const auto first = Marginal(layout, fit, {0, 1});
  const std::vector<double> expected = {40, 10, 20, 30};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(first[i], expected[i], 0.01);
  // Maximum entropy: given attribute 1, attributes 0 and 2 are independent.
  const auto joint = Marginal(layout, fit, {0, 1, 2});
  EXPECT_NEAR(joint[0], 40.0 * 30 / 60, 0.02);
  EXPECT_NEAR(joint[9 + 2], 30.0 * 20 / 40, 0.02);
}

TEST(ProductFit, SettlesBetweenContradictingAnswersInsteadOfDiverging) {
  const DenseLayout layout = Layout(CodedDomain({2, 2}));
  Pacer pacer{std::stop_token()};
  ProductFit fit(layout, 100);
  ASSERT_TRUE(fit.Add({{{0}, EveryCell()}, {80, 20}, 1}, pacer).ok());
  ASSERT_TRUE(fit.Add({{{0}, EveryCell()}, {60, 40}, 1}, pacer).ok());
  ASSERT_TRUE(fit.Add({{{0, 1}, EveryCell()}, {-30, 100, 10, 20}, 1}, pacer).ok());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 20'000, .converged = 1e-9, .prior_weight = 0.05}, pacer).ok());
  const auto margin = Marginal(layout, fit, {0});
  // The denied cell is empty, so its neighbour alone answers for 80, 60 and 100: least squares says 80.
  EXPECT_NEAR(margin[0], 80, 0.1);
  for (const float weight : fit.weights()) EXPECT_GE(weight, 0);
  const auto before = std::vector<float>(fit.weights().begin(), fit.weights().end());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 100, .converged = 0, .prior_weight = 0.05}, pacer).ok());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(fit.weights()[i], before[i], 0.05F);
}

TEST(ProductFit, WeighsAnswersByTheirNoise) {
  const DenseLayout layout = Layout(CodedDomain({2}));
  Pacer pacer{std::stop_token()};
  ProductFit fit(layout, 100);
  ASSERT_TRUE(fit.Add({{{0}, EveryCell()}, {90, 10}, 1}, pacer).ok());
  ASSERT_TRUE(fit.Add({{{0}, EveryCell()}, {50, 50}, 3}, pacer).ok());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 20'000, .converged = 1e-9, .prior_weight = 0.01}, pacer).ok());
  // Inverse variances 1 and 1/9.
  EXPECT_NEAR(Marginal(layout, fit, {0})[0], (90 + 50 / 9.0) / (1 + 1 / 9.0), 0.1);
}

TEST(ProductFit, FitsRangesAndParitiesBesideCells) {
  const DenseLayout layout = Layout(CodedDomain({2, 4}));
  Pacer pacer{std::stop_token()};
  ProductFit fit(layout, 100);
  ASSERT_TRUE(fit.Add({{{}, EveryCell()}, {100}, 0.05}, pacer).ok());
  ASSERT_TRUE(
      fit.Add({{{1}, std::vector<LinearQuery>{{{0, 1}, {1, 1}}, {{1, 1}, {2, 1}}}}, {70, 50}, 0.05}, pacer)
          .ok());
  ASSERT_TRUE(fit.Add({{{0}, std::vector<LinearQuery>{{{0, 1}, {1, -1}}}}, {30}, 0.05}, pacer).ok());
  const auto end = fit.Replay({.most_sweeps = 5000, .converged = 1e-6, .prior_weight = 0.001}, pacer).value();
  EXPECT_LT(end.sweeps, 5000);
  const auto second = Marginal(layout, fit, {1});
  EXPECT_NEAR(second[0] + second[1], 70, 0.02);
  EXPECT_NEAR(second[1] + second[2], 50, 0.02);
  const auto first = Marginal(layout, fit, {0});
  EXPECT_NEAR(first[0] - first[1], 30, 0.02);
  EXPECT_EQ(fit.factors().size(), 3u);
}

TEST(ProductFit, StaysNearUniformWhereNoiseIsAllThereIs) {
  const DenseLayout layout = Layout(CodedDomain({2}));
  Pacer pacer{std::stop_token()};
  ProductFit fit(layout, 100);
  ASSERT_TRUE(fit.Add({{{}, EveryCell()}, {100}, 1}, pacer).ok());
  ASSERT_TRUE(fit.Add({{{0}, EveryCell()}, {5000, -5000}, 100'000}, pacer).ok());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 5000, .converged = 1e-9, .prior_weight = 0.1}, pacer).ok());
  EXPECT_NEAR(Marginal(layout, fit, {0})[0], 50, 1);
}

}  // namespace
}  // namespace curator::dp
