#include "dp/accounting/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <future>
#include <limits>
#include <map>
#include <vector>

#include "dp/accounting/calculators/stated_composition.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/testing/random_events.h"

namespace curator::dp {
namespace {

constexpr Delta kDelta(1'000'000'000'000);  // 1e-6

Schedule Pures(int64_t count) {
  return {{{PureEvent{Epsilon(kEpsilonUnitsPerOne / 10)}}, count}};
}
Schedule Gaussians(int64_t count) {
  return {{{GaussianEvent{.sigma_squared = {100, 1}}}, count}};
}

std::map<std::string, CalculatedEpsilon> Compared(const Schedule& schedule, Effort effort) {
  const auto rows = CompareCalculators(schedule, kDelta, effort);
  EXPECT_TRUE(rows.ok()) << rows.status();
  std::map<std::string, CalculatedEpsilon> by_name;
  for (const CalculatedEpsilon& row : *rows) by_name.emplace(row.calculator, row);
  return by_name;
}

TEST(CompareCalculators, SumsAndTheoremsAgreeWithTheirClosedForms) {
  const auto rows = Compared(Pures(100), Effort::kThorough);
  EXPECT_NEAR(*rows.at("basic").epsilon, 10, 1e-12);
  const double root = std::sqrt(2 * 100 * std::log(1e6)) * 0.1;
  EXPECT_NEAR(*rows.at("dwork-rothblum-vadhan").epsilon, root + 100 * 0.1 * std::expm1(0.1), 1e-9);
  EXPECT_NEAR(*rows.at("advanced").epsilon, root + 0.5, 1e-9);
  const double rho = 100 * 0.1 * std::tanh(0.05);
  EXPECT_NEAR(*rows.at("zcdp-loose").epsilon, rho + 2 * std::sqrt(rho * std::log(1e6)), 1e-9);
  EXPECT_FALSE(rows.at("gaussian-dp").epsilon.ok());
}

TEST(CompareCalculators, NoUpperBoundIsBelowTheLowerBound) {
  for (const Schedule& schedule : {Pures(100), Gaussians(20)}) {
    const auto rows = Compared(schedule, Effort::kThorough);
    const double least = *rows.at("numerical-lower").epsilon;
    EXPECT_GT(least, 0);
    for (const auto& [name, row] : rows) {
      if (row.side == BoundSide::kUpper && row.epsilon.ok()) {
        EXPECT_GE(*row.epsilon, least) << name;
      }
    }
    EXPECT_LE(*rows.at("numerical").epsilon, least * (1 + 2e-3));
  }
}

TEST(CompareCalculators, OnlyFiltersAreCalledAdaptive) {
  const auto pure = Compared(Pures(100), Effort::kBounded);
  const auto gaussian = Compared(Gaussians(20), Effort::kBounded);
  for (const char* filter : {"basic", "advanced", "zcdp-loose", "zcdp-tight"}) {
    EXPECT_EQ(pure.at(filter).validity, Validity::kAdaptive) << filter;
  }
  for (const char* fixed : {"dwork-rothblum-vadhan", "kairouz-oh-viswanath", "rdp", "numerical"}) {
    EXPECT_EQ(pure.at(fixed).validity, Validity::kFixedSchedule) << fixed;
  }
  EXPECT_EQ(gaussian.at("basic").validity, Validity::kFixedSchedule)
      << "shares of delta are fixed beforehand";
}

TEST(CompareCalculators, BoundedEffortLeavesOutWhatMayTakeLong) {
  Schedule many;
  for (int64_t i = 1; i <= static_cast<int64_t>(kMostMechanismsBounded) + 1; ++i) {
    many.push_back({{PureEvent{Epsilon(i)}}, 1});
  }
  const auto rows = Compared(many, Effort::kBounded);
  EXPECT_TRUE(absl::IsOutOfRange(rows.at("numerical").epsilon.status()));
  EXPECT_TRUE(absl::IsOutOfRange(rows.at("rdp").epsilon.status()));
  EXPECT_TRUE(absl::IsOutOfRange(rows.at("optimal").epsilon.status()));
  EXPECT_TRUE(rows.at("basic").epsilon.ok());
}

// No two alike.
Schedule Laplaces(int kinds, int64_t count) {
  Schedule schedule;
  for (int i = 0; i < kinds; ++i)
    schedule.push_back({{LaplaceEvent{.scale = {50'000 + 97 * i, 1000}}}, count});
  return schedule;
}

double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The first took four minutes, and 500 MB, before there were bounds; the margin is for slow builds.
TEST(LeastUpperBound, OfHostileSchedulesTakesBoundedTime) {
  constexpr double kMostSeconds = 15;
  std::vector<Schedule> hostile = {Laplaces(64, 100'000),
                                   Laplaces(64, 100),
                                   Laplaces(1, 100'000'000),
                                   Laplaces(2048, 1),
                                   {{{DiscreteLaplaceEvent{{5'000'000, 1}, 524'000, 524'000}}, 1'000'000}}};
  Schedule mixed = Laplaces(1024, 1);
  for (int64_t i = 0; i < 1024; ++i) mixed.push_back({{GaussianEvent{.sigma_squared = {2500 + i, 1}}}, 1});
  hostile.push_back(std::move(mixed));
  for (const Schedule& schedule : hostile) {
    const double before = ThreadSeconds();
    const absl::StatusOr<CalculatedEpsilon> least = LeastUpperBound(schedule, kDelta);
    EXPECT_TRUE(least.ok()) << least.status();
    EXPECT_LT(ThreadSeconds() - before, kMostSeconds) << schedule.size() << " mechanisms";
  }
}

TEST(LeastUpperBound, TakesNoMoreThanTwiceTheStepsThatAreForecast) {
  for (const Schedule& schedule : {Laplaces(64, 100), Laplaces(64, 1000), Laplaces(1, 10'000)}) {
    const auto bounds = NumericalEpsilon(schedule, 1e-6, {.sides = Sides::kUpper, .limits = kBoundedLimits});
    ASSERT_TRUE(bounds.ok()) << bounds.status();
    EXPECT_LE(bounds->steps, 2 * kBoundedLimits.most_steps);
  }
  const auto unbounded = NumericalEpsilon(Laplaces(64, 100), 1e-6, {.sides = Sides::kUpper});
  EXPECT_GT(unbounded->steps, 2 * kBoundedLimits.most_steps) << "else nothing was bounded here";
}

TEST(LeastUpperBound, OnACoarserGridIsStillABound) {
  for (const Schedule& schedule : {Laplaces(3, 20), Laplaces(1, 500), Gaussians(1), Pures(100)}) {
    const CertifiedBounds fine = *NumericalEpsilon(schedule, 1e-6, {});
    double before = 0;
    for (const double most_steps : {1e4, 3e4, 1e5, 1e6}) {
      const auto coarse =
          NumericalEpsilon(schedule, 1e-6, {.sides = Sides::kUpper, .limits = {.most_steps = most_steps}});
      if (!coarse.ok()) continue;  // does not fit on any grid
      EXPECT_GE(coarse->upper, fine.lower.value_or(0)) << most_steps;
      EXPECT_LE(coarse->steps, 2 * most_steps);
      before = coarse->upper;
    }
    EXPECT_NEAR(before, fine.upper, 1e-2 * fine.upper);
  }
}

TEST(LeastUpperBound, EndsWhenItsClientHasGone) {
  std::stop_source client;
  std::future<absl::Status> compared = std::async(std::launch::async, [&] {
    // Minutes, without a stop.
    return CompareCalculators(Laplaces(64, 100'000), kDelta, Effort::kThorough, client.get_token()).status();
  });
  client.request_stop();
  EXPECT_TRUE(absl::IsCancelled(compared.get()));
  EXPECT_TRUE(absl::IsCancelled(LeastUpperBound(Pures(3), kDelta, client.get_token()).status()));
  // Only between two convolutions is a composition itself ended.
  EXPECT_TRUE(NumericalEpsilon(Laplaces(1, 1), 1e-6, {.stop = client.get_token()}).ok());
  EXPECT_TRUE(
      absl::IsCancelled(NumericalEpsilon(Laplaces(1, 2), 1e-6, {.stop = client.get_token()}).status()));
}

TEST(CompareCalculators, StatedDeltasThatUseUpDeltaLeaveNoEpsilon) {
  const Schedule schedule = {{{ApproximateEvent{Epsilon(1), Delta(kDelta.units())}}, 2}};
  const auto rows = Compared(schedule, Effort::kThorough);
  EXPECT_TRUE(std::isinf(*rows.at("basic").epsilon));
  EXPECT_TRUE(std::isinf(*rows.at("numerical").epsilon));
}

// The product of all 1 - delta is 0, or so small that it is no number.
TEST(CompareCalculators, StatedDeltasThatKeepNothingLeaveNoEpsilon) {
  const Event broken{ApproximateEvent{Epsilon(1), Delta(kDeltaUnitsPerOne)}};
  const Event half{ApproximateEvent{Epsilon(1), Delta(kDeltaUnitsPerOne / 2)}};
  for (const Schedule& schedule :
       {Schedule{{broken, 1}}, Schedule{{half, std::numeric_limits<int64_t>::max()}}}) {
    for (const auto& [name, row] : Compared(schedule, Effort::kThorough)) {
      if (row.side == BoundSide::kUpper && row.epsilon.ok()) {
        EXPECT_TRUE(std::isinf(*row.epsilon)) << name << " " << *row.epsilon;
      }
    }
    EXPECT_EQ(LeastUpperBound(schedule, kDelta).status().code(), absl::StatusCode::kOutOfRange);
  }
}

TEST(CompareCalculators, SoManyGaussiansThatTheirNumberDoesNotFitAreRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Schedule schedule = Gaussians(kMost);
  schedule.push_back({{GaussianEvent{.sigma_squared = {400, 1}}}, kMost});
  EXPECT_EQ(BasicEpsilon(schedule, Interval::Of(kDelta)).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(CompareCalculators, StatedZcdpIsCountedByWhatRestsOnDivergences) {
  const Schedule schedule = {{{ZcdpEvent{Rho(2'000'000'000)}}, 5}};  // 0.002 each
  const auto rows = Compared(schedule, Effort::kThorough);
  const double tight = EpsilonOfZcdp(Interval::Of(Rho(10'000'000'000)), Interval::Of(kDelta)).Upper();
  EXPECT_NEAR(*rows.at("zcdp-tight").epsilon, tight, 1e-12);
  EXPECT_NEAR(*rows.at("zcdp-loose").epsilon, 0.01 + 2 * std::sqrt(0.01 * std::log(1e6)), 1e-9);
  EXPECT_NEAR(*rows.at("rdp").epsilon, tight, 1e-6);
  for (const char* other : {"basic", "advanced", "optimal", "numerical", "gaussian-dp"})
    EXPECT_TRUE(absl::IsFailedPrecondition(rows.at(other).epsilon.status())) << other;
}

// On one coordinate that shifts by 1 its losses are those of randomised response.
TEST(CompareCalculators, DiscreteLaplaceIsCountedAsRandomizedResponseOfItsEpsilon) {
  const Schedule laplace = {{{DiscreteLaplaceEvent{{10, 1}, 1, 1}}, 100}};
  const auto rows = Compared(laplace, Effort::kBounded);
  for (const auto& [name, response] : Compared(Pures(100), Effort::kBounded)) {
    ASSERT_EQ(rows.at(name).epsilon.ok(), response.epsilon.ok()) << name;
    if (!response.epsilon.ok()) continue;
    EXPECT_NEAR(*rows.at(name).epsilon, *response.epsilon, 1e-9) << name;
  }
}

TEST(OptimalPureEpsilon, RefusesEpsilonsWithoutACommonMeasureThatIsCoarseEnough) {
  const std::vector<Stated> apart = {{Interval(1), Interval(0), 1},
                                     {Interval::Of(Epsilon(kEpsilonUnitsPerOne - 11)), Interval(0), 1}};
  EXPECT_EQ(OptimalPureEpsilon(apart, Interval::Of(kDelta)).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(CompareCalculators, EqualMechanismsAreOneHoweverTheyAreListed) {
  Schedule scattered = Pures(3);
  scattered.push_back({{PureEvent{Epsilon(kEpsilonUnitsPerOne)}}, 1});
  scattered.push_back(Pures(2).front());
  Schedule gathered = Pures(5);
  gathered.push_back(scattered[1]);
  const auto rows = Compared(scattered, Effort::kThorough);
  for (const auto& [name, row] : Compared(gathered, Effort::kThorough)) {
    ASSERT_EQ(rows.at(name).epsilon.ok(), row.epsilon.ok()) << name;
    if (row.epsilon.ok()) {
      EXPECT_EQ(*rows.at(name).epsilon, *row.epsilon) << name;
    }
  }
}

// Every calculator, on schedules at random: more mechanisms or a smaller delta never lower its epsilon,
// beyond what its own grid may lose.
TEST(CompareCalculators, MoreMechanismsOrLessDeltaNeverLowerAnEpsilon) {
  constexpr double kGrid = 1e-6;
  testing::RandomEvents random(51);
  const auto mechanism = [&] {
    if (random.Between(0, 3) == 0) return Event{GaussianEvent{{random.Between(4, 400), 1}, {1, 1}}};
    return Event{LaplaceEvent{{random.Between(2, 30), 1}, {1, 1}}};
  };
  for (int trial = 0; trial < 8; ++trial) {
    Schedule schedule = {{mechanism(), random.Between(1, 9)}, {mechanism(), random.Between(1, 9)}};
    const auto before = Compared(schedule, Effort::kBounded);
    const auto strict = *CompareCalculators(schedule, Delta(kDelta.units() / 7), Effort::kBounded);
    for (const CalculatedEpsilon& row : strict) {
      const CalculatedEpsilon& loose = before.at(std::string(row.calculator));
      if (!row.epsilon.ok() || !loose.epsilon.ok()) continue;
      EXPECT_GE(*row.epsilon, *loose.epsilon * (1 - kGrid)) << row.calculator;
    }
    schedule.push_back({mechanism(), 1});
    for (const auto& [name, row] : Compared(schedule, Effort::kBounded)) {
      if (!row.epsilon.ok() || !before.at(name).epsilon.ok()) continue;
      EXPECT_GE(*row.epsilon, *before.at(name).epsilon * (1 - kGrid)) << name;
    }
  }
}

TEST(CompareCalculators, RefusesADeltaThatIsNone) {
  EXPECT_TRUE(absl::IsInvalidArgument(CompareCalculators(Pures(1), Delta(0), Effort::kBounded).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      CompareCalculators(Pures(1), Delta(kDeltaUnitsPerOne), Effort::kBounded).status()));
}

}  // namespace
}  // namespace curator::dp
