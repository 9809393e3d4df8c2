// Workloads that are measured by parities: from the estimate to the stored answer, and what it answers free.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "codec/release_codec.h"
#include "service/testing/fixture.h"
#include "service/workloads/answers.h"
#include "service/workloads/free_answers.h"
#include "service/workloads/plan_forecasts.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Pointwise;

constexpr double kPollLevel = 0.95;
constexpr int kPolled = 400;

// Six yes-or-no questions, which some people answered.
class ParityAnswersTest : public ServiceTest {
 protected:
  static NewDataset Poll() {
    std::vector<dp::Attribute> attributes;
    for (int i = 1; i <= 6; ++i)
      attributes.push_back(dp::Attribute::Create(QuestionName(i), dp::CodedKind{2}).value());
    NewDataset poll = People("poll", 1000);
    poll.schema =
        dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
    return poll;
  }
  static std::string QuestionName(int i) { return "q" + std::to_string(i); }

  static std::string PollCsv() {
    std::string csv = "q1,q2,q3,q4,q5,q6\n";
    for (int record = 0; record < kPolled; ++record) {
      for (int i = 1; i <= 6; ++i) csv += std::string(i > 1 ? "," : "") + (record % (i + 1) == 0 ? "1" : "0");
      csv += "\n";
    }
    return csv;
  }

  static WorkloadRequest Pairs(int64_t epsilon_thousandths = 1000) {
    MarginalsQuery pairs;
    for (int i = 1; i <= 6; ++i) {
      for (int j = i + 1; j <= 6; ++j) pairs.sets.push_back({QuestionName(i), QuestionName(j)});
    }
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName("poll"),
            .queries = {{std::move(pairs)}},
            .spend = {.epsilon = EpsilonOf(epsilon_thousandths)}};
  }

  WorkloadAnswer Answer(const WorkloadRequest& request, const RequestId& id = NewRequestId()) {
    absl::StatusOr<WorkloadAnswer> answer = AnswerWorkload(services_, request, {}, id, Intent::kDo);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *std::move(answer) : WorkloadAnswer();
  }

  std::vector<AnsweredGroup> GroupsOf(const dp::WorkloadRelease& release, const dp::PostProcessing& steps) {
    ReleaseAnswers answers = ReleaseAnswers::Create(poll_.schema.domain, release, kPollLevel, steps).value();
    std::vector<AnsweredGroup> groups;
    for (const dp::AskedSet& asked : release.asked)
      for (size_t i = 0; i < asked.queries.groups.size(); ++i) groups.push_back(answers.Next().value());
    return groups;
  }

  const DatasetView poll_ = MakeSealed(Poll(), PollCsv());
};

// Of q1 by itself, from the marginal of q1 and another question.
std::vector<double> OfTheFirst(const AnsweredGroup& pair) {
  std::vector<double> cells = pair.estimates;
  if (cells.empty()) cells.assign(pair.counts.begin(), pair.counts.end());
  return {cells[0] + cells[1], cells[2] + cells[3]};
}

TEST_F(ParityAnswersTest, AreChosenWhereNoStrategyIsNamedAndTheyAreBetter) {
  const WorkloadAnswer answered = Answer(Pairs());
  EXPECT_TRUE(dp::AreByParity(answered.answer.plans));
  EXPECT_EQ(answered.answer.measured.size(), 1u + 6 + 15);
  EXPECT_EQ(Spent(poll_), EpsilonOf(1000).units());
  WorkloadRequest one = Pairs();
  one.queries = {{MarginalsQuery{.sets = {{"q1", "q2"}}}}};
  EXPECT_FALSE(dp::AreByParity(Answer(one).answer.plans)) << "measured itself as well, and in whole numbers";
}

TEST_F(ParityAnswersTest, AreOfTheRecordsWhereTheNoiseIsSmall) {
  WorkloadRequest request = Pairs(500'000);
  EXPECT_FALSE(dp::AreByParity(Answer(request).answer.plans)) << "noise that is almost always 0 is better";
  request.queries.front().strategy = dp::Strategy::kParity;
  const std::vector<AnsweredGroup> groups = GroupsOf(Answer(request).answer, {});
  ASSERT_EQ(groups.size(), 15u);
  // q1 is 1 for each second record, and q2 for each third.
  EXPECT_THAT(groups.front().estimates, Pointwise(DoubleNear(1), std::vector<double>{133, 67, 133, 67}));
}

TEST_F(ParityAnswersTest, AreStoredAndReadAgainWithoutAnotherDraw) {
  const RequestId id = NewRequestId();
  const WorkloadAnswer first = Answer(Pairs(), id);
  const int64_t spent = Spent(poll_);
  const WorkloadAnswer again = Answer(Pairs(), id);
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.answer, first.answer);
  EXPECT_EQ(Spent(poll_), spent);
}

TEST_F(ParityAnswersTest, HaveTheErrorsThatWereForecast) {
  WorkloadRequest request = Pairs();
  request.queries.push_back({MarginalsQuery{.sets = {{"q1"}, {"q4", "q5", "q6"}}}});
  const auto estimate = EstimateWorkload(services_, request);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  const std::vector<AnsweredGroup> groups = GroupsOf(Answer(request).answer, {});
  const dp::Domain& domain = poll_.schema.domain;
  PlanForecasts forecasts(domain, estimate->asked, estimate->plan, kPollLevel);
  const std::vector<JointMarginalForecast> marginals = forecasts.OfMarginals().value();
  ASSERT_EQ(marginals.size(), groups.size());
  std::vector<double> largest(2);
  std::vector<double> widest(2);
  for (size_t i = 0; i < groups.size(); ++i) {
    EXPECT_NEAR(marginals[i].standard_deviation / groups[i].standard_deviations.at(0), 1, 1e-9);
    EXPECT_NEAR(marginals[i].half_width / groups[i].half_widths.at(0), 1, 1e-3);
    largest[marginals[i].set] = std::max(largest[marginals[i].set], marginals[i].standard_deviation);
    widest[marginals[i].set] = std::max(widest[marginals[i].set], marginals[i].half_width);
  }
  for (size_t set = 0; set < 2; ++set) {
    const SetForecast forecast = forecasts.OfSet(set).value();
    EXPECT_EQ(forecast.measurement.strategy, dp::Strategy::kParity);
    EXPECT_EQ(forecast.measurement.measured_values, 1 + 6 + 15 + 1) << "{q4, q5, q6} alone has three";
    EXPECT_NEAR(forecast.largest_standard_deviation / largest[set], 1, 1e-9);
    EXPECT_NEAR(forecast.half_width / widest[set], 1, 1e-3);
  }
}

TEST_F(ParityAnswersTest, AgreeWithEachOther) {
  const std::vector<AnsweredGroup> groups = GroupsOf(Answer(Pairs()).answer, {});
  for (size_t i = 1; i < 5; ++i)
    EXPECT_THAT(OfTheFirst(groups[i]), Pointwise(DoubleNear(1e-6), OfTheFirst(groups[0])));
}

TEST_F(ParityAnswersTest, OfNonNegativeWholeNumbersAgreeExactly) {
  const dp::WorkloadRelease release = Answer(Pairs(20)).answer;
  const auto is_below_zero = [](const AnsweredGroup& group) { return std::ranges::min(group.estimates) < 0; };
  EXPECT_TRUE(std::ranges::any_of(GroupsOf(release, {}), is_below_zero)) << "or there is nothing to do";
  const std::vector<AnsweredGroup> groups =
      GroupsOf(release, {.non_negative = true, .consistent = true, .integer = true});
  for (const AnsweredGroup& group : groups) EXPECT_THAT(group.counts, Each(Ge(0)));
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(OfTheFirst(groups[i]), OfTheFirst(groups[0]));
}

TEST_F(ParityAnswersTest, AnswerForNothingWhatTheyDetermineAndNothingElse) {
  const WorkloadAnswer paid = Answer(Pairs());
  WorkloadRequest other = Pairs();
  other.prefer_free = true;
  other.queries = {{MarginalsQuery{.sets = {{"q3"}, {"q2", "q6"}}}}};
  const WorkloadAnswer free = Answer(other);
  EXPECT_EQ(free.free_from, paid.release.id);
  EXPECT_EQ(GroupsOf(free.answer, {})[1].estimates, GroupsOf(paid.answer, {})[8].estimates)
      << "{q2, q6} is the ninth pair";
  other.queries = {{PrefixesQuery{"q2"}}};
  const WorkloadAnswer prefixes = Answer(other);
  EXPECT_EQ(prefixes.free_from, paid.release.id);
  const AnsweredGroup of_second = GroupsOf(prefixes.answer, {})[0];
  EXPECT_NEAR(of_second.estimates[0],
              GroupsOf(paid.answer, {})[0].estimates[0] + GroupsOf(paid.answer, {})[0].estimates[2], 1e-9);
  ASSERT_EQ(of_second.half_widths.size(), 2u);
  EXPECT_GT(of_second.half_widths[0], 1.9 * of_second.standard_deviations[0]) << "a bound";
  other.queries = {{MarginalsQuery{.sets = {{"q1", "q2", "q3"}}}}};
  EXPECT_EQ(Answer(other).free_from, std::nullopt);
}

TEST_F(ParityAnswersTest, AreRefusedBeforeTheChargeWhereTheyCannotBeMeasured) {
  WorkloadRequest request = Pairs();
  request.queries.front().strategy = dp::Strategy::kParity;
  request.queries.push_back({PrefixesQuery{"q1"}});
  EXPECT_EQ(FieldOf(AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo).status()),
            "workload.query_sets[0].strategy");
  EXPECT_EQ(Spent(poll_), 0);
}

}  // namespace
}  // namespace curator::service
