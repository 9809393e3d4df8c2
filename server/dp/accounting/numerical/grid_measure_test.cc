#include "dp/accounting/numerical/grid_measure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace curator::dp {
namespace {

constexpr CutOff kNothing{1e-30, 1e-30};

// The hockey-stick divergence of a measure at `epsilon`.
double HockeyStick(const GridMeasure& measure, const LossGrid& grid, double epsilon) {
  double delta = measure.infinity_mass;
  for (size_t i = 0; i < measure.mass.size(); ++i) {
    const double loss = static_cast<double>(measure.first + static_cast<int64_t>(i)) * grid.step;
    const double mass = measure.mass[i] * std::exp(measure.log_scale - grid.tilt * loss);
    if (loss > epsilon) delta += mass * -std::expm1(epsilon - loss);
  }
  return delta;
}

PrivacyLoss LossOf(const Event& event) {
  return LossesOf({{event, 1}})->losses.front().loss;
}

// Laplace of epsilon e: 1 - e^((eps - e)/2) inside (-e, e).
double LaplaceDelta(double epsilon, double e) {
  return epsilon >= e ? 0 : -std::expm1((epsilon - e) / 2);
}

TEST(GridMeasures, TheDotsLieOnTheTrueCurveAndTheLinesAboveIt) {
  const PrivacyLoss loss = LossOf({LaplaceEvent{{13, 10}, {1, 1}}});
  for (const double tilt : {0.5, 20.0}) {
    const LossGrid grid{0.01, tilt, Bound::kUpper};
    const GridMeasure measure = Discretized(loss, grid, kNothing);
    for (int k = -40; k <= 80; ++k) {
      const double at = k * 0.01;
      const double between = at + 0.004;
      const double e = 10.0 / 13;
      EXPECT_GE(HockeyStick(measure, grid, at), LaplaceDelta(at, e) - 1e-13);
      EXPECT_LE(HockeyStick(measure, grid, at), LaplaceDelta(at, e) + (at < e - 0.01 ? 1e-9 : 1e-4)) << at;
      EXPECT_GE(HockeyStick(measure, grid, between), LaplaceDelta(between, e));
    }
  }
}

TEST(GridMeasures, LowerMeasuresLieBelowTheTrueCurve) {
  const PrivacyLoss loss = LossOf({LaplaceEvent{{13, 10}, {1, 1}}});
  const LossGrid grid{0.01, 3, Bound::kLower};
  const GridMeasure measure = Discretized(loss, grid, kNothing);
  for (double epsilon = 0; epsilon < 0.9; epsilon += 0.007) {
    EXPECT_LE(HockeyStick(measure, grid, epsilon), LaplaceDelta(epsilon, 10.0 / 13) + 1e-12) << epsilon;
    EXPECT_GE(HockeyStick(measure, grid, epsilon), LaplaceDelta(epsilon, 10.0 / 13) - 0.01) << epsilon;
  }
}

TEST(GridMeasures, APieceWithinOneCellIsSharedOverItsEnds) {
  PrivacyLoss loss;
  loss.piece = ExponentialPiece{0.312, 0.317, 1};
  loss.least = 0.312;
  loss.largest = 0.317;
  const LossGrid grid{0.01, 2, Bound::kUpper};
  const GridMeasure measure = Discretized(loss, grid, kNothing);
  // Both the mass and the mass under the other neighbour, which is e^-l times as much, are kept.
  EXPECT_NEAR(HockeyStick(measure, grid, -700), 2 * (std::exp(0.317 / 2) - std::exp(0.312 / 2)), 1e-9);
  const double other = 2 * (std::exp(-0.312 / 2) - std::exp(-0.317 / 2));
  EXPECT_NEAR(HockeyStick(measure, grid, -700) - HockeyStick(measure, grid, 0), other, 1e-9);
}

TEST(GridMeasures, EveryKindHasAWholeMass) {
  for (const Event& event :
       {Event{PureEvent{Epsilon(300'000'000'000)}},
        Event{ApproximateEvent{Epsilon(300'000'000'000), Delta(1)}}, Event{LaplaceEvent{{7, 2}, {1, 1}}},
        Event{DiscreteLaplaceEvent{{5, 1}, 3, 3}}, Event{ExponentialMechanismEvent{Epsilon(700'000'000'000)}},
        Event{GaussianEvent{{9, 1}, {1, 1}}}, Event{DiscreteGaussianEvent{{9, 1}, 1}}}) {
    const LossGrid grid{0.001, 2, Bound::kUpper};
    const GridMeasure measure = Discretized(LossOf(event), grid, {1e-25, 1e-25});
    const double all = HockeyStick(measure, grid, -700);  // every mass counts in full
    EXPECT_GE(all, 1 - 1e-14) << Describe(event);
    EXPECT_LE(all, 1 + 1e-8) << Describe(event);
  }
}

TEST(GridMeasures, TrimmingNeverLowersAnUpperBound) {
  const LossGrid grid{0.01, 5, Bound::kUpper};
  GridMeasure measure = Discretized(LossOf({GaussianEvent{{4, 1}, {1, 1}}}), grid, {1e-25, 1e-25});
  measure = Convolved(measure, measure, grid);
  GridMeasure trimmed = measure;
  Trim(trimmed, grid, {1e-9, 1e-9});
  EXPECT_LT(trimmed.mass.size(), measure.mass.size());
  for (double epsilon = 0; epsilon < 6; epsilon += 0.13) {
    EXPECT_GE(HockeyStick(trimmed, grid, epsilon), HockeyStick(measure, grid, epsilon) * (1 - 1e-12))
        << epsilon;
    EXPECT_LE(HockeyStick(trimmed, grid, epsilon), HockeyStick(measure, grid, epsilon) + 2e-9) << epsilon;
  }
}

}  // namespace
}  // namespace curator::dp
