// Workloads that are measured by residuals: from the estimate to the stored answer, and what it answers free.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "codec/release_codec.h"
#include "dp/workload/residual/residual_errors.h"
#include "service/testing/fixture.h"
#include "service/workloads/answers.h"
#include "service/workloads/free_answers.h"
#include "service/workloads/plan_forecasts.h"
#include "service/workloads/resolve_workload.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Pointwise;

constexpr dp::Rho kRho(dp::kRhoUnitsPerOne / 10);
constexpr double kLevelOfIntervals = 0.95;

class ResidualAnswersTest : public ServiceTest {
 protected:
  static NewDataset Census() {
    NewDataset census = People("census");
    census.limit = dp::RuleSpec{
        .kind = dp::RuleKind::kZcdp, .epsilon = EpsilonOf(20'000), .delta = dp::Delta(1'000'000'000'000)};
    return census;
  }

  static WorkloadRequest Request(std::vector<QuerySetRequest> sets) {
    sets.front().strategy = dp::Strategy::kResidual;
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName("census"),
            .queries = std::move(sets),
            .spend = {.rho = kRho}};
  }
  static WorkloadRequest PairsAndPrefixes() {
    return Request({{MarginalsQuery{.sets = {{"sex", "age"}, {"sex", "region"}}}}, {PrefixesQuery{"age"}}});
  }

  WorkloadAnswer Answer(const WorkloadRequest& request, const RequestId& id = NewRequestId()) {
    absl::StatusOr<WorkloadAnswer> answer = AnswerWorkload(services_, request, {}, id, Intent::kDo);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *std::move(answer) : WorkloadAnswer();
  }

  // Of so little that many counts are measured below 0.
  WorkloadAnswer NoisyAnswer() {
    WorkloadRequest request = Request(
        {{MarginalsQuery{.sets = {{"sex", "age"}, {"sex", "region"}, {"sex"}}}}, {PrefixesQuery{"age"}}});
    request.spend.rho = dp::Rho(dp::kRhoUnitsPerOne / 10'000);
    return Answer(request);
  }

  // The groups of that answer, as `steps` leave them.
  std::vector<AnsweredGroup> GroupsOf(const dp::WorkloadRelease& release, const dp::PostProcessing& steps) {
    ReleaseAnswers answers =
        ReleaseAnswers::Create(census_.schema.domain, release, kLevelOfIntervals, steps).value();
    std::vector<AnsweredGroup> groups;
    for (const dp::AskedSet& asked : release.asked)
      for (size_t i = 0; i < asked.queries.groups.size(); ++i) groups.push_back(answers.Next().value());
    return groups;
  }

  const DatasetView census_ = MakeSealed(Census());
};

// The sums over the second attribute of a marginal whose first one is the sex.
std::vector<double> OfSexes(const AnsweredGroup& marginal) {
  std::vector<double> cells = marginal.estimates;
  if (cells.empty()) cells.assign(marginal.counts.begin(), marginal.counts.end());
  const size_t half = cells.size() / 2;
  return {std::accumulate(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(half), 0.0),
          std::accumulate(cells.begin() + static_cast<std::ptrdiff_t>(half), cells.end(), 0.0)};
}

TEST_F(ResidualAnswersTest, AreChargedWhatTheirEstimateSays) {
  const auto estimate = EstimateWorkload(services_, PairsAndPrefixes());
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_EQ(estimate->price.Postings(), Answer(PairsAndPrefixes()).price.Postings());
  const int64_t spent = Spent(census_);
  EXPECT_GT(spent, kRho.units() * 99 / 100);
  EXPECT_LE(spent, kRho.units());
}

TEST_F(ResidualAnswersTest, AreChosenWhereNoStrategyIsNamedAndTheyAreBetter) {
  WorkloadRequest open = PairsAndPrefixes();
  open.queries.front().strategy = dp::Strategy::kAuto;
  EXPECT_TRUE(Answer(open).answer.residual.has_value());
  open.queries = {{MarginalsQuery{.sets = {{"sex", "age"}}}}};
  EXPECT_FALSE(Answer(open).answer.residual.has_value()) << "measured itself as well, and in whole numbers";
}

TEST_F(ResidualAnswersTest, AreMoreExactInSetsOfMoreWeight) {
  const auto deviation = [&](double weight) {
    WorkloadRequest request = PairsAndPrefixes();
    request.queries.back().weight = weight;
    const WorkloadAnswer answer = Answer(request);
    ReleaseAnswers answers = ReleaseAnswers::Create(census_.schema.domain, answer.answer, 0.95, {}).value();
    EXPECT_TRUE(answers.Next().ok());
    EXPECT_TRUE(answers.Next().ok());
    return answers.Next()->standard_deviations.front();
  };
  EXPECT_LT(deviation(100), 0.9 * deviation(1));
}

TEST_F(ResidualAnswersTest, HaveOneObjective) {
  WorkloadRequest request = PairsAndPrefixes();
  request.objective = dp::ErrorMeasure::kLargest;
  EXPECT_TRUE(EstimateWorkload(services_, request).ok());
  request.spend = {};
  request.target = dp::Target{.rmse = 20};
  EXPECT_EQ(FieldOf(EstimateWorkload(services_, request).status()), "objective");
}

TEST_F(ResidualAnswersTest, AreStoredAndReadAgainWithoutAnotherDraw) {
  const RequestId id = NewRequestId();
  const WorkloadAnswer first = Answer(PairsAndPrefixes(), id);
  ASSERT_TRUE(first.answer.residual.has_value());
  const int64_t spent = Spent(census_);
  const WorkloadAnswer again = Answer(PairsAndPrefixes(), id);
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.answer, first.answer);
  EXPECT_EQ(Spent(census_), spent);
}

TEST_F(ResidualAnswersTest, HaveTheErrorsThatWereForecast) {
  const auto estimate = EstimateWorkload(services_, PairsAndPrefixes());
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  const dp::Domain& domain = census_.schema.domain;
  const WorkloadAnswer answered = Answer(PairsAndPrefixes());
  ReleaseAnswers answers = ReleaseAnswers::Create(domain, answered.answer, 0.95, {}).value();
  PlanForecasts forecasts(domain, estimate->asked, estimate->plan, 0.95);
  for (size_t set = 0; set < estimate->asked.size(); ++set) {
    const SetForecast forecast = forecasts.OfSet(set).value();
    EXPECT_EQ(forecast.measurement.strategy, dp::Strategy::kResidual);
    double sum = 0;
    double count = 0;
    double largest = 0;
    double widest = 0;
    for (size_t i = 0; i < estimate->asked[set].queries.groups.size(); ++i) {
      const AnsweredGroup group = answers.Next().value();
      EXPECT_FALSE(group.is_measured_itself);
      const double each =
          static_cast<double>(group.size()) / static_cast<double>(group.standard_deviations.size());
      for (const double deviation : group.standard_deviations) {
        sum += each * deviation * deviation;
        largest = std::max(largest, deviation);
      }
      for (const double half_width : group.half_widths) widest = std::max(widest, half_width);
      count += static_cast<double>(group.size());
    }
    EXPECT_EQ(forecast.answers, count);
    EXPECT_NEAR(forecast.standard_deviation / std::sqrt(sum / count), 1, 0.02)
        << "classes are the worst of 2%";
    EXPECT_NEAR(forecast.largest_standard_deviation / largest, 1, 0.02);
    EXPECT_NEAR(forecast.half_width / widest, 1, 0.02);
  }
}

TEST_F(ResidualAnswersTest, AgreeWithEachOther) {
  const WorkloadAnswer answered = Answer(PairsAndPrefixes());
  ReleaseAnswers answers = ReleaseAnswers::Create(census_.schema.domain, answered.answer, 0.95, {}).value();
  double totals[2] = {0, 0};
  for (double& total : totals) {
    const AnsweredGroup group = answers.Next().value();
    for (const double cell : group.estimates) total += cell;
  }
  const std::vector<double> prefixes = answers.Next().value().estimates;
  EXPECT_NEAR(totals[0], totals[1], 1e-6);
  EXPECT_NEAR(prefixes.back(), totals[0], 1e-6) << "the number of records";
}

TEST_F(ResidualAnswersTest, OfNonNegativeMarginalsAgreeAsWell) {
  const dp::WorkloadRelease release = NoisyAnswer().answer;
  const std::vector<AnsweredGroup> measured = GroupsOf(release, {});
  EXPECT_LT(std::ranges::min(measured[0].estimates), 0) << "or there is nothing to do";
  for (const bool consistent : {false, true}) {
    const std::vector<AnsweredGroup> groups =
        GroupsOf(release, {.non_negative = true, .consistent = consistent});
    ASSERT_EQ(groups.size(), 4U);
    for (const AnsweredGroup& group : groups) EXPECT_THAT(group.estimates, Each(Ge(0)));
    for (size_t i = 1; i < 3; ++i)
      EXPECT_THAT(OfSexes(groups[i]), Pointwise(DoubleNear(dp::kMostDisagreement), OfSexes(groups[0])));
  }
}

TEST_F(ResidualAnswersTest, OfNonNegativeWholeNumbersAgreeExactly) {
  const std::vector<AnsweredGroup> groups =
      GroupsOf(NoisyAnswer().answer, {.non_negative = true, .consistent = true, .integer = true});
  for (const AnsweredGroup& group : groups) EXPECT_THAT(group.counts, Each(Ge(0)));
  EXPECT_EQ(OfSexes(groups[1]), OfSexes(groups[0]));
  EXPECT_EQ(OfSexes(groups[2]), OfSexes(groups[0]));
}

TEST_F(ResidualAnswersTest, AreConsistentAsTheyWereMeasured) {
  const dp::WorkloadRelease release = NoisyAnswer().answer;
  const std::vector<AnsweredGroup> measured = GroupsOf(release, {});
  const std::vector<AnsweredGroup> groups = GroupsOf(release, {.consistent = true});
  for (size_t i = 0; i < groups.size(); ++i) EXPECT_EQ(groups[i].estimates, measured[i].estimates);
}

// The part from 0 on of the interval of the measured answer, and what it was changed to.
TEST_F(ResidualAnswersTest, ThatAreProcessedHaveTheIntervalsOfTheMeasuredOnes) {
  const dp::WorkloadRelease release = NoisyAnswer().answer;
  const std::vector<AnsweredGroup> measured = GroupsOf(release, {});
  const std::vector<AnsweredGroup> groups = GroupsOf(release, {.non_negative = true});
  for (size_t i = 0; i < groups.size(); ++i) {
    const AnsweredGroup& group = groups[i];
    EXPECT_TRUE(group.half_widths.empty());
    ASSERT_EQ(group.lows.size(), group.size());
    ASSERT_EQ(group.highs.size(), group.size());
    for (size_t c = 0; c < group.size(); ++c) {
      const double half = measured[i].half_widths[measured[i].half_widths.size() == 1 ? 0 : c];
      const double unbiased = measured[i].estimates[c];
      EXPECT_EQ(group.lows[c], std::min(std::max(unbiased - half, 0.0), group.estimates[c]));
      EXPECT_EQ(group.highs[c], std::max(std::max(unbiased + half, 0.0), group.estimates[c]));
    }
  }
}

TEST_F(ResidualAnswersTest, OfTooManyCellsAreRefusedWhereTheyAreToAgreeAndToBeNonNegative) {
  constexpr int64_t kCodes = 1000;
  const dp::Domain large = dp::Domain::Create({dp::Attribute::Create("a", dp::CodedKind{kCodes}).value(),
                                               dp::Attribute::Create("b", dp::CodedKind{kCodes}).value()})
                               .value();
  dp::WorkloadRelease planned;
  planned.asked.push_back(
      {.query_class = dp::QueryClass::kMarginals, .queries = {.groups = {{{0, 1}, dp::EveryCell()}}}});
  planned.residual = {
      .queries = {.axes = {{}}, .groups = {{{}, {}}, {{0}, {0}}, {{1}, {0}}, {{0, 1}, {0, 0}}}},
      .sigma_squared = std::vector<dp::Rational>(4, {1, 1})};
  EXPECT_EQ(FieldOf(CheckPostProcessing(large, planned, {.non_negative = true, .consistent = true})),
            "post_processing");
  EXPECT_TRUE(CheckPostProcessing(large, planned, {.non_negative = true}).ok()) << "each by itself";
  EXPECT_TRUE(CheckPostProcessing(large, planned, {.consistent = true}).ok());
}

TEST_F(ResidualAnswersTest, AnswerForNothingWhatTheirPartsDetermineAndNothingElse) {
  const WorkloadAnswer paid = Answer(PairsAndPrefixes());
  WorkloadRequest region = Request({{MarginalsQuery{.sets = {{"region"}}}}});
  region.queries.front().strategy = dp::Strategy::kAuto;
  region.prefer_free = true;
  const WorkloadAnswer free = Answer(region);
  EXPECT_EQ(free.free_from, paid.release.id);
  ReleaseAnswers answers = ReleaseAnswers::Create(census_.schema.domain, free.answer, 0.95, {}).value();
  EXPECT_EQ(answers.Next().value().estimates.size(), 4u);
  WorkloadRequest other = region;
  other.queries = {{MarginalsQuery{.sets = {{"age", "region"}}}}};
  EXPECT_EQ(Answer(other).free_from, std::nullopt);
}

TEST_F(ResidualAnswersTest, OfAReleaseThatLacksAPartAreDataLoss) {
  dp::WorkloadRelease release = Answer(PairsAndPrefixes()).answer;
  const auto code = [&](const dp::WorkloadRelease& damaged) {
    return ReleaseAnswers::Create(census_.schema.domain, damaged, 0.95, {}).status().code();
  };
  EXPECT_EQ(code(release), absl::StatusCode::kOk);
  dp::WorkloadRelease shorter = release;
  shorter.residual->queries.groups.pop_back();
  shorter.residual->sigma_squared.pop_back();
  shorter.values.pop_back();
  EXPECT_EQ(code(shorter), absl::StatusCode::kDataLoss);
  dp::WorkloadRelease fewer = release;
  fewer.values.back().pop_back();
  EXPECT_EQ(code(fewer), absl::StatusCode::kDataLoss);
}

TEST_F(ResidualAnswersTest, AreRefusedBeforeTheChargeWhereTheyCannotBeMeasured) {
  const ThresholdsQuery either{
      .conditions = {{.attribute = "sex", .values = {"Female"}}, {.attribute = "region", .values = {"1"}}},
      .at_least = {1}};
  const WorkloadRequest request = Request({{MarginalsQuery{.sets = {{"sex"}}}}, {either}});
  EXPECT_EQ(FieldOf(AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo).status()),
            "workload.query_sets[0].strategy");
  EXPECT_EQ(Spent(census_), 0);
}

}  // namespace
}  // namespace curator::service
