// Answers assembled from released numbers.
#include "service/workloads/answers.h"

#include <algorithm>
#include <cmath>

#include "codec/release_codec.h"
#include "service/testing/fixture.h"
#include "service/workloads/plan_forecasts.h"
#include "service/workloads/resolve_workload.h"

namespace curator::service {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;

const dp::NoiseSpec kUnitLaplace{dp::Mechanism::kDiscreteLaplace, {1, 1}};
const double kUnitDeviation = std::sqrt(2 * std::exp(-1.0)) / (1 - std::exp(-1.0));
constexpr double kLevel = 0.95;

const dp::Domain& People() {
  static const dp::Schema schema = PeopleSchema();
  return schema.domain;
}

// The counts of both sexes, measured themselves; and of the ages 0 to 19, from the counts of all ages.
dp::WorkloadRelease SexAndYoung() {
  const MarginalsQuery sex{.sets = {{"sex"}}};
  const RangesQuery young{.attributes = {"age"}, .boxes = {{ValueInterval{"0", "19"}}}};
  dp::WorkloadRelease release;
  release.asked = ResolveCounts(People(), {{sex}, {young}}).value();
  release.plans = {{.strategy = dp::Strategy::kDirect, .sources = {0}},
                   {.strategy = dp::Strategy::kBaseHistogram, .sources = {1}}};
  release.measured = {{{0}, dp::EveryCell()}, {{1}, dp::EveryCell()}};
  release.noise = kUnitLaplace;
  release.values = {{5, -1}, {7, 8, 1, 1, 1, 1, 1, 1, 1, 1}};
  return release;
}

TEST(Summarize, StatesTheErrorsOfOneMeasuredValue) {
  const NoiseSummary summary = Summarize(kUnitLaplace, kLevel).value();
  EXPECT_NEAR(summary.standard_deviation, kUnitDeviation, 1e-9);
  EXPECT_EQ(summary.half_width, 3);  // P(|X| > 3) = 0.027, P(|X| > 2) = 0.073
  EXPECT_EQ(summary.level, kLevel);
  EXPECT_EQ(FieldOf(Summarize(kUnitLaplace, 1).status()), "confidence_level");
}

TEST(DecodeAnswer, RefusesStatisticsOfAnotherDomainBeforeItCountsTheirAnswers) {
  dp::WorkloadRelease release;
  release.asked.push_back({.query_class = dp::QueryClass::kStatistics,
                           .statistics = dp::AskedStatistics{.statistics = {{}}, .by = {0}}});
  release.statistics = {
      .draws = {{.what = dp::SumDraw()}}, .bought = {{.noise = kUnitLaplace}}, .values = {{5, 1}}};
  const auto decoded = [](const dp::WorkloadRelease& stored) {
    RequestMemory memory;
    return DecodeAnswer(People(), codec::EncodeRelease(stored), memory).status().code();
  };
  EXPECT_EQ(decoded(release), absl::StatusCode::kOk);
  dp::WorkloadRelease by_none = release;
  by_none.asked[0].statistics->by = {99};
  dp::WorkloadRelease in_blocks_of_none = release;
  in_blocks_of_none.statistics.draws[0].what = dp::SumDraw{.blocks = dp::CodeBlocks{.column = 1'000'000}};
  for (const dp::WorkloadRelease& damaged : {by_none, in_blocks_of_none})
    EXPECT_EQ(decoded(damaged), absl::StatusCode::kDataLoss);
}

TEST(ReleaseAnswers, GivesMeasuredCellsAsTheyAreAndSumsWithTheirOwnErrors) {
  const dp::WorkloadRelease release = SexAndYoung();
  ReleaseAnswers answers = ReleaseAnswers::Create(People(), release, kLevel, {}).value();
  const AnsweredGroup sex = answers.Next().value();
  EXPECT_THAT(sex.counts, ElementsAre(5, -1));
  EXPECT_TRUE(sex.is_measured_itself);
  EXPECT_THAT(sex.half_widths, IsEmpty());
  const AnsweredGroup young = answers.Next().value();
  EXPECT_THAT(young.counts, ElementsAre(15));
  EXPECT_FALSE(young.is_measured_itself);
  ASSERT_THAT(young.standard_deviations, SizeIs(1));
  EXPECT_NEAR(young.standard_deviations[0], std::sqrt(2.0) * kUnitDeviation, 1e-9);
  ASSERT_THAT(young.half_widths, SizeIs(1));
  EXPECT_GT(young.half_widths[0], 3);
}

TEST(ReleaseAnswers, ThatArePostProcessedKeepTheErrorsOfTheMeasurements) {
  const dp::WorkloadRelease release = SexAndYoung();
  const dp::PostProcessing steps{.non_negative = true, .integer = true};
  ReleaseAnswers answers = ReleaseAnswers::Create(People(), release, kLevel, steps).value();
  const AnsweredGroup sex = answers.Next().value();
  EXPECT_THAT(sex.counts, SizeIs(2));
  EXPECT_THAT(sex.counts, Each(Ge(0)));
  EXPECT_TRUE(sex.is_measured_itself);
  EXPECT_THAT(answers.Next()->counts, ElementsAre(15));
}

// Of 5 and -1, each within 3.
TEST(ReleaseAnswers, ThatArePostProcessedHaveIntervalsThatHoldThem) {
  const dp::WorkloadRelease release = SexAndYoung();
  ReleaseAnswers non_negative =
      ReleaseAnswers::Create(People(), release, kLevel, {.non_negative = true}).value();
  const AnsweredGroup sex = non_negative.Next().value();
  EXPECT_THAT(sex.lows, ElementsAre(2, 0));
  EXPECT_THAT(sex.highs, ElementsAre(8, 2));
  const AnsweredGroup young = non_negative.Next().value();
  EXPECT_THAT(young.half_widths, IsEmpty());
  EXPECT_THAT(young.lows, ElementsAre(Lt(12)));
  EXPECT_THAT(young.highs, ElementsAre(Gt(18)));
  ReleaseAnswers whole = ReleaseAnswers::Create(People(), release, kLevel, {.integer = true}).value();
  EXPECT_THAT(whole.Next()->lows, ElementsAre(2, -4));
}

TEST(ReleaseAnswers, WithoutWholeNumbersArePostProcessedToEstimates) {
  const dp::WorkloadRelease release = SexAndYoung();
  ReleaseAnswers answers = ReleaseAnswers::Create(People(), release, kLevel, {.non_negative = true}).value();
  const AnsweredGroup sex = answers.Next().value();
  EXPECT_THAT(sex.counts, IsEmpty());
  EXPECT_THAT(sex.estimates, SizeIs(2));
}

TEST(ReleaseAnswers, NamesWhatWasMeasuredForOneSetAlone) {
  const dp::WorkloadRelease release = SexAndYoung();
  ReleaseAnswers answers = ReleaseAnswers::Create(People(), release, kLevel, {}).value();
  EXPECT_EQ(answers.MeasurementOf(0).measured_values, 2);
  EXPECT_EQ(answers.MeasurementOf(1).measured_values, 10);
  EXPECT_EQ(answers.MeasurementOf(1).strategy, dp::Strategy::kBaseHistogram);
}

// All ranges of ages from a tree, for a target.
dp::WorkloadPlan TreePlan(const std::vector<dp::AskedSet>& asked) {
  const dp::UnitBound record{dp::NeighbourRelation::kAddRemove, 1};
  const dp::RuleSpec rule{.kind = dp::RuleKind::kZcdp, .epsilon = dp::Epsilon(1), .delta = dp::Delta(1)};
  return dp::PlanForTarget(People(), record, rule, {asked[0].queries}, {.max_error = 60, .confidence = 0.9},
                           dp::Mechanism::kDiscreteGaussian)
      .value();
}

TEST(ReleaseAnswers, OfATreeHaveTheErrorsThatWereForecast) {
  const std::vector<dp::AskedSet> asked =
      ResolveCounts(People(), {{RangesQuery{.attributes = {"age"}, .boxes = {}}, dp::Strategy::kTree}})
          .value();
  const dp::WorkloadPlan plan = TreePlan(asked);
  const SetForecast forecast = PlanForecasts(People(), asked, plan, kLevel).OfSet(0).value();

  dp::WorkloadRelease release{.asked = asked,
                              .plans = plan.shape.joint.plans,
                              .measured = plan.shape.joint.measured,
                              .noise = plan.bought.noise,
                              .values = {},
                              .event = ""};
  release.values.emplace_back(static_cast<size_t>(plan.shape.measured_values));
  ReleaseAnswers answers = ReleaseAnswers::Create(People(), release, kLevel, {}).value();
  const AnsweredGroup ranges = answers.Next().value();
  ASSERT_THAT(ranges.half_widths, SizeIs(55));
  EXPECT_NEAR(std::ranges::max(ranges.half_widths), forecast.half_width, 1e-9);
  for (size_t i = 0; i < ranges.half_widths.size(); ++i)
    EXPECT_NEAR(ranges.half_widths[i], 1.96 * ranges.standard_deviations[i], 0.02 * ranges.half_widths[i]);
}

TEST(ReleaseAnswers, AreNotReadForAClientThatHasGone) {
  const dp::WorkloadRelease release = SexAndYoung();
  std::stop_source client;
  ReleaseAnswers answers = ReleaseAnswers::Create(People(), release, kLevel, {}, client.get_token()).value();
  EXPECT_TRUE(answers.Next().ok());
  client.request_stop();
  EXPECT_EQ(answers.Next().status().code(), absl::StatusCode::kCancelled);
  const dp::PostProcessing steps{.non_negative = true};
  EXPECT_EQ(ReleaseAnswers::Create(People(), release, kLevel, steps, client.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(TableShapeOf, HasAColumnForEachAttributeAndARowForEachAnswer) {
  const TableShape shape = TableShapeOf(People(), SexAndYoung().asked[1]);
  EXPECT_THAT(shape.columns, ElementsAre("age"));
  EXPECT_EQ(shape.answers, 1);
}

TEST(CheckPostProcessing, RefusesMoreCellsThanCanBeMadeToAgreeWithoutTheirValues) {
  const int64_t most = dp::kMostProjectedCells;
  const dp::Domain large =
      dp::Domain::Create({dp::Attribute::Create("code", dp::CodedKind{most + 1}).value()}).value();
  dp::WorkloadRelease planned;
  planned.asked = ResolveCounts(large, {{MarginalsQuery{.sets = {{"code"}}}}}).value();
  planned.plans = {{.strategy = dp::Strategy::kDirect, .sources = {0}}};
  planned.measured = planned.asked[0].queries.groups;
  planned.noise = kUnitLaplace;
  EXPECT_EQ(FieldOf(CheckPostProcessing(large, planned, {.non_negative = true, .consistent = true})),
            "post_processing");
  EXPECT_TRUE(CheckPostProcessing(large, planned, {}).ok());
}

}  // namespace
}  // namespace curator::service
