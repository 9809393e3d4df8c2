#include "client/cli/output/statistics_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/output/answer_output.h"
#include "client/cli/plot/bar_chart.h"
#include "client/cli/plot/svg_chart.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

v1::Schema Incomes() {
  v1::Schema schema;
  v1::Attribute& region = *schema.add_attributes();
  region.set_name("region");
  for (const char* value : {"north", "south", "islands"}) region.mutable_categorical()->add_values(value);
  v1::Measure& income = *schema.add_measures();
  income.set_name("income");
  income.set_high(200000);
  income.set_resolution(1);
  schema.add_measures()->set_name("income tax");
  return schema;
}

void AddAnswer(QuerySetAnswer& set, const std::vector<std::string>& labels, double value, double low,
               double high) {
  set.labels.insert(set.labels.end(), labels.begin(), labels.end());
  set.estimates.push_back(value);
  set.standard_deviations.push_back(low == -kInfinity ? kNaN : (high - low) / 4);
  set.interval_lows.push_back(low);
  set.interval_highs.push_back(high);
}

// Counts and means of three regions; the islands have hardly a record.
QuerySetAnswer ByRegion() {
  QuerySetAnswer set;
  set.header.set_query_class("statistics");
  set.header.add_columns("region");
  set.header.add_columns("statistic");
  AddAnswer(set, {"north", "count"}, 1204, 1190, 1218);
  AddAnswer(set, {"north", "mean(income)"}, 51204.25, 50871, 51537);
  AddAnswer(set, {"south", "count"}, 310, 296, 324);
  AddAnswer(set, {"south", "mean(income)"}, 42.5, 0, kInfinity);
  AddAnswer(set, {"islands", "count"}, -3, -17, 11);
  AddAnswer(set, {"islands", "mean(income)"}, kNaN, -kInfinity, kInfinity);
  set.header.set_answer_count(6);
  return set;
}

Answer AnswerWith(QuerySetAnswer set) {
  Answer answer;
  answer.header.set_confidence_level(0.95);
  answer.header.set_query_set_count(1);
  answer.query_sets.push_back(std::move(set));
  return answer;
}

std::string Shown(const Answer& answer) {
  std::ostringstream out;
  const absl::Status status = WriteAnswerTables(answer, Incomes(), Terminal(), out);
  EXPECT_TRUE(status.ok()) << status;
  return out.str();
}

TEST(StatisticsTable, HasARowForEachGroupAndAnIntervalBesideEachValue) {
  EXPECT_THAT(Shown(AnswerWith(ByRegion())),
              HasSubstr("statistics by region  (3 groups, 95% intervals)\n"
                        "region                  count             mean(income)\n"
                        "north    1,204 [1,190, 1,218]  51,204 [50,871, 51,537]\n"
                        "south          310 [296, 324]      42.5 [0, unbounded]\n"
                        "islands          -3 [-17, 11]                     none\n"));
}

TEST(StatisticsTable, SaysWhatIsClippedAndWhyAnAnswerIsNoneOrUnbounded) {
  const std::string shown = Shown(AnswerWith(ByRegion()));
  EXPECT_THAT(shown,
              AllOf(HasSubstr("these are the statistics of income clipped to 0..200000\n"),
                    HasSubstr("none: the noisy number of values in the group is too small"),
                    HasSubstr("unbounded: a mean or a variance of which the noisy number of values is not")));
  EXPECT_THAT(shown, Not(HasSubstr("income tax"))) << "no statistic is of it";
  QuerySetAnswer none = ByRegion();
  for (double& high : none.interval_highs) high = std::min(high, 60000.0);
  none.interval_highs.back() = kInfinity;
  EXPECT_THAT(Shown(AnswerWith(none)), AllOf(HasSubstr("none:"), Not(HasSubstr("unbounded"))));
  QuerySetAnswer bounded = ByRegion();
  for (auto* numbers : {&bounded.estimates, &bounded.interval_lows, &bounded.interval_highs})
    numbers->resize(2);
  bounded.labels.resize(4);
  bounded.standard_deviations.resize(2);
  EXPECT_THAT(Shown(AnswerWith(bounded)), AllOf(Not(HasSubstr("none:")), Not(HasSubstr("unbounded"))));
}

TEST(StatisticsTable, OfAllRecordsHasOneRow) {
  QuerySetAnswer set;
  set.header.set_query_class("statistics");
  set.header.add_columns("statistic");
  AddAnswer(set, {"quantile(income, 0.25)"}, 20000, 19000, 21000);
  AddAnswer(set, {"quantile(income, 0.75)"}, 50000, 48000, 52000);
  EXPECT_THAT(Shown(AnswerWith(set)), AllOf(HasSubstr("statistics  (1 group, 95% intervals)\n"),
                                            HasSubstr("20,000 [19,000, 21,000]  50,000 [48,000, 52,000]\n"),
                                            HasSubstr("income clipped to 0..200000")));
}

v1::Selection MeanThenRegion() {
  v1::Selection selection;
  v1::OutputColumn& mean = *selection.add_columns();
  mean.set_name("average");
  mean.mutable_source()->set_statistic(1);
  v1::OutputColumn& region = *selection.add_columns();
  region.set_name("where");
  region.mutable_source()->set_attribute("region");
  return selection;
}

TEST(StatisticsTable, HasTheColumnsOfASelectionUnderItsNamesInItsOrder) {
  QuerySetAnswer set;
  set.header.set_query_class("statistics");
  set.header.add_columns("region");
  set.header.add_columns("statistic");
  AddAnswer(set, {"south", "average"}, 42.5, 40, 45);
  AddAnswer(set, {"north", "average"}, 41, 39, 43);
  const Answer answer = AnswerWith(set);
  const auto table = StatisticsTable(answer.query_sets[0], answer.header, MeanThenRegion());
  ASSERT_TRUE(table.ok()) << table.status();
  Document document;
  document.tables.push_back(*table);
  const auto printed = [&](OutputForm form) {
    std::ostringstream out;
    Print(document, form, Terminal(), out, out);
    return out.str();
  };
  EXPECT_THAT(printed(OutputForm::kTable), HasSubstr("      average  where\n"
                                                     "42.5 [40, 45]  south\n"
                                                     "  41 [39, 43]  north\n"));
  EXPECT_EQ(printed(OutputForm::kCsv),
            "average,average low,average high,where\n42.5,40,45,south\n41,39,43,north\n");
  EXPECT_EQ(
      nlohmann::json::parse(printed(OutputForm::kJson))["rows"][1],
      nlohmann::json::parse(R"({"average": 41, "average low": 39, "average high": 43, "where": "north"})"));
}

TEST(StatisticsTable, OfAttributesAloneNeedsNoStatisticOfTheSelection) {
  v1::Selection selection;
  selection.add_columns()->set_name("r");
  selection.mutable_columns(0)->mutable_source()->set_attribute("region");
  const Answer answer = AnswerWith(ByRegion());
  const auto table = StatisticsTable(answer.query_sets[0], answer.header, selection);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->columns.size(), 1U);
  EXPECT_EQ(table->rows.size(), 3U);
}

TEST(StatisticsTableCanary, AnswersThatAreNotThoseOfGroupsAreDataLoss) {
  const auto code = [](const QuerySetAnswer& set, const v1::Selection& selection = {}) {
    return StatisticsTable(set, v1::AnswerHeader(), selection).status().code();
  };
  QuerySetAnswer other_statistic = ByRegion();
  other_statistic.labels[7] = "sum(income)";
  EXPECT_EQ(code(other_statistic), absl::StatusCode::kDataLoss);
  QuerySetAnswer other_group = ByRegion();
  other_group.labels[6] = "north";
  EXPECT_EQ(code(other_group), absl::StatusCode::kDataLoss);
  QuerySetAnswer incomplete = ByRegion();
  incomplete.estimates.pop_back();
  incomplete.labels.resize(10);
  EXPECT_EQ(code(incomplete), absl::StatusCode::kDataLoss);
  QuerySetAnswer without_columns = ByRegion();
  without_columns.header.clear_columns();
  EXPECT_EQ(code(without_columns), absl::StatusCode::kDataLoss);
  EXPECT_EQ(code(ByRegion(), MeanThenRegion()), absl::StatusCode::kDataLoss) << "one statistic, not two";
  v1::Selection unknown = MeanThenRegion();
  unknown.mutable_columns(1)->mutable_source()->set_attribute("sex");
  EXPECT_EQ(code(ByRegion(), unknown), absl::StatusCode::kDataLoss);
}

TEST(StatisticsTable, WithoutAnswersIsEmpty) {
  QuerySetAnswer none;
  none.header.set_query_class("statistics");
  none.header.add_columns("region");
  none.header.add_columns("statistic");
  const auto table = StatisticsTable(none, v1::AnswerHeader());
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(table->rows, IsEmpty());
}

TEST(StatisticText, HasThousandsAndWordsForWhatIsNoNumber) {
  EXPECT_EQ(StatisticText(1234567.8, -1000, 12.3456), "1,234,568 [-1,000, 12.35]");
  EXPECT_EQ(StatisticText(0.001234, -kInfinity, 5), "0.001234 [unbounded, 5]");
  EXPECT_EQ(StatisticText(12, -kInfinity, kInfinity), "12 [unbounded]");
  EXPECT_EQ(StatisticText(kNaN, -kInfinity, kInfinity), "none");
  EXPECT_EQ(StatisticText(kNaN, 0, 5), "none [0, 5]");
  EXPECT_EQ(StatisticText(2.5e17), "2.5e+17");
}

TEST(Measures, AreFoundInARequestAlthoughASelectionRenamesTheirStatistics) {
  const v1::Schema schema = Incomes();
  v1::Statistics asked;
  asked.add_statistics()->mutable_quantiles()->set_of("income tax");
  asked.add_statistics()->mutable_count();
  const std::vector<const v1::Measure*> measures = MeasuresAsked(asked, schema);
  ASSERT_EQ(measures.size(), 1U);
  EXPECT_EQ(measures[0]->name(), "income tax");
}

TEST(StatisticsOutput, CsvNamesTheStatisticAndLeavesWhatIsNoNumberEmpty) {
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerCsv(AnswerWith(ByRegion()), Incomes(), out).ok());
  EXPECT_EQ(out.str(),
            "query_set,query_class,query,estimate,standard_deviation,low,high,confidence_level,method,noise,"
            "post_processing,region\n"
            "0,statistics,count,1204,7,1190,1218,0.95,derived,,,north\n"
            "0,statistics,mean(income),51204.25,166.5,50871,51537,0.95,derived,,,north\n"
            "0,statistics,count,310,7,296,324,0.95,derived,,,south\n"
            "0,statistics,mean(income),42.5,inf,0,inf,0.95,derived,,,south\n"
            "0,statistics,count,-3,7,-17,11,0.95,derived,,,islands\n"
            "0,statistics,mean(income),,,-inf,inf,0.95,derived,,,islands\n");
}

TEST(StatisticsOutput, JsonHasNullForWhatJsonCannotWrite) {
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerJson(AnswerWith(ByRegion()), Incomes(), out).ok());
  const auto set = nlohmann::json::parse(out.str())["query_sets"][0];
  EXPECT_EQ(set["class"], "statistics");
  EXPECT_EQ(set["clipped"],
            nlohmann::json::parse(R"([{"measure": "income", "low": 0, "high": 200000, "resolution": 1}])"));
  EXPECT_EQ(set["answers"][1]["value"], 51204.25);
  EXPECT_THAT(set["answers"][1]["values"], ElementsAre("north", "mean(income)"));
  EXPECT_TRUE(set["answers"][3]["upper"].is_null());
  EXPECT_TRUE(set["answers"][5]["value"].is_null());
}

TEST(StatisticsOutput, ProcessedStatisticsHaveNoIntervals) {
  Answer answer = AnswerWith(ByRegion());
  answer.header.set_post_processing("integer");
  EXPECT_THAT(Shown(answer), AllOf(HasSubstr("made integer"), Not(HasSubstr("[1,190"))));
}

TEST(StatisticsChart, ShowsEachStatisticByOneAttribute) {
  const auto charts = ChartsOf(AnswerWith(ByRegion()), Incomes(), ChartLimits());
  ASSERT_TRUE(charts.ok()) << charts.status();
  ASSERT_EQ(charts->size(), 2U);
  EXPECT_EQ((*charts)[0].title, "count by region");
  EXPECT_EQ((*charts)[1].title, "mean(income) by region");
  EXPECT_EQ((*charts)[1].bars[2].label, "islands");
  const Span span = SpanOf((*charts)[1]);
  EXPECT_EQ(span.low, 0);
  EXPECT_EQ(span.high, 51537) << "infinite ends do not count";
  std::ostringstream out;
  DrawOnTerminal((*charts)[1], Terminal(), out);
  EXPECT_THAT(out.str(), HasSubstr("\nislands   none\n"));
  const std::string svg = SvgOf(*charts);
  EXPECT_THAT(svg, AllOf(HasSubstr("islands: none"), HasSubstr("(0 to unbounded)"), Not(HasSubstr("nan")),
                         Not(HasSubstr("inf"))));
}

TEST(StatisticsChart, SaysToWhatTheValuesWereClipped) {
  const auto charts = ChartsOf(AnswerWith(ByRegion()), Incomes(), ChartLimits());
  ASSERT_TRUE(charts.ok()) << charts.status();
  EXPECT_THAT((*charts)[0].remark, Not(HasSubstr("clipped"))) << "a count of records has no bounds";
  EXPECT_THAT((*charts)[1].remark, ::testing::StartsWith("income clipped to 0..200000, "));
  std::ostringstream out;
  DrawOnTerminal((*charts)[1], Terminal(), out);
  EXPECT_THAT(out.str(), HasSubstr("mean(income) by region  (income clipped to 0..200000, "));
  EXPECT_THAT(SvgOf(*charts), HasSubstr(">income clipped to 0..200000, "));
}

TEST(StatisticsChart, IsNoneOfGroupsByTwoAttributes) {
  QuerySetAnswer set;
  set.header.set_query_class("statistics");
  for (const char* column : {"region", "sex", "statistic"}) set.header.add_columns(column);
  AddAnswer(set, {"north", "f", "count"}, 1, 0, 2);
  const auto charts = ChartsOf(AnswerWith(set), Incomes(), ChartLimits());
  ASSERT_TRUE(charts.ok()) << charts.status();
  EXPECT_THAT(*charts, IsEmpty());
}

}  // namespace
}  // namespace curator::cli
