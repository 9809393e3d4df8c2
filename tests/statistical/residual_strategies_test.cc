// Strategies by residuals: their forecasts beside published errors, what is chosen for the demonstration's
// questions, and, of draws through the kernel, that errors are as large as forecast and intervals hold the
// true answer as often as they say. At night with ten times the draws.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/workload/residual/residual_plan.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/demo_questions.h"
#include "tests/statistical/measured_errors.h"
#include "tests/statistical/product_workloads.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

constexpr dp::UnitBound kAdded{dp::NeighbourRelation::kAddRemove, 1};
constexpr dp::UnitBound kReplaced{dp::NeighbourRelation::kReplaceOne, 1};

const std::vector<int64_t> kAdult = {100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2};
const std::vector<int64_t> kCps = {100, 50, 7, 4, 2};
const std::vector<int64_t> kLoans = {101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15};

// ---- Beside published errors

// Of the server's plan at rho = 1/2.
double PlannedRmse(const ProductWorkload& workload) {
  const std::vector<dp::QuerySet> sets = {QueriesOf(workload)};
  const auto shape =
      dp::ResidualShapeOf(dp::CodedDomain(workload.sizes), kAdded, sets, dp::ErrorMeasure::kMean, {});
  return std::sqrt(2 * shape.value()->error);
}

ProductWorkload Marginals(const std::vector<int64_t>& sizes, int least_ways, int most_ways) {
  return {.sizes = sizes, .prefixes = 0, .least_ways = least_ways, .most_ways = most_ways};
}

ProductWorkload Prefixes(const std::vector<int64_t>& sizes, size_t prefixes, int least_ways, int most_ways) {
  return {.sizes = sizes, .prefixes = prefixes, .least_ways = least_ways, .most_ways = most_ways};
}

// ResidualPlanner's optimum (Xiao, He, Zhang, Kifer 2023), to four digits.
TEST(PublishedErrors, OfMarginalsAreReachedAndCannotBeLess) {
  EXPECT_NEAR(PlannedRmse(Marginals(kAdult, 3, 3)), 10.515, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kAdult, 0, 3)), 10.665, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kCps, 1, 1)), 1.744, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kCps, 2, 2)), 2.035, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kCps, 3, 3)), 2.048, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kCps, 0, 3)), 2.276, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kLoans, 1, 1)), 2.875, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kLoans, 2, 2)), 5.634, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kLoans, 3, 3)), 8.702, 5e-4);
  EXPECT_NEAR(PlannedRmse(Marginals(kLoans, 0, 3)), 8.876, 5e-4);
}

// ResidualPlanner+ has 45.223 and 45.174, HDMM 60.025 and 61.613; a certified optimum for offsets that are
// even but for the last code has 44.09 and 44.02.
TEST(PublishedErrors, OfPrefixesOfAdultThreeAtATimeAreLarger) {
  const ProductForecast three = ForecastOf(Prefixes(kAdult, 5, 3, 3));
  EXPECT_LE(three.rmse, 44.09);
  EXPECT_LE(three.gap, 4e-4) << "1e-4 of each of three attributes";
  EXPECT_LE(ForecastOf(Prefixes(kAdult, 5, 0, 3)).rmse, 44.02);
}

// Those of ResidualPlanner+.
TEST(PublishedErrors, OfPrefixesOfOtherTablesAreLarger) {
  EXPECT_LE(PlannedRmse(Prefixes(kCps, 2, 1, 1)), 3.081);
  EXPECT_LE(PlannedRmse(Prefixes(kCps, 2, 2, 2)), 5.823);
  EXPECT_LE(PlannedRmse(Prefixes(kCps, 2, 3, 3)), 7.302);
  EXPECT_LE(PlannedRmse(Prefixes(kLoans, 4, 1, 1)), 4.681);
  EXPECT_LE(PlannedRmse(Prefixes(kLoans, 4, 2, 2)), 14.502);
  EXPECT_LE(ForecastOf(Prefixes(kLoans, 4, 3, 3)).rmse, 34.168);
}

// The plan's search for offsets is coarser.
TEST(PublishedErrors, AreTheSameFromSumsOverEachAttributeAsFromAllQueries) {
  for (const ProductWorkload& workload :
       {Prefixes(kAdult, 5, 1, 1), Prefixes(kAdult, 5, 2, 2), Prefixes(kCps, 2, 0, 3)})
    EXPECT_NEAR(ForecastOf(workload).rmse / PlannedRmse(workload), 1, 2e-3);
}

// ---- What is chosen

using ErrorOf = double (*)(const dp::Domain& domain, const dp::WorkloadPlan& plan);

// A plan is by residuals where that gains more than a millionth.
void ExpectNeverBehind(const dp::UnitBound& unit, Choice other, dp::ErrorMeasure objective,
                       ErrorOf error_of) {
  int ahead = 0;
  for (const Question& question : DemoQuestions()) {
    const auto compared = PlanOf(DemoSizes(), unit, question.sets, RhoOf(0.03), other, objective);
    if (other == Choice::kJoint && !compared.ok()) continue;  // no question for them
    const auto chosen = PlanOf(DemoSizes(), unit, question.sets, RhoOf(0.03), Choice::kAuto, objective);
    ASSERT_TRUE(compared.ok() && chosen.ok()) << question.words;
    const double error = error_of(DemoSizes(), *chosen);
    EXPECT_LE(error, error_of(DemoSizes(), *compared) * (1 + 1e-6)) << question.words;
    ahead += error < 0.99 * error_of(DemoSizes(), *compared) ? 1 : 0;
  }
  if (other == Choice::kEachSetByItself) {
    EXPECT_GE(ahead, 8);
  }
}

TEST(ChosenStrategies, AreNeverBehindThoseWithoutResiduals) {
  for (const dp::UnitBound& unit : {kAdded, kReplaced}) {
    ExpectNeverBehind(unit, Choice::kEachSetByItself, dp::ErrorMeasure::kMean, RootMeanErrorOf);
    ExpectNeverBehind(unit, Choice::kEachSetByItself, dp::ErrorMeasure::kLargest, LargestErrorOf);
  }
}

TEST(ChosenStrategies, AreNeverBehindResidualsThatWereAskedFor) {
  for (const dp::UnitBound& unit : {kAdded, kReplaced}) {
    ExpectNeverBehind(unit, Choice::kJoint, dp::ErrorMeasure::kMean, RootMeanErrorOf);
    ExpectNeverBehind(unit, Choice::kJoint, dp::ErrorMeasure::kLargest, LargestErrorOf);
  }
}

// ---- Draws

// Units and the workload that is drawn for them.
struct Drawn {
  std::string name;
  dp::UnitBound unit;
  std::vector<dp::QuerySet> sets;
};

const std::vector<int64_t> kSmall = {12, 9, 5, 2};

// Marginals, boxes over two attributes, and both.
std::vector<Drawn> AllDrawn() {
  const dp::QuerySet marginals = QueriesOf(Marginals(kSmall, 1, 3));
  const dp::QuerySet boxes = QueriesOf(Prefixes(kSmall, 2, 1, 2));
  return {{"marginals", kAdded, {marginals}},
          {"boxes", kReplaced, {boxes}},
          {"both", kReplaced, {marginals, boxes}}};
}

// Of a plan of one spend, and not of one of 5% less. The root of the mean square has half of the relative
// deviation of the mean square: the 1% are four deviations at least, and 12 at night.
void ExpectForecastErrors(const dp::Domain& domain, const Drawn& drawn, const dp::Spend& spend,
                          const dp::Spend& smaller, int64_t draws, uint64_t sample) {
  const dp::WorkloadPlan plan = PlanOf(domain, drawn.unit, drawn.sets, spend, Choice::kJoint).value();
  seeded::SeededBits bits(AuditSeed(sample));
  const MeasuredErrors found = DrawErrors(domain, drawn.unit, plan, draws, bits);
  EXPECT_LT(found.deviation_of_it / found.mean_square / 2, 0.01 / 4) << "too few draws";
  EXPECT_NEAR(std::sqrt(found.mean_square / ForecastOf(domain, plan)), 1, 0.01) << drawn.name;
  const dp::WorkloadPlan other = PlanOf(domain, drawn.unit, drawn.sets, smaller, Choice::kJoint).value();
  EXPECT_LT(std::sqrt(found.mean_square / ForecastOf(domain, other)), 0.99) << "a budget 5% smaller";
}

// Of a million answers.
void ExpectHeldIntervals(const dp::Domain& domain, const Drawn& drawn, const dp::Spend& spend,
                         uint64_t sample) {
  const auto answers = static_cast<int64_t>(AuditSize(1'000'000));
  const dp::WorkloadPlan plan = PlanOf(domain, drawn.unit, drawn.sets, spend, Choice::kJoint).value();
  seeded::SeededBits bits(AuditSeed(sample));
  const int64_t draws = (answers - 1) / plan.shape.answers + 1;
  const MeasuredErrors found = DrawErrors(domain, drawn.unit, plan, draws, bits);
  EXPECT_GE(found.answers, answers);
  EXPECT_GE(found.held, 0.945) << drawn.name;
  EXPECT_LE(found.held, 0.955) << drawn.name;
}

TEST(ResidualDraws, HaveTheErrorThatWasForecast) {
  const auto draws = static_cast<int64_t>(AuditSize(4000));
  for (const Drawn& drawn : AllDrawn())
    ExpectForecastErrors(dp::CodedDomain(kSmall), drawn, RhoOf(0.5), RhoOf(0.475), draws, 2800);
}

TEST(ResidualDraws, LieWithinTheirIntervalsAsOftenAsTheLevelSays) {
  for (const double rho : {1e-4, 0.01, 0.5, 10.0}) {
    SCOPED_TRACE(testing::Message() << "rho " << rho);
    for (const Drawn& drawn : AllDrawn())
      ExpectHeldIntervals(dp::CodedDomain(kSmall), drawn, RhoOf(rho), 2801);
  }
}

// ---- Parities

const std::vector<int64_t> kBits = {2, 2, 2, 2, 2, 2, 2, 2};

// Of one, two and three attributes of two codes.
std::vector<Drawn> DrawnParities() {
  const dp::QuerySet up_to_three = QueriesOf(Marginals(kBits, 1, 3));
  return {{"pairs", kAdded, {QueriesOf(Marginals(kBits, 2, 2))}}, {"up to three", kReplaced, {up_to_three}}};
}

TEST(ParityDraws, HaveTheErrorThatWasForecast) {
  const auto draws = static_cast<int64_t>(AuditSize(20'000));
  for (const Drawn& drawn : DrawnParities())
    ExpectForecastErrors(dp::CodedDomain(kBits), drawn, EpsilonOf(1), EpsilonOf(0.95), draws, 2802);
}

TEST(ParityDraws, LieWithinTheirIntervalsAsOftenAsTheLevelSays) {
  for (const double epsilon : {0.001, 0.1, 1.0, 50.0}) {
    SCOPED_TRACE(testing::Message() << "epsilon " << epsilon);
    for (const Drawn& drawn : DrawnParities())
      ExpectHeldIntervals(dp::CodedDomain(kBits), drawn, EpsilonOf(epsilon), 2803);
  }
}

}  // namespace
}  // namespace curator::statistics
