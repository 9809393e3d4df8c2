// Sums, means, variances and quantiles by groups over a real socket: priced and refused before anything is
// touched, charged once, replayed, shown by a selection, and beside the exact values of the same file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kPeople = 3000;

struct Row {
  int person = 0;
  std::string region;
  int age = 0;
  std::optional<double> income;  // as written, also beyond the bounds of its measure
};

// Deterministic: three regions of different sizes, and "west", which has nobody.
std::vector<Row> Rows() {
  std::vector<Row> rows;
  for (int i = 0; i < kPeople; ++i) {
    Row row{.person = i / 2, .region = i % 6 == 0 ? "north" : (i % 6 < 3 ? "south" : "east"), .age = i % 100};
    if (i % 17 != 0) row.income = 1000.0 * ((i * 37) % 130) - 5000;
    rows.push_back(row);
  }
  return rows;
}

std::string Csv() {
  std::ostringstream csv;
  csv << "person,region,age,income\n";
  for (const Row& row : Rows()) {
    csv << row.person << "," << row.region << "," << row.age << ",";
    if (row.income) csv << *row.income;
    csv << "\n";
  }
  return csv.str();
}

double Clipped(double income) {
  return std::clamp(income, 0.0, 100'000.0);
}

v1::CreateDatasetRequest People(v1::NeighbourRelation neighbours) {
  v1::CreateDatasetRequest request = NewDataset("people", v1::RULE_ZCDP, "200", "1e-9");
  request.set_neighbours(neighbours);
  v1::Schema& schema = *request.mutable_schema();
  schema.Clear();
  v1::Attribute& region = *schema.add_attributes();
  region.set_name("region");
  for (const char* each : {"north", "south", "east", "west"}) region.mutable_categorical()->add_values(each);
  v1::Attribute& age = *schema.add_attributes();
  age.set_name("age");
  age.mutable_integer()->set_min(0);
  age.mutable_integer()->set_max(99);
  v1::Measure& income = *schema.add_measures();
  income.set_name("income");
  income.set_low(0);
  income.set_high(100'000);
  income.set_resolution(100);
  income.mutable_missing();
  schema.mutable_unit()->mutable_person()->set_id_column("person");
  schema.mutable_unit()->mutable_person()->set_max_records(2);
  return request;
}

v1::Statistic Mean(const std::string& of) {
  v1::Statistic statistic;
  statistic.set_mean(of);
  return statistic;
}

v1::AnswerWorkloadRequest Question(const std::vector<v1::Statistic>& statistics,
                                   const std::vector<std::string>& by = {}, const std::string& rho = "5") {
  v1::AnswerWorkloadRequest request;
  request.set_dataset("people");
  v1::Statistics& asked = *request.mutable_workload()->add_query_sets()->mutable_statistics();
  for (const v1::Statistic& statistic : statistics) *asked.add_statistics() = statistic;
  for (const std::string& each : by) asked.add_by(each);
  request.mutable_spend()->set_rho(rho);
  return request;
}

std::vector<v1::Statistic> All() {
  std::vector<v1::Statistic> all(8);
  all[0].mutable_count();
  all[1].mutable_count()->set_of("income");
  all[2].set_sum("income");
  all[3].set_mean("income");
  all[4].set_variance("income");
  all[5].set_median("income");
  all[6].mutable_quantiles()->set_of("age");
  all[6].mutable_quantiles()->add_at("0.9");
  all[7].mutable_distinct_units();
  return all;
}

// The answers of the only query set, by the labels of their rows joined by "/".
struct Answered {
  double value = 0;
  double deviation = 0;
  double low = 0;
  double high = 0;
};
std::map<std::string, Answered> AnswersIn(const Answer& answer) {
  std::map<std::string, Answered> found;
  const QuerySetAnswer& set = answer.query_sets.at(0);
  const size_t columns = static_cast<size_t>(set.header.columns_size());
  for (size_t i = 0; i < set.estimates.size(); ++i) {
    std::string label;
    for (size_t j = 0; j < columns; ++j) label += (j > 0 ? "/" : "") + set.labels[i * columns + j];
    found[label] = {set.estimates[i], set.standard_deviations[i], set.interval_lows[i],
                    set.interval_highs[i]};
  }
  return found;
}

struct Exact {
  double records = 0;
  double count = 0;
  double sum = 0;
  double squares = 0;
  std::vector<double> incomes;
  std::map<int, int> persons;
};
std::map<std::string, Exact> ExactByRegion() {
  std::map<std::string, Exact> exact;
  for (const Row& row : Rows()) {
    Exact& group = exact[row.region];
    ++group.records;
    ++group.persons[row.person];
    if (!row.income) continue;
    const double income = Clipped(*row.income);
    ++group.count;
    group.sum += income;
    group.squares += income * income;
    group.incomes.push_back(income);
  }
  for (auto& [region, group] : exact) std::ranges::sort(group.incomes);
  return exact;
}

class Statistics : public ::testing::TestWithParam<Backend> {
 protected:
  Statistics() : server_(GetParam()), owner_(server_.ClientFor("owner")) {}

  std::string Spent() const { return SpentBy(owner_); }
  static std::string SpentBy(const Client& owner) {
    const absl::StatusOr<v1::GetBudgetResponse> budget = owner.GetBudget("people");
    EXPECT_TRUE(budget.ok()) << budget.status();
    return budget.ok() ? budget->accounts(0).counters(0).spent() : "";
  }

  absl::Status Refusal(const v1::AnswerWorkloadRequest& request) const {
    const absl::Status status = owner_.AnswerWorkload(request).status();
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(Spent(), "0");
    return status;
  }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Statistics, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

// Six deviations are exceeded once in 500 million answers; quantiles are compared with their interval.
void ExpectNear(const std::map<std::string, Answered>& answers, const std::string& name, double exact) {
  ASSERT_TRUE(answers.contains(name)) << name;
  const Answered& answer = answers.at(name);
  EXPECT_NEAR(answer.value, exact, 6 * answer.deviation) << name;
  EXPECT_LE(answer.low, answer.high) << name;
}

TEST_P(Statistics, ByGroupsLieBesideTheExactOnesOfTheClippedValuesUnderBothRelations) {
  for (const v1::NeighbourRelation neighbours :
       {v1::NEIGHBOUR_RELATION_ADD_REMOVE, v1::NEIGHBOUR_RELATION_REPLACE_ONE}) {
    TestServer server(GetParam());
    const Client owner = server.ClientFor("owner");
    MakeSealed(owner, People(neighbours), Csv());
    const absl::StatusOr<Answer> answer = owner.AnswerWorkload(Question(All(), {"region"}, "20"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->query_sets[0].header.query_class(), "statistics");
    EXPECT_THAT(answer->query_sets[0].header.columns(), ElementsAre("region", "statistic"));
    const std::map<std::string, Answered> answers = AnswersIn(*answer);
    EXPECT_EQ(answers.size(), 4u * 8u);
    for (const auto& [region, exact] : ExactByRegion()) {
      ExpectNear(answers, region + "/count", exact.records);
      ExpectNear(answers, region + "/count(income)", exact.count);
      ExpectNear(answers, region + "/sum(income)", exact.sum);
      ExpectNear(answers, region + "/mean(income)", exact.sum / exact.count);
      ExpectNear(answers, region + "/variance(income)",
                 (exact.squares - exact.sum * exact.sum / exact.count) / (exact.count - 1));
      ExpectNear(answers, region + "/distinct units", static_cast<double>(exact.persons.size()));
      const Answered& median = answers.at(region + "/quantile(income, 0.5)");
      EXPECT_NEAR(median.value, exact.incomes[exact.incomes.size() / 2], 10'000) << region;
      EXPECT_NEAR(answers.at(region + "/quantile(age, 0.9)").value, 90, 10) << region;
    }
    ExpectNear(answers, "west/count", 0);
  }
}

TEST_P(Statistics, APriceIsKnownBeforeThereIsARecordAndIsWhatTheAnswerCosts) {
  ASSERT_TRUE(owner_.CreateDataset(People(v1::NEIGHBOUR_RELATION_ADD_REMOVE)).ok());
  v1::EstimateWorkloadRequest estimate;
  estimate.set_dataset("people");
  *estimate.mutable_workload() = Question(All(), {"region"}).workload();
  estimate.mutable_spend()->set_rho("0.5");
  const absl::StatusOr<v1::EstimateWorkloadResponse> before = owner_.EstimateWorkload(estimate);
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_EQ(before->statistics_size(), 8);
  EXPECT_EQ(before->statistics(3).statistic(), "mean(income)");
  EXPECT_EQ(before->statistics(3).unit(),
            v1::EstimateWorkloadResponse::StatisticForecast::VALUE_TIMES_RECORDS);
  EXPECT_GT(before->statistics(3).confidence_half_width(), 0);
  EXPECT_EQ(before->statistics(3).groups(), 4);
  EXPECT_EQ(Spent(), "0");

  v1::ImportRecordsRequest::Header header;
  header.set_dataset("people");
  std::istringstream csv(Csv());
  const auto imported = owner_.ImportRecords(header, csv);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_GT(imported->cells_clipped().at("income"), 0);
  v1::SealDatasetRequest seal;
  seal.set_dataset("people");
  ASSERT_TRUE(owner_.SealDataset(seal).ok());
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Question(All(), {"region"}, "0.5"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.costs(0).amount(), before->costs(0).amount());
  EXPECT_EQ(answer->header.event(), before->event());
  EXPECT_EQ(Spent(), before->costs(0).amount());
}

TEST_P(Statistics, TheSameRequestIdReturnsTheSameAnswersOnceChargedAlsoAfterARestart) {
  MakeSealed(owner_, People(v1::NEIGHBOUR_RELATION_ADD_REMOVE), Csv());
  v1::AnswerWorkloadRequest question = Question(All(), {"region"}, "0.25");
  question.set_request_id(*client::NewRequestId());
  const absl::StatusOr<Answer> first = owner_.AnswerWorkload(question);
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string spent = Spent();
  server_.Restart();
  const Client owner = server_.ClientFor("owner");
  const absl::StatusOr<Answer> second = owner.AnswerWorkload(question);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->header.replayed());
  EXPECT_EQ(second->query_sets[0].estimates.size(), first->query_sets[0].estimates.size());
  EXPECT_EQ(second->query_sets[0].interval_highs, first->query_sets[0].interval_highs);
  EXPECT_EQ(SpentBy(owner), spent);

  v1::AnswerWorkloadRequest again = Question(All(), {"region"}, "0.25");
  again.clear_spend();
  again.set_prefer_free(true);
  const absl::StatusOr<Answer> free = owner.AnswerWorkload(again);
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_THAT(free->header.free_from(), ElementsAre(first->header.release_id()));
  EXPECT_EQ(free->query_sets[0].interval_lows, first->query_sets[0].interval_lows);
  EXPECT_EQ(SpentBy(owner), spent);
}

TEST_P(Statistics, AWhereMayNameAnAttributeThatTheGroupsAreBy) {
  MakeSealed(owner_, People(v1::NEIGHBOUR_RELATION_ADD_REMOVE), Csv());
  v1::AnswerWorkloadRequest question = Question({All()[0], Mean("age")}, {"region"}, "20");
  v1::Expression& either = *question.mutable_workload()
                                ->mutable_query_sets(0)
                                ->mutable_statistics()
                                ->mutable_where()
                                ->mutable_expression();
  v1::Condition& north = *either.mutable_any_of()->add_expressions()->mutable_condition();
  north.set_attribute("region");
  north.add_in()->set_string_value("north");
  v1::Condition& old = *either.mutable_any_of()->add_expressions()->mutable_condition();
  old.set_attribute("age");
  old.mutable_compare()->set_operator_(v1::Comparison::GREATER_OR_EQUAL);
  old.mutable_compare()->mutable_value()->set_number_value(90);
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  std::map<std::string, std::pair<double, double>> exact;
  for (const Row& row : Rows()) {
    if (row.region != "north" && row.age < 90) continue;
    ++exact[row.region].first;
    exact[row.region].second += row.age;
  }
  const std::map<std::string, Answered> answers = AnswersIn(*answer);
  for (const auto& [region, group] : exact) {
    ExpectNear(answers, region + "/count", group.first);
    ExpectNear(answers, region + "/mean(age)", group.second / group.first);
  }
}

TEST_P(Statistics, ASelectionShowsReleasedGroupsAloneAndChangesNoDraw) {
  MakeSealed(owner_, People(v1::NEIGHBOUR_RELATION_ADD_REMOVE), Csv());
  v1::AnswerWorkloadRequest question = Question({All()[0], Mean("income")}, {"region"}, "20");
  question.set_request_id(*client::NewRequestId());
  const absl::StatusOr<Answer> whole = owner_.AnswerWorkload(question);
  ASSERT_TRUE(whole.ok()) << whole.status();
  v1::Selection& selection = *question.mutable_selection();
  v1::OutputColumn& column = *selection.add_columns();
  column.set_name("people");
  column.mutable_source()->set_statistic(0);
  v1::AnswerComparison& populated = *selection.mutable_having()->mutable_compare();
  populated.set_statistic(0);
  populated.set_operator_(v1::Comparison::GREATER);
  populated.set_value(100);
  v1::SortKey& largest_first = *selection.add_order_by();
  largest_first.mutable_source()->set_statistic(0);
  largest_first.set_descending(true);
  selection.set_limit(2);
  const absl::StatusOr<Answer> shown = owner_.AnswerWorkload(question);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_TRUE(shown->header.replayed());
  EXPECT_THAT(shown->query_sets[0].labels, ElementsAre("east", "people", "south", "people"));
  EXPECT_EQ(shown->query_sets[0].estimates[0], AnswersIn(*whole).at("east/count").value);

  v1::GetReleaseRequest stored;
  stored.set_release_id(whole->header.release_id());
  *stored.mutable_selection() = selection;
  const absl::StatusOr<ReleaseContent> again = owner_.GetRelease(stored);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_TRUE(again->answer);
  EXPECT_EQ(again->answer->query_sets[0].labels, shown->query_sets[0].labels);
  EXPECT_EQ(again->answer->query_sets[0].estimates, shown->query_sets[0].estimates);
}

TEST_P(Statistics, ASelectionOfWhatIsNotAskedIsRefusedBeforeItCosts) {
  MakeSealed(owner_, People(v1::NEIGHBOUR_RELATION_ADD_REMOVE), Csv());
  v1::AnswerWorkloadRequest question = Question({Mean("income")}, {"region"});
  question.mutable_selection()->add_order_by()->mutable_source()->set_statistic(1);
  EXPECT_THAT(std::string(Refusal(question).message()), HasSubstr("0 to 0"));
  question.mutable_selection()->mutable_order_by(0)->mutable_source()->set_attribute("age");
  EXPECT_THAT(std::string(Refusal(question).message()), HasSubstr("age"));
}

TEST_P(Statistics, TheSameStatisticsAreFreeOfAnEarlierReleaseForThoseWhoPreferThat) {
  MakeSealed(owner_, People(v1::NEIGHBOUR_RELATION_ADD_REMOVE), Csv());
  v1::AnswerWorkloadRequest question = Question({All()[0], Mean("income")}, {"region"});
  const absl::StatusOr<Answer> paid = owner_.AnswerWorkload(question);
  ASSERT_TRUE(paid.ok()) << paid.status();
  const std::string spent = Spent();
  question.set_prefer_free(true);
  question.clear_spend();
  question.mutable_selection()->set_limit(1);
  const absl::StatusOr<Answer> free = owner_.AnswerWorkload(question);
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_EQ(Spent(), spent);
  const std::map<std::string, Answered> answers = AnswersIn(*free);
  EXPECT_EQ(answers.size(), 2u);
  for (const auto& [name, answer] : answers) EXPECT_EQ(answer.value, AnswersIn(*paid).at(name).value);
}

TEST_P(Statistics, ThatCannotBeAskedAreRefusedBeforeTheyCostWithTheNearestThatCan) {
  MakeSealed(owner_, People(v1::NEIGHBOUR_RELATION_ADD_REMOVE), Csv());
  const auto message = [this](const v1::AnswerWorkloadRequest& request) {
    const absl::Status status = Refusal(request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(message(Question({Mean("incme")})), HasSubstr("income"));
  EXPECT_THAT(message(Question({Mean("region")})), HasSubstr("region"));
  EXPECT_THAT(message(Question({})), HasSubstr("no statistic"));
  EXPECT_THAT(message(Question({All()[0]}, {"regon"})), HasSubstr("region"));
  v1::Statistic beyond;
  beyond.mutable_quantiles()->set_of("income");
  beyond.mutable_quantiles()->add_at("1.5");
  EXPECT_THAT(message(Question({beyond})), HasSubstr("between 0 and 1"));
  v1::AnswerWorkloadRequest mixed = Question({Mean("income")});
  mixed.mutable_workload()->add_query_sets()->mutable_prefixes()->set_attribute("age");
  EXPECT_THAT(message(mixed), HasSubstr("two requests"));
  v1::AnswerWorkloadRequest by_error = Question({Mean("income")});
  by_error.clear_spend();
  by_error.mutable_target()->set_max_error(10);
  EXPECT_THAT(message(by_error), HasSubstr("give a spend"));
  v1::AnswerWorkloadRequest processed = Question({Mean("income")});
  processed.mutable_post_processing()->set_integer(true);
  EXPECT_THAT(message(processed), HasSubstr("post_processing"));
  v1::AnswerWorkloadRequest too_little = Question(All(), {"region"}, "0.000000000001");
  EXPECT_THAT(message(too_little), HasSubstr("spend"));
}

}  // namespace
}  // namespace curator::testing
