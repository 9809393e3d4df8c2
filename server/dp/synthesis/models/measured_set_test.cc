#include "dp/synthesis/models/measured_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

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

}  // namespace
}  // namespace curator::dp
