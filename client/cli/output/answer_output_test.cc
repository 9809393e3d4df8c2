#include "client/cli/output/answer_output.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

v1::Schema TheSchema() {
  v1::Schema schema;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"attributes":[{"name":"age","integer":{"min":20,"max":29,"binWidth":5}},
                                    {"name":"sex","categorical":{"values":["f","m"],"catchAll":"?"}},
                                    {"name":"zone","coded":{"size":100}}]})",
                  &schema)
                  .ok());
  return schema;
}

Marginal MarginalOf(std::vector<std::pair<std::string, int64_t>> attributes, double half_width) {
  Marginal marginal;
  for (const auto& [name, size] : attributes) {
    marginal.header.add_attributes(name);
    marginal.header.add_sizes(size);
  }
  if (half_width > 0) {
    marginal.header.mutable_noise()->set_mechanism(v1::MECHANISM_DISCRETE_LAPLACE);
    marginal.header.mutable_noise()->set_scale("3/2");
    marginal.header.mutable_noise()->set_standard_deviation(half_width / 2);
    marginal.header.mutable_noise()->set_confidence_half_width(half_width);
    marginal.header.mutable_noise()->set_confidence_level(0.95);
  }
  return marginal;
}

Answer TheAnswer() {
  Answer answer;
  answer.header.set_release_id("r1");
  answer.header.set_request_id("1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b");
  answer.header.set_marginal_count(2);
  auto* cost = answer.header.add_costs();
  cost->set_account("dataset/census");
  cost->set_rule(v1::RULE_ZCDP);
  cost->set_counter("rho");
  cost->set_amount("0.1");
  cost->set_remaining("0.05");
  answer.marginals.push_back(MarginalOf({{"age", 2}, {"sex", 3}}, 4.5));
  answer.marginals.back().counts = {10, -2, 0, 7, 8, 9};
  answer.marginals.push_back(MarginalOf({{"zone", 100}}, 4.5));
  answer.marginals.back().counts.assign(100, 1);
  return answer;
}

// What every file begins with.
const std::string kHeading =
    "query_set,query_class,query,estimate,standard_deviation,low,high,confidence_level,method,noise,"
    "post_processing";

std::string Csv(const Answer& answer) {
  std::ostringstream out;
  const absl::Status status = WriteAnswerCsv(answer, TheSchema(), out);
  EXPECT_TRUE(status.ok()) << status;
  return out.str();
}

TEST(AnswerOutput, CsvNamesEveryValueAndItsInterval) {
  EXPECT_THAT(
      Csv(TheAnswer()),
      ::testing::StartsWith(
          kHeading + ",age,sex,zone\n"
                     "0,marginals,\"age,sex\",10,2.25,5.5,14.5,0.95,measured,laplace,,\"[20, 25)\",f,\n"
                     "0,marginals,\"age,sex\",-2,2.25,-6.5,2.5,0.95,measured,laplace,,\"[20, 25)\",m,\n"
                     "0,marginals,\"age,sex\",0,2.25,-4.5,4.5,0.95,measured,laplace,,\"[20, 25)\",?,\n"
                     "0,marginals,\"age,sex\",7,2.25,2.5,11.5,0.95,measured,laplace,,\"[25, 29]\",f,\n"
                     "0,marginals,\"age,sex\",8,2.25,3.5,12.5,0.95,measured,laplace,,\"[25, 29]\",m,\n"
                     "0,marginals,\"age,sex\",9,2.25,4.5,13.5,0.95,measured,laplace,,\"[25, 29]\",?,\n"
                     "0,marginals,zone,1,2.25,-3.5,5.5,0.95,measured,laplace,,,,0\n"));
}

TEST(AnswerOutput, EstimatesOfAModelHaveNoInterval) {
  Answer answer;
  answer.header.set_marginal_count(1);
  answer.marginals.push_back(MarginalOf({{"age", 2}}, 0));
  answer.marginals.back().estimates = {0.5, 12.25};
  EXPECT_EQ(Csv(answer), kHeading +
                             ",age\n0,marginals,age,0.5,,,,,model,,,\"[20, 25)\"\n"
                             "0,marginals,age,12.25,,,,,model,,,\"[25, 29]\"\n");
}

TEST(AnswerOutput, ErrorsOfAModelAreShownAsEstimatesWithoutAnInterval) {
  Answer answer;
  answer.header.set_marginal_count(1);
  answer.marginals.push_back(MarginalOf({{"age", 2}}, 0));
  answer.marginals.back().estimates = {0.5, 12.25};
  answer.marginals.back().standard_deviations = {3.5, 3.5};
  EXPECT_EQ(Csv(answer), kHeading +
                             ",age\n0,marginals,age,0.5,3.5,,,,model,,,\"[20, 25)\"\n"
                             "0,marginals,age,12.25,3.5,,,,model,,,\"[25, 29]\"\n");
  std::ostringstream table;
  ASSERT_TRUE(WriteAnswerTables(answer, TheSchema(), Terminal(), table).ok());
  EXPECT_THAT(table.str(), HasSubstr("age  (2 cells, sd about 3.5)"));
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerJson(answer, TheSchema(), out).ok());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["marginals"][0]["cells"][1]["standard_deviation"], 3.5);
  EXPECT_FALSE(json["marginals"][0]["cells"][1].contains("lower"));
  EXPECT_THAT(json["standard_deviations"].get<std::string>(), HasSubstr("the model itself"));
}

TEST(AnswerOutput, ErrorsOfAModelAreNotToldOfWhatWasMadeOfItsEstimates) {
  Answer answer;
  answer.header.set_marginal_count(1);
  answer.marginals.push_back(MarginalOf({{"age", 2}}, 0));
  answer.marginals.back().estimates = {0.5, 12.25};
  answer.marginals.back().standard_deviations = {3.5, 3.5};
  answer.header.set_post_processing("non-negative");
  std::ostringstream table;
  ASSERT_TRUE(WriteAnswerTables(answer, TheSchema(), Terminal(), table).ok());
  EXPECT_THAT(table.str(), Not(HasSubstr("sd about")));
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerJson(answer, TheSchema(), out).ok());
  EXPECT_TRUE(nlohmann::json::parse(out.str())["standard_deviations"].is_null()) << out.str();
}

TEST(AnswerOutput, JsonHoldsEverythingExactly) {
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerJson(TheAnswer(), TheSchema(), out).ok());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["release_id"], "r1");
  EXPECT_EQ(json["replayed"], false);
  EXPECT_EQ(json["costs"][0]["amount"], "0.1");
  EXPECT_EQ(json["costs"][0]["remaining"], "0.05");
  ASSERT_EQ(json["marginals"].size(), 2u);
  EXPECT_EQ(json["marginals"][0]["noise"]["scale"], "3/2");
  const auto cell = nlohmann::json::parse(
      R"json({"values": ["[20, 25)", "m"], "count": -2, "standard_deviation": 2.25, "lower": -6.5, "upper": 2.5})json");
  EXPECT_EQ(json["marginals"][0]["cells"][1], cell);
  EXPECT_EQ(json["marginals"][1]["cells"].size(), 100u);
}

// What is said of the cost of an answer, in tables.
std::string CostShownOf(const Answer& answer) {
  std::ostringstream out;
  std::ostringstream error;
  Print(SummaryOf(answer), OutputForm::kTable, Terminal(), out, error);
  return out.str();
}

void AddCost(const std::string& account, const std::string& counter, double share, double left,
             Answer& answer) {
  v1::Cost& cost = *answer.header.add_costs();
  cost.set_account(account);
  cost.set_counter(counter);
  cost.set_amount("0.001");
  cost.set_remaining("0.5");
  cost.set_share_of_promise(share);
  cost.set_share_left(left);
}

TEST(AnswerOutput, AnAnswerSaysWhatItCostInPercentOfThePromise) {
  Answer answer;
  AddCost("dataset/census", "rho", 0.041, 0.619, answer);
  EXPECT_THAT(CostShownOf(answer),
              HasSubstr("cost: rho 0.001, 4.1% of the promise of dataset/census; 61% left\n"));
  AddCost("dataset/census/analyst/ana", "epsilon_squared", 0.1, 0.3, answer);
  AddCost("dataset/census/analyst/ana", "delta", 0.2, 0.25, answer);
  EXPECT_THAT(
      CostShownOf(answer),
      HasSubstr("cost: rho 0.001, 4.1% of the promise of dataset/census; epsilon_squared 0.001, delta "
                "0.001, 20% of the promise of dataset/census/analyst/ana; 25% left\n"))
      << "the least that one has left";
}

TEST(AnswerOutput, AReplayedAnswerCostsNothingNow) {
  Answer answer;
  answer.header.set_replayed(true);
  AddCost("dataset/census", "rho", 0.041, 0.619, answer);
  EXPECT_THAT(CostShownOf(answer),
              AllOf(HasSubstr("cost: nothing now; when it was charged: rho 0.001, 4.1% of "
                              "the promise of dataset/census\n"),
                    HasSubstr("left now"), Not(HasSubstr("6.3%")), Not(HasSubstr("% left\n"))))
      << "4.1% of 66% is of today, and not of when it was charged";
}

TEST(AnswerOutput, AFreeAnswerHasNoCost) {
  Answer answer;
  answer.header.add_free_from("r1");
  EXPECT_THAT(CostShownOf(answer), Not(HasSubstr("cost")));
}

TEST(AnswerOutput, TablesAreShortenedAndSaySo) {
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerTables(TheAnswer(), TheSchema(), Terminal(), out).ok());
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("age x sex  (6 cells, laplace noise, 95% within +-4.5)"),
                    HasSubstr("age       sex  count  from    to\n[20, 25)  f       10   5.5  14.5\n"),
                    HasSubstr("... 80 more rows")));
}

TEST(AnswerOutput, ManyMarginalsAreShortenedToo) {
  Answer answer = TheAnswer();
  while (answer.marginals.size() < 25) answer.marginals.push_back(answer.marginals.front());
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerTables(answer, TheSchema(), Terminal(), out).ok());
  EXPECT_THAT(out.str(), HasSubstr("15 more marginals (--out FILE.csv writes all)"));
}

TEST(AnswerOutput, AnAnswerThatDoesNotFitTheSchemaIsDataLoss) {
  Answer answer = TheAnswer();
  answer.marginals[0].header.set_sizes(0, 3);
  std::ostringstream out;
  EXPECT_EQ(WriteAnswerCsv(answer, TheSchema(), out).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(WriteAnswerJson(answer, TheSchema(), out).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(WriteAnswerTables(answer, TheSchema(), Terminal(), out).code(), absl::StatusCode::kDataLoss);
}

QuerySetAnswer TheRanges() {
  QuerySetAnswer ranges;
  ranges.header.set_query_set(1);
  ranges.header.set_query_class("ranges");
  ranges.header.add_columns("age");
  ranges.header.set_answer_count(3);
  ranges.header.set_strategy(v1::STRATEGY_TREE);
  ranges.header.set_strategy_words("2-ary tree over age");
  ranges.header.mutable_noise()->set_mechanism(v1::MECHANISM_DISCRETE_LAPLACE);
  ranges.header.mutable_noise()->set_confidence_level(0.9);
  ranges.labels = {"[20, 25)", "[25, 29]", "[20, 29]"};
  ranges.estimates = {10.5, 7, 17.5};
  ranges.standard_deviations = {2, 2, 3};
  ranges.confidence_half_widths = {4, 4, 6};
  return ranges;
}

Answer TheMixture() {
  Answer answer = TheAnswer();
  answer.marginals.pop_back();
  answer.query_sets.push_back(TheRanges());
  return answer;
}

TEST(AnswerOutput, QuerySetsShareTheTableOfTheMarginals) {
  const std::string csv = Csv(TheMixture());
  EXPECT_THAT(csv, ::testing::StartsWith(kHeading + ",age,sex\n"));
  EXPECT_THAT(csv, ::testing::EndsWith("1,ranges,age,10.5,2,6.5,14.5,0.9,derived,laplace,,\"[20, 25)\",\n"
                                       "1,ranges,age,7,2,3,11,0.9,derived,laplace,,\"[25, 29]\",\n"
                                       "1,ranges,age,17.5,3,11.5,23.5,0.9,derived,laplace,,\"[20, 29]\",\n"));
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerJson(TheMixture(), TheSchema(), out).ok());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["query_sets"][0]["class"], "ranges");
  EXPECT_EQ(json["query_sets"][0]["strategy"], "tree");
  const auto answer = nlohmann::json::parse(
      R"json({"values": ["[20, 29]"], "count": 17.5, "standard_deviation": 3, "lower": 11.5, "upper": 23.5})json");
  EXPECT_EQ(json["query_sets"][0]["answers"][2], answer);
  std::ostringstream tables;
  ASSERT_TRUE(WriteAnswerTables(TheMixture(), TheSchema(), Terminal(), tables).ok());
  EXPECT_THAT(tables.str(), AllOf(HasSubstr("ranges  (3 answers, 2-ary tree over age, laplace noise)"),
                                  HasSubstr("[20, 29]   17.5        3  11.5  23.5\n")));
}

QuerySetAnswer ThePredicates() {
  QuerySetAnswer predicates;
  predicates.header.set_query_set(2);
  predicates.header.set_query_class("predicates");
  predicates.header.add_columns("where");
  predicates.header.add_columns("sex");
  predicates.header.set_answer_count(2);
  predicates.header.set_strategy(v1::STRATEGY_DIRECT);
  predicates.header.mutable_noise()->set_mechanism(v1::MECHANISM_DISCRETE_GAUSSIAN);
  predicates.header.mutable_noise()->set_confidence_level(0.9);
  predicates.labels = {"age in [20, 29], zone = 3", "f", "age in [20, 29], zone = 3", "m"};
  predicates.counts = {4, 5};
  predicates.standard_deviations = {2, 2};
  predicates.confidence_half_widths = {4, 4};
  return predicates;
}

TEST(AnswerOutput, TheConditionsOfAPredicateAreItsWordsAndNoColumn) {
  Answer answer;
  answer.query_sets = {ThePredicates()};
  EXPECT_EQ(Csv(answer), kHeading +
                             ",sex\n"
                             "2,predicates,\"age in [20, 29], zone = 3\",4,2,0,8,0.9,measured,gaussian,,f\n"
                             "2,predicates,\"age in [20, 29], zone = 3\",5,2,1,9,0.9,measured,gaussian,,m\n");
}

TEST(AnswerOutput, AnAttributeNamedLikeAnotherColumnIsMarked) {
  v1::Schema schema = TheSchema();
  schema.mutable_attributes(0)->set_name("low");
  Answer answer;
  answer.marginals.push_back(MarginalOf({{"low", 2}}, 0));
  answer.marginals.back().estimates = {0.5, 12.25};
  std::ostringstream out;
  ASSERT_TRUE(WriteAnswerCsv(answer, schema, out).ok());
  EXPECT_THAT(out.str(), ::testing::StartsWith(kHeading + ",low (attribute)\n"));
}

// The columns depend on what is asked about, and on nothing else.
TEST(AnswerOutput, CsvHasTheSameColumnsForEveryMethodAndClass) {
  Answer measured = TheAnswer();
  measured.marginals.pop_back();
  Answer model = measured;
  model.marginals[0].header.clear_noise();
  model.marginals[0].estimates.assign(model.marginals[0].counts.begin(), model.marginals[0].counts.end());
  model.marginals[0].counts.clear();
  Answer processed = measured;
  processed.header.set_post_processing("integer");
  const auto columns = [](const Answer& answer) {
    const std::string csv = Csv(answer);
    return csv.substr(0, csv.find('\n'));
  };
  EXPECT_EQ(columns(measured), kHeading + ",age,sex");
  EXPECT_EQ(columns(model), columns(measured));
  EXPECT_EQ(columns(processed), columns(measured));
  Answer ranges;
  ranges.query_sets = {TheRanges()};
  EXPECT_EQ(columns(ranges), kHeading + ",age");
}

TEST(AnswerOutput, TablesComeInTheOrderOfTheRequest) {
  Answer answer = TheMixture();
  answer.marginals[0].header.set_query_set(2);
  EXPECT_THAT(Csv(answer), ::testing::StartsWith(kHeading + ",age,sex\n1,ranges,"));
}

TEST(AnswerOutput, MarginalsThatAreSumsHaveTheIntervalsOfTheirCells) {
  Answer answer;
  answer.header.set_confidence_level(0.9);
  answer.marginals.push_back(MarginalOf({{"age", 2}}, 0));
  answer.marginals.back().counts = {10, 20};
  answer.marginals.back().standard_deviations = {2, 2};
  answer.marginals.back().confidence_half_widths = {3, 3};
  EXPECT_EQ(Csv(answer), kHeading +
                             ",age\n0,marginals,age,10,2,7,13,0.9,derived,,,\"[20, 25)\"\n"
                             "0,marginals,age,20,2,17,23,0.9,derived,,,\"[25, 29]\"\n");
}

TEST(AnswerOutput, ProcessedAnswersHaveTheIntervalsThatComeWithThem) {
  Answer answer;
  answer.header.set_confidence_level(0.9);
  answer.header.set_post_processing("non-negative");
  answer.marginals.push_back(MarginalOf({{"age", 2}}, 4));
  answer.marginals.back().estimates = {0, 20.5};
  answer.marginals.back().standard_deviations = {2, 3};
  answer.marginals.back().interval_lows = {0, 15};
  answer.marginals.back().interval_highs = {1, 22};
  EXPECT_EQ(Csv(answer),
            kHeading +
                ",age\n0,marginals,age,0,,0,1,0.9,post-processed,laplace,non-negative,\"[20, 25)\"\n"
                "0,marginals,age,20.5,,15,22,0.9,post-processed,laplace,non-negative,\"[25, 29]\"\n");
  std::ostringstream json;
  ASSERT_TRUE(WriteAnswerJson(answer, TheSchema(), json).ok());
  EXPECT_EQ(nlohmann::json::parse(json.str())["marginals"][0]["cells"][1]["upper"], 22);
  std::ostringstream tables;
  ASSERT_TRUE(WriteAnswerTables(answer, TheSchema(), Terminal(), tables).ok());
  EXPECT_THAT(tables.str(), AllOf(HasSubstr("from"), Not(HasSubstr("within")), Not(HasSubstr("std dev"))));
}

// The interval belongs to what was measured: around what it was made into it would promise too much.
TEST(AnswerOutput, ProcessedAnswersSaySoInEveryFormAndHaveNoInterval) {
  Answer answer = TheAnswer();
  answer.header.set_post_processing("non-negative, integer");
  EXPECT_THAT(
      Csv(answer),
      HasSubstr("\"age,sex\",10,,,,,post-processed,laplace,\"non-negative, integer\",\"[20, 25)\",f,\n"));
  std::ostringstream json;
  ASSERT_TRUE(WriteAnswerJson(answer, TheSchema(), json).ok());
  EXPECT_EQ(nlohmann::json::parse(json.str())["post_processing"], "non-negative, integer");
  EXPECT_FALSE(nlohmann::json::parse(json.str())["marginals"][0]["cells"][0].contains("lower"));
  std::ostringstream tables;
  ASSERT_TRUE(WriteAnswerTables(answer, TheSchema(), Terminal(), tables).ok());
  EXPECT_THAT(tables.str(), AllOf(HasSubstr("made non-negative, integer"), Not(HasSubstr("within"))));
  std::ostringstream summary;
  std::ostringstream error;
  Print(SummaryOf(answer), OutputForm::kTable, Terminal(), summary, error);
  EXPECT_THAT(summary.str(), HasSubstr("their error is not that of the noise"));
}

TEST(AnswerOutput, FreeAnswersNameTheirReleases) {
  Answer answer = TheAnswer();
  answer.header.add_free_from("r7");
  std::ostringstream out;
  std::ostringstream error;
  Print(SummaryOf(answer), OutputForm::kTable, Terminal(), out, error);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("r7"), HasSubstr("nothing was charged")));
  answer.header.clear_free_from();
  answer.header.add_could_be_free_from("r8");
  std::ostringstream told;
  Print(SummaryOf(answer), OutputForm::kTable, Terminal(), told, error);
  EXPECT_THAT(told.str(), AllOf(HasSubstr("r8"), HasSubstr("--prefer-free would have charged nothing")));
}

TEST(AnswerOutput, TheSummaryNamesTheRequestIdAndTheCost) {
  std::ostringstream out;
  std::ostringstream error;
  Answer answer = TheAnswer();
  Print(SummaryOf(answer), OutputForm::kTable, Terminal(), out, error);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"), HasSubstr("dataset/census"),
                               HasSubstr("0.05"), Not(HasSubstr("nothing was charged now"))));
  answer.header.set_replayed(true);
  Print(SummaryOf(answer), OutputForm::kTable, Terminal(), out, error);
  EXPECT_THAT(out.str(), HasSubstr("nothing was charged now"));
}

}  // namespace
}  // namespace curator::cli
