#include "dp/accounting/numerical/composition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/stated_composition.h"
#include "dp/accounting/testing/random_events.h"

namespace curator::dp {
namespace {

using testing::RandomEvents;

Event PureOf(int64_t thousandths) {
  return {PureEvent{Epsilon(thousandths * 1'000'000'000)}};
}

CertifiedBounds EpsilonBounds(const Schedule& schedule, double delta) {
  const absl::StatusOr<CertifiedBounds> bounds = NumericalEpsilon(schedule, delta, {});
  EXPECT_TRUE(bounds.ok()) << bounds.status();
  return bounds.value_or(CertifiedBounds{});
}

CertifiedBounds DeltaBounds(const Schedule& schedule, double epsilon) {
  const absl::StatusOr<CertifiedBounds> bounds = NumericalDelta(schedule, epsilon, {});
  EXPECT_TRUE(bounds.ok()) << bounds.status();
  return bounds.value_or(CertifiedBounds{});
}

// Mechanisms whose pairs are attained, small enough to compose quickly.
Schedule SmallSchedule(RandomEvents& random) {
  Schedule schedule;
  for (int64_t n = random.Between(1, 4); n > 0; --n) {
    const Rational scale{random.Between(4, 40), random.Between(1, 2)};
    Event event;
    switch (random.Between(0, 3)) {
      case 0:
        event = {LaplaceEvent{scale, {1, 1}}};
        break;
      case 1:
        event = {GaussianEvent{scale, {1, random.Between(1, 4)}}};
        break;
      case 2:
        event = {DiscreteLaplaceEvent{scale, 2, random.Between(1, 2)}};
        break;
      default:
        event = PureOf(random.Between(1, 300));
    }
    schedule.push_back({event, random.Between(1, 5)});
  }
  return schedule;
}

TEST(NumericalComposition, EnclosesTheKnownOptimumForRandomizedResponse) {
  for (const int64_t count : {1, 2, 7, 60}) {
    for (const double delta : {1e-3, 1e-9, 1e-14}) {
      const Schedule schedule = {{PureOf(130), count}};
      const double optimum = *OptimalPureEpsilon(*StatedOf(schedule), Interval::OfDouble(delta));
      const CertifiedBounds bounds = EpsilonBounds(schedule, delta);
      EXPECT_GE(bounds.upper, optimum * (1 - 1e-13)) << count << " " << delta;
      EXPECT_LE(bounds.upper, optimum + 1e-6) << count << " " << delta;
      ASSERT_TRUE(bounds.lower);
      EXPECT_LE(*bounds.lower, optimum) << count << " " << delta;
    }
  }
}

TEST(NumericalComposition, StaysTightWhereDeltaIsFarBelowRounding) {
  const Schedule schedule = {{PureOf(50), 200}};
  for (const double delta : {1e-18, 1e-25, 1e-40}) {
    const double optimum = *OptimalPureEpsilon(*StatedOf(schedule), Interval::OfDouble(delta));
    const CertifiedBounds bounds = EpsilonBounds(schedule, delta);
    EXPECT_GE(bounds.upper, optimum * (1 - 1e-13)) << delta;
    EXPECT_LE(bounds.upper, optimum + 1e-5) << delta;
  }
}

TEST(NumericalComposition, EnclosesTheGaussianAmongOthers) {
  // A pure mechanism of almost no epsilon keeps the Gaussian from being answered in closed form.
  const Schedule schedule = {{Event{GaussianEvent{{100, 1}, {1, 1}}}, 30}, {Event{PureEvent{Epsilon(1)}}, 1}};
  const double exact = GaussianEpsilon(Sqrt(Quotient({30}, {100})), Interval::OfDouble(1e-8));
  const CertifiedBounds bounds = EpsilonBounds(schedule, 1e-8);
  EXPECT_GE(bounds.upper, exact);
  EXPECT_LE(bounds.upper, exact * (1 + 1e-6));
  ASSERT_TRUE(bounds.lower);
  EXPECT_LE(*bounds.lower, exact + 1e-11);
  EXPECT_GE(*bounds.lower, exact - 3e-4);
}

TEST(NumericalComposition, EnclosesTheDiscreteGaussiansOwnCurve) {
  for (const int64_t variance : {1, 4, 30}) {
    const Schedule schedule = {{Event{DiscreteGaussianEvent{{variance, 1}, 1}}, 1}};
    for (const double epsilon : {0.05, 0.4, 1.3}) {
      const Interval exact = *DiscreteGaussianDelta({variance, 1}, 1, Interval::OfDouble(epsilon));
      const CertifiedBounds bounds = DeltaBounds(schedule, epsilon);
      EXPECT_GE(bounds.upper, exact.Lower()) << variance << " " << epsilon;
      EXPECT_LE(bounds.upper, exact.Upper() * (1 + 1e-3) + 1e-15) << variance << " " << epsilon;
      ASSERT_TRUE(bounds.lower);
      EXPECT_LE(*bounds.lower, exact.Upper()) << variance << " " << epsilon;
    }
  }
}

TEST(NumericalComposition, AVectorsShiftIsDominatedByOneCoordinate) {
  for (const int64_t l1 : {2, 3, 5}) {
    for (const double epsilon : {0.0, 0.1, 0.3, 0.7}) {
      const auto delta_with = [&](int64_t linf) {
        return DeltaBounds({{Event{DiscreteLaplaceEvent{{4, 1}, l1, linf}}, 3}}, epsilon).upper;
      };
      EXPECT_LE(delta_with(1), delta_with(l1) * (1 + 1e-6)) << l1 << " " << epsilon;
      EXPECT_LE(delta_with(2), delta_with(l1) * (1 + 1e-6)) << l1 << " " << epsilon;
    }
  }
}

TEST(NumericalComposition, DoesNotDependOnTheOrder) {
  RandomEvents random(11);
  for (int i = 0; i < 12; ++i) {
    Schedule schedule = SmallSchedule(random);
    const CertifiedBounds bounds = EpsilonBounds(schedule, 1e-7);
    std::reverse(schedule.begin(), schedule.end());
    EXPECT_EQ(EpsilonBounds(schedule, 1e-7).upper, bounds.upper);
    EXPECT_EQ(EpsilonBounds(schedule, 1e-7).lower, bounds.lower);
  }
}

TEST(NumericalComposition, CountsAreRepetitions) {
  const Event event{LaplaceEvent{{9, 1}, {1, 1}}};
  const Schedule apart(6, {event, 1});
  EXPECT_EQ(EpsilonBounds(apart, 1e-7).upper, EpsilonBounds({{event, 6}}, 1e-7).upper);
}

TEST(NumericalComposition, LowerStaysBelowUpperAndMoreCostsMore) {
  RandomEvents random(12);
  for (int i = 0; i < 15; ++i) {
    Schedule schedule = SmallSchedule(random);
    const CertifiedBounds before = EpsilonBounds(schedule, 1e-6);
    ASSERT_TRUE(before.lower);
    EXPECT_LE(*before.lower, before.upper);
    EXPECT_LE(*before.lower, EpsilonBounds(schedule, 1e-8).upper);
    schedule.push_back({PureOf(random.Between(1, 100)), 1});
    EXPECT_GE(EpsilonBounds(schedule, 1e-6).upper, *before.lower);
    EXPECT_GE(EpsilonBounds(schedule, 1e-6).upper, before.upper - 1e-6);
  }
}

TEST(NumericalComposition, DeltaIsNeverNegativeNorAboveOne) {
  RandomEvents random(13);
  for (int i = 0; i < 5; ++i) {
    const Schedule schedule = SmallSchedule(random);
    double last = 1;
    for (const double epsilon : {0.0, 0.01, 0.3, 2.0, 20.0, 100.0}) {
      const CertifiedBounds bounds = DeltaBounds(schedule, epsilon);
      EXPECT_GE(bounds.upper, 0);
      EXPECT_LE(bounds.upper, last * (1 + 1e-6));
      if (bounds.lower) {
        EXPECT_GE(*bounds.lower, 0);
        EXPECT_LE(*bounds.lower, bounds.upper);
      }
      last = bounds.upper;
    }
  }
}

TEST(NumericalComposition, EpsilonAndDeltaAgree) {
  RandomEvents random(14);
  for (int i = 0; i < 8; ++i) {
    const Schedule schedule = SmallSchedule(random);
    const double epsilon = EpsilonBounds(schedule, 1e-7).upper;
    EXPECT_LE(DeltaBounds(schedule, epsilon).upper, 1e-7 * (1 + 1e-5));
    if (epsilon > 0) {
      EXPECT_GE(DeltaBounds(schedule, epsilon * (1 - 1e-5)).upper, 1e-7);
    }
  }
}

TEST(NumericalComposition, TinySchedulesTakeAFinerGrid) {
  const Schedule schedule = {{Event{PureEvent{Epsilon(100)}}, 50}};  // 1e-10 each
  const CertifiedBounds bounds = EpsilonBounds(schedule, 1e-12);
  EXPECT_GE(bounds.upper, *OptimalPureEpsilon(*StatedOf(schedule), Interval::OfDouble(1e-12)));
  EXPECT_LE(bounds.upper, 5e-9 * 1.01);
}

// It is widened to a part of a step where a bound from above is asked for, and left out from below.
TEST(NumericalComposition, AGaussianFarNarrowerThanAStepCostsNextToNothing) {
  const Event narrow{GaussianEvent{{1'000'000'000'000'000, 1}, {1, 1}}};
  const CertifiedBounds alone = EpsilonBounds({{PureOf(100), 8}}, 1e-6);
  const CertifiedBounds both = EpsilonBounds({{PureOf(100), 8}, {narrow, 1}}, 1e-6);
  ASSERT_TRUE(both.lower);
  EXPECT_LE(*both.lower, alone.upper);
  EXPECT_GE(*both.lower, *alone.lower - 1e-9);
  EXPECT_GE(both.upper, *OptimalPureEpsilon(*StatedOf({{PureOf(100), 8}}), Interval::OfDouble(1e-6)));
  EXPECT_LE(both.upper, alone.upper + 1e-3);
}

TEST(NumericalComposition, AStepThatIsTooFineForMemoryIsMadeCoarser) {
  const Schedule schedule = {{PureOf(130), 7}};
  const double optimum = *OptimalPureEpsilon(*StatedOf(schedule), Interval::OfDouble(1e-6));
  const CertifiedBounds bounds = *NumericalEpsilon(schedule, 1e-6, {.sides = Sides::kBoth, .step = 1e-8});
  EXPECT_GE(bounds.upper, optimum * (1 - 1e-13));
  EXPECT_LE(bounds.upper, optimum + 1e-6);
  EXPECT_LE(*bounds.lower, optimum);
}

TEST(NumericalComposition, NothingCostsNothing) {
  EXPECT_EQ(EpsilonBounds({}, 1e-6).upper, 0);
  EXPECT_EQ(DeltaBounds({{PureOf(0), 9}}, 0).upper, 0);
}

TEST(NumericalComposition, WhatCannotBeCertifiedIsRefused) {
  const auto verdict = [](const Event& event, double delta) {
    return NumericalEpsilon({{event, 1}}, delta, {}).status().code();
  };
  EXPECT_EQ(verdict({ZcdpEvent{Rho(1)}}, 1e-6), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(verdict({DiscreteGaussianEvent{{1, 1}, 4}}, 1e-6), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(verdict(PureOf(1'000'000), 1e-6), absl::StatusCode::kOutOfRange);
  for (const double delta : {0.0, 1.0, -1.0, std::nan("")}) {
    EXPECT_EQ(verdict(PureOf(1), delta), absl::StatusCode::kInvalidArgument) << delta;
  }
  EXPECT_FALSE(NumericalDelta({{PureOf(1), 1}}, -1, {}).ok());
  EXPECT_FALSE(NumericalDelta({{PureOf(1), 1}}, std::nan(""), {}).ok());
  EXPECT_FALSE(NumericalEpsilon({{PureOf(1), 1}}, 1e-6, {.sides = Sides::kBoth, .step = 0}).ok());
  EXPECT_FALSE(NumericalEpsilon({{PureOf(1), int64_t{1} << 40}}, 1e-6, {}).ok());
}

TEST(NumericalComposition, StatedDeltasThatUseUpDeltaLeaveNoEpsilon) {
  const Schedule schedule = {{Event{ApproximateEvent{Epsilon(1'000'000'000), Delta(10'000'000'000)}}, 20}};
  EXPECT_TRUE(std::isinf(EpsilonBounds(schedule, 1e-7).upper));
  EXPECT_TRUE(std::isfinite(EpsilonBounds(schedule, 1e-6).upper));
  EXPECT_GE(DeltaBounds(schedule, 100).upper, 2e-7 * (1 - 1e-6));
}

// The mistake: what has no finite loss is forgotten.
TEST(NumericalCompositionCanary, TruncatedMassDroppedIsCaught) {
  Schedule schedule = {
      {Event{ApproximateEvent{Epsilon(100'000'000'000), Delta(100'000'000'000)}}, 8}};  // 1e-7 each
  const double delta = 1e-6;
  const double truth = *OptimalPureEpsilon(*StatedOf(schedule), Interval::OfDouble(delta));
  EXPECT_GE(EpsilonBounds(schedule, delta).upper, truth);
  const double dropped = EpsilonBounds({{PureOf(100), 8}}, delta).upper;
  EXPECT_LT(dropped, truth);
}

}  // namespace
}  // namespace curator::dp
