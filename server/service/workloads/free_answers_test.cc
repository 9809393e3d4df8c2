// Which stored numbers answer another question.
#include "service/workloads/free_answers.h"

#include <ctime>

#include "dp/workload/interval_tree.h"
#include "service/testing/fixture.h"
#include "service/workloads/resolve_workload.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;

using FreeAnswersTest = ServiceTest;

ValueInterval Between(const std::string& from, const std::string& to) {
  return {from, to};
}

std::vector<dp::AskedSet> Ages(const std::vector<ValueInterval>& intervals) {
  RangesQuery ranges{.attributes = {"age"}, .boxes = {}};
  for (const ValueInterval& interval : intervals) ranges.boxes.push_back({interval});
  return ResolveCounts(PeopleSchema().domain, {{ranges}}).value();
}

// Three intervals of ages, each measured itself.
dp::WorkloadRelease MeasuredAges() {
  dp::WorkloadRelease stored;
  stored.asked = Ages({Between("0", "19"), Between("20", "29"), Between("50", "99")});
  stored.measured = stored.asked[0].queries.groups;
  stored.plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {0}}};
  stored.values = {{17, 8, 42}};
  return stored;
}

std::optional<dp::WorkloadRelease> Answered(const dp::Domain& domain, const dp::WorkloadRelease& stored,
                                            const std::vector<dp::AskedSet>& asked) {
  SearchEffort effort{std::stop_token()};
  return AnsweredBy(domain, stored, asked, effort);
}

TEST(AnsweredBy, GathersIntervalsFromAmongThoseThatWereMeasured) {
  const std::vector<dp::AskedSet> asked = Ages({Between("50", "99"), Between("0", "19")});
  const auto answer = Answered(PeopleSchema().domain, MeasuredAges(), asked);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->asked, asked);
  EXPECT_EQ(answer->plans.at(0).strategy, dp::Strategy::kDirect);
  const size_t source = answer->plans.at(0).sources.at(0);
  EXPECT_EQ(answer->measured.at(source), asked[0].queries.groups[0]);
  EXPECT_THAT(answer->values.at(source), ElementsAre(42, 17));
}

TEST(AnsweredBy, DoesNotAnswerAnIntervalThatWasNotMeasured) {
  EXPECT_FALSE(Answered(PeopleSchema().domain, MeasuredAges(), Ages({Between("0", "19"), Between("0", "29")}))
                   .has_value());
}

// sex = Female or age >= 90.
std::vector<dp::AskedSet> WomenOrOld() {
  const Condition women{.attribute = "sex", .values = {"Female"}, .between = std::nullopt};
  const Condition old{.attribute = "age",
                      .values = {},
                      .between = std::nullopt,
                      .compare = Comparison{dp::ComparisonOperator::kGreaterOrEqual, "90"}};
  const Expression either{.kind = Expression::Kind::kAnyOf,
                          .operands = {{.condition = women}, {.condition = old}}};
  const PredicatesQuery query{.predicates = {{.all_of = {}, .expression = either}}, .by = {}};
  return ResolveCounts(PeopleSchema().domain, {{query}}).value();
}

dp::WorkloadRelease Measured(std::vector<dp::AskedSet> asked, std::vector<int64_t> values) {
  dp::WorkloadRelease stored;
  stored.asked = std::move(asked);
  stored.measured = stored.asked[0].queries.groups;
  stored.plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {0}}};
  stored.values = {std::move(values)};
  return stored;
}

TEST(AnsweredBy, SumsTheCellsOfAnExpressionFromAMarginalOfItsAttributes) {
  const auto marginal = [](const std::vector<std::string>& names) {
    const MarginalsQuery query{.sets = {names}, .k = std::nullopt, .attributes = {}};
    return ResolveCounts(PeopleSchema().domain, {{query}}).value();
  };
  const auto answer = Answered(PeopleSchema().domain,
                               Measured(marginal({"sex", "age"}), std::vector<int64_t>(20, 1)), WomenOrOld());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->plans.at(0).strategy, dp::Strategy::kBaseHistogram);
  EXPECT_FALSE(Answered(PeopleSchema().domain,
                        Measured(marginal({"sex", "region"}), std::vector<int64_t>(8, 1)), WomenOrOld())
                   .has_value());
}

TEST(AnsweredBy, FindsAnExpressionThatWasMeasuredItself) {
  const auto answer = Answered(PeopleSchema().domain, Measured(WomenOrOld(), {57}), WomenOrOld());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->plans.at(0).strategy, dp::Strategy::kDirect);
  EXPECT_THAT(answer->values.at(answer->plans.at(0).sources.at(0)), ElementsAre(57));
}

// All marginals of 3 attributes.
std::vector<dp::AskedSet> ThreeWay(const dp::Domain& domain) {
  return ResolveCounts(domain, {{MarginalsQuery{.sets = {}, .k = 3, .attributes = {}}}}).value();
}

dp::Domain Binary(int attributes) {
  std::vector<dp::Attribute> all;
  for (int i = 0; i < attributes; ++i)
    all.push_back(dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{2}).value());
  return dp::Domain::Create(std::move(all)).value();
}

// Each group was once compared with each measured one: for as many, half a minute.
TEST(AnsweredBy, ComparesManyMarginalsInASecond) {
  const dp::Domain domain = Binary(85);
  dp::WorkloadRelease stored;
  stored.asked = ThreeWay(domain);
  stored.measured = stored.asked[0].queries.groups;
  stored.plans = {{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {}}};
  stored.values.assign(stored.measured.size(), std::vector<int64_t>(8));
  const std::clock_t start = std::clock();
  const auto answer = Answered(domain, stored, stored.asked);
  EXPECT_LT(std::clock() - start, 4 * CLOCKS_PER_SEC);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->plans.at(0).sources.back(), stored.measured.size() - 1);
}

// Each of them would estimate the whole tree.
TEST(AnsweredBy, DoesNotAnswerFromATreeThatManySetsWouldEstimate) {
  const dp::Domain domain =
      dp::Domain::Create({dp::Attribute::Create("a", dp::CodedKind{1 << 18}).value()}).value();
  const auto asking = [&](size_t times) {
    const RangesQuery one{.attributes = {"a"}, .boxes = {{Between("7", "9")}}};
    return ResolveCounts(domain, std::vector<QuerySetRequest>(times, QuerySetRequest{one})).value();
  };
  const dp::IntervalTree tree(1 << 18, 16);
  dp::WorkloadRelease stored;
  stored.asked = asking(1);
  stored.measured = {{.attributes = {0}, .queries = tree.Intervals()}};
  stored.plans = {{.strategy = dp::Strategy::kTree, .branching = 16, .sources = {0}}};
  stored.values = {std::vector<int64_t>(static_cast<size_t>(tree.nodes()))};
  EXPECT_TRUE(Answered(domain, stored, asking(10)).has_value());
  const std::clock_t start = std::clock();
  EXPECT_FALSE(Answered(domain, stored, asking(1000)).has_value());
  EXPECT_LT(std::clock() - start, 4 * CLOCKS_PER_SEC);
}

TEST_F(FreeAnswersTest, AreNotSearchedForAClientThatHasGone) {
  const DatasetView census = MakeSealed(People("census"));
  std::stop_source client;
  client.request_stop();
  WorkloadRequest request{.principal = TestPrincipal("owner"),
                          .dataset = DatasetName("census"),
                          .queries = {{PrefixesQuery{"age"}}},
                          .prefer_free = true,
                          .client_left = client.get_token()};
  EXPECT_EQ(AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(Spent(census), 0);
}

}  // namespace
}  // namespace curator::service
