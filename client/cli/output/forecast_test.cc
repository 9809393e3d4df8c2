#include "client/cli/output/forecast.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

v1::EstimateWorkloadResponse TheEstimate() {
  v1::EstimateWorkloadResponse estimate;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"marginals": [{"attributes": ["age", "sex"], "cells": 148, "noise": {
                        "mechanism": "MECHANISM_DISCRETE_LAPLACE", "scale": "20/1", "standardDeviation": 28.3,
                        "expectedAbsoluteError": 20, "confidenceHalfWidth": 59, "confidenceLevel": 0.95}}],
                      "totalCells": 148, "event": "one draw", "fits": true, "maxError": 160,
                      "spend": {"rho": "0.1"},
                      "costs": [{"account": "dataset/census", "rule": "RULE_ZCDP", "counter": "rho", "amount": "0.1",
                                 "remaining": "0.9"}],
                      "querySets": [{"querySet": 1, "answers": 2775, "strategy": "STRATEGY_TREE",
                        "words": "16-ary tree over age", "measurements": 80, "standardDeviation": 31,
                        "largestStandardDeviation": 44, "confidenceHalfWidth": 90,
                        "noise": {"mechanism": "MECHANISM_DISCRETE_LAPLACE", "scale": "20/1", "confidenceLevel": 0.95}}],
                      "choices": [{"spend": {"rho": "0.05"}, "costs": [{"account": "dataset/census", "counter": "rho", "amount": "0.05"}], "fits": true, "standardDeviation": 60, "maxError": 220},
                                  {"spend": {"rho": "2"}, "fits": false, "standardDeviation": 8, "maxError": 40}],
                      "freeFrom": ["r7"]})",
                  &estimate)
                  .ok());
  return estimate;
}

TEST(Forecast, TablesShowErrorsStrategiesAndChoices) {
  std::ostringstream out;
  std::ostringstream error;
  Print(ForecastDocument("census", TheEstimate(), 1000), OutputForm::kTable, Terminal(), out, error);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("age, sex"), HasSubstr("tree      16-ary tree over age"),
                               HasSubstr("all errors within +-"), HasSubstr("160"), HasSubstr("r7"),
                               HasSubstr("rho 0.05  rho 0.05"), HasSubstr("all within +-")));
}

TEST(Forecast, SaysWhichRootMeanSquaredErrorWasAskedFor) {
  const auto shown = [](std::optional<double> rmse, OutputForm form) {
    v1::EstimateWorkloadRequest asked;
    if (rmse) asked.mutable_target()->set_rmse(*rmse);
    std::ostringstream out;
    Print(EstimateDocument("census", TheEstimate(), true, std::nullopt, 0.95, form, asked), form, Terminal(),
          out, out);
    return out.str();
  };
  EXPECT_THAT(shown(12.5, OutputForm::kTable), HasSubstr("to reach a root mean squared error of  12.5"));
  EXPECT_THAT(shown({}, OutputForm::kTable), ::testing::Not(HasSubstr("squared")));
  EXPECT_THAT(shown(12.5, OutputForm::kJson), HasSubstr("\"target_rmse\":12.5"));
  EXPECT_THAT(shown({}, OutputForm::kJson), HasSubstr("\"target_rmse\":null"));
  EXPECT_THAT(shown(12.5, OutputForm::kCsv),
              AllOf(HasSubstr(",target_rmse,max_error,"), HasSubstr(",12.5,160,")));
}

TEST(Forecast, NamesTheQuerySetsAsTheyWereAsked) {
  v1::EstimateWorkloadRequest asked;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"workload": {"querySets": [{"marginals": {"sets": [{"names": ["age", "sex"]}]}},
                        {"marginals": {"sets": [{"names": ["age"]}, {"names": ["sex"]}]}},
                        {"marginals": {"allKWay": {"k": 2}}}, {"ranges": {"attributes": ["age", "sex"]}},
                        {"prefixes": {"attribute": "age"}}, {"thresholds": {}}, {"parities": {}},
                        {"predicates": {}}]}})",
                  &asked)
                  .ok());
  v1::EstimateWorkloadResponse estimate;
  for (int i = 0; i < asked.workload().query_sets_size(); ++i) estimate.add_query_sets()->set_query_set(i);
  std::ostringstream out;
  Print(EstimateDocument("census", estimate, true, std::nullopt, 0.95, OutputForm::kCsv, asked),
        OutputForm::kCsv, Terminal(), out, out);
  EXPECT_THAT(
      out.str(),
      AllOf(HasSubstr("\nquery_set,0,,0,,\"marginal age,sex\","), HasSubstr("\nquery_set,1,,0,,2 marginals,"),
            HasSubstr("\nquery_set,2,,0,,2-way marginals,"),
            HasSubstr("\nquery_set,3,,0,,\"ranges of age,sex\","),
            HasSubstr("\nquery_set,4,,0,,prefixes of age,"), HasSubstr("\nquery_set,5,,0,,thresholds,"),
            HasSubstr("\nquery_set,6,,0,,parities,"), HasSubstr("\nquery_set,7,,0,,conditions,")));
}

TEST(Forecast, SaysHowNearResidualsAreToTheLeastError) {
  v1::EstimateWorkloadResponse estimate = TheEstimate();
  estimate.clear_marginals();
  v1::EstimateWorkloadResponse::QuerySetForecast& set = *estimate.mutable_query_sets(0);
  set.set_strategy(v1::STRATEGY_RESIDUAL);
  set.set_gap(0.00021);
  set.mutable_noise()->set_mechanism(v1::MECHANISM_DISCRETE_GAUSSIAN);
  set.mutable_noise()->clear_scale();
  const auto shown = [&estimate](OutputForm form) {
    std::ostringstream out;
    Print(EstimateDocument("census", estimate, true, std::nullopt, 0.95, form), form, Terminal(), out, out);
    return out.str();
  };
  EXPECT_THAT(shown(OutputForm::kTable),
              AllOf(HasSubstr("gaussian  -  "), HasSubstr("within 0.021% of the least"),
                    ::testing::Not(HasSubstr("marginals"))));
  EXPECT_THAT(shown(OutputForm::kJson), HasSubstr("\"gap\":0.00021"));
  EXPECT_THAT(shown(OutputForm::kCsv), HasSubstr(",0.00021,"));
  set.set_strategy(v1::STRATEGY_TREE);
  EXPECT_THAT(shown(OutputForm::kTable), ::testing::Not(HasSubstr("of the least")));
  EXPECT_THAT(shown(OutputForm::kJson), HasSubstr("\"gap\":null"));
}

TEST(Forecast, SaysHowManyMarginalsWereLeftOut) {
  const auto shown = [](int64_t left_out, OutputForm form) {
    v1::EstimateWorkloadResponse estimate = TheEstimate();
    estimate.set_marginals_left_out(left_out);
    std::ostringstream out;
    std::ostringstream error;
    Print(ForecastDocument("census", estimate, std::nullopt), form, Terminal(), out, error);
    return out.str();
  };
  EXPECT_THAT(shown(7, OutputForm::kTable), HasSubstr("left out for their size"));
  EXPECT_THAT(shown(0, OutputForm::kTable), ::testing::Not(HasSubstr("left out")));
  EXPECT_THAT(shown(0, OutputForm::kJson), HasSubstr("\"marginals_left_out\":0"));
  EXPECT_THAT(shown(7, OutputForm::kJson), HasSubstr("\"marginals_left_out\":7"));
}

// A count and a mean of four groups, and a median that is selected.
v1::EstimateWorkloadResponse EstimateOfStatistics() {
  v1::EstimateWorkloadResponse estimate;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"json({"spend": {"rho": "0.1"}, "fits": true,
                      "statistics": [
                        {"statistic": "count", "words": "a count with noise", "standardDeviation": 3,
                         "confidenceHalfWidth": 6, "unit": "RECORDS", "groups": 4},
                        {"statistic": "mean(income)", "words": "sum and number of values, each with noise",
                         "standardDeviation": 1000000, "confidenceHalfWidth": 2000000,
                         "unit": "VALUE_TIMES_RECORDS", "groups": 4},
                        {"statistic": "median(income)", "words": "selected", "confidenceHalfWidth": 15,
                         "unit": "RANK", "groups": 4}],
                      "choices": [{"spend": {"rho": "0.05"}, "fits": true, "statistics": [
                        {"statistic": "count", "confidenceHalfWidth": 9, "unit": "RECORDS", "groups": 4},
                        {"statistic": "mean(income)", "confidenceHalfWidth": 3000000,
                         "unit": "VALUE_TIMES_RECORDS", "groups": 4}]}]})json",
                  &estimate)
                  .ok());
  return estimate;
}

std::string ShownOf(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> rows,
                    OutputForm form) {
  std::ostringstream out;
  std::ostringstream error;
  Print(ForecastDocument("census", estimate, rows, 0.9), form, Terminal(), out, error);
  return out.str();
}

TEST(Forecast, TheErrorOfAMeanIsDividedByTheRecordsOfItsGroup) {
  const std::string unknown = ShownOf(EstimateOfStatistics(), std::nullopt, OutputForm::kTable);
  EXPECT_THAT(unknown, ::testing::Not(HasSubstr("all errors within +-  0")));
  EXPECT_THAT(unknown,
              AllOf(HasSubstr("90% within +-"), HasSubstr("6 records  a count"),
                    HasSubstr("15 records in rank  selected\n"),
                    HasSubstr("2,000,000 / records in the group  sum and"), HasSubstr("--assume-rows")));
  // 40,000 records in 4 groups are 10,000 each.
  const std::string assumed = ShownOf(EstimateOfStatistics(), 40000, OutputForm::kTable);
  EXPECT_THAT(assumed, AllOf(HasSubstr("  200  sum and"), HasSubstr("40000 records in all")));
  EXPECT_THAT(assumed, ::testing::Not(HasSubstr("/ records in the group")));
}

TEST(Forecast, ChoicesHaveTheErrorsOfEachStatistic) {
  const std::string shown = ShownOf(EstimateOfStatistics(), 40000, OutputForm::kTable);
  EXPECT_THAT(shown, AllOf(HasSubstr("mean(income) within +-"), HasSubstr("9 records"), HasSubstr("300\n")));
  const std::string json = ShownOf(EstimateOfStatistics(), 40000, OutputForm::kJson);
  EXPECT_THAT(json, AllOf(HasSubstr("\"mean(income)\":3000000"), HasSubstr("\"unit\":\"value x records\""),
                          HasSubstr("\"half_width_at_rows\":200")));
}

TEST(Forecast, TheSameStatisticOfTwoSetsHasTwoNames) {
  v1::EstimateWorkloadResponse estimate = EstimateOfStatistics();
  for (auto* forecasts : {estimate.mutable_statistics(), estimate.mutable_choices(0)->mutable_statistics()}) {
    *forecasts->Add() = forecasts->Get(1);
    forecasts->rbegin()->set_query_set(1);
    forecasts->rbegin()->set_confidence_half_width(5000000);
  }
  const std::string json = ShownOf(estimate, std::nullopt, OutputForm::kJson);
  EXPECT_THAT(json, AllOf(HasSubstr("\"set 0: mean(income)\":3000000"),
                          HasSubstr("\"set 1: mean(income)\":5000000"), HasSubstr("\"max_error\":null")));
  const std::string shown = ShownOf(estimate, std::nullopt, OutputForm::kTable);
  EXPECT_THAT(shown, AllOf(HasSubstr("query set"), HasSubstr("set 1: mean(income) within +-")));
  EXPECT_THAT(ShownOf(EstimateOfStatistics(), std::nullopt, OutputForm::kTable),
              ::testing::Not(HasSubstr("query set")));
}

// Without a price nothing is said at a spend: the choices alone have the statistics.
TEST(Forecast, ALadderHasTheErrorsOfEachStatisticInThePlaceOfThatOfCounts) {
  v1::EstimateWorkloadResponse estimate = EstimateOfStatistics();
  estimate.clear_statistics();
  estimate.mutable_choices(0)->set_share_of_left(0.01);
  std::ostringstream out;
  Print(LadderDocument("census", estimate, std::nullopt), OutputForm::kTable, Terminal(), out, out);
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("mean(income) within +-"), HasSubstr("3,000,000 / records in the group"),
                    HasSubstr("--assume-rows"), ::testing::Not(HasSubstr("all errors within"))));
}

TEST(Forecast, SaysWhatAnErrorIsDividedByOnlyWhereOneIs) {
  v1::EstimateWorkloadResponse estimate = EstimateOfStatistics();
  estimate.mutable_statistics()->DeleteSubrange(1, 1);
  estimate.mutable_choices(0)->mutable_statistics()->DeleteSubrange(1, 1);
  EXPECT_THAT(ShownOf(estimate, std::nullopt, OutputForm::kTable),
              ::testing::Not(HasSubstr("--assume-rows")));
  std::ostringstream out;
  Print(LadderDocument("census", estimate, std::nullopt), OutputForm::kTable, Terminal(), out, out);
  EXPECT_THAT(out.str(), AllOf(::testing::Not(HasSubstr("--assume-rows")), HasSubstr("--epsilon or --rho"),
                               ::testing::Not(HasSubstr("--max-error"))));
}

TEST(Forecast, OfStatisticsIsInTheOneCsvTable) {
  const Table table = ForecastRecords(EstimateOfStatistics(), std::nullopt);
  Document document;
  document.tables.push_back(table);
  std::ostringstream out;
  Print(document, OutputForm::kCsv, Terminal(), out, out);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("\nstatistic,0,mean(income),4,"), HasSubstr("value x records")));
}

// The lines of a document in CSV.
std::vector<std::string> CsvLines(const Document& document) {
  std::ostringstream out;
  std::ostringstream error;
  Print(document, OutputForm::kCsv, Terminal(), out, error);
  std::istringstream text(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(Forecast, ALadderOfStatisticsInCsvHasARowForEachShareAndStatistic) {
  v1::EstimateWorkloadResponse estimate = EstimateOfStatistics();
  estimate.clear_statistics();
  estimate.mutable_choices(0)->set_share_of_left(0.01);
  const auto lines = [&](std::optional<int64_t> rows) {
    return CsvLines(EstimateDocument("census", estimate, false, rows, 0.9, OutputForm::kCsv));
  };
  const std::string heading =
      "share_of_left,epsilon,delta,rho,cost,share_of_promise,query_set,statistic,groups,max_error,"
      "confidence_half_width,confidence_level,unit,half_width_at_rows";
  EXPECT_THAT(lines(std::nullopt),
              ::testing::ElementsAre(heading, "0.01,,,0.05,,0,0,count,4,,9,0.9,records,",
                                     "0.01,,,0.05,,0,0,mean(income),4,,3000000,0.9,value x records,"));
  EXPECT_EQ(lines(40000).back(), "0.01,,,0.05,,0,0,mean(income),4,,3000000,0.9,value x records,300");
  // Counts beside the statistics have a row of their own.
  estimate.mutable_choices(0)->set_max_error(220);
  EXPECT_EQ(lines(std::nullopt).at(1), "0.01,,,0.05,,0,,,,220,,0.9,,");
  estimate.mutable_choices(0)->clear_statistics();
  EXPECT_THAT(lines(std::nullopt).front(), HasSubstr(",max_error"));
  EXPECT_EQ(lines(std::nullopt).size(), 2u) << "of counts alone a row for each share";
}

TEST(Forecast, ALadderOfStatisticsInJsonSaysTheUnitOfEachError) {
  v1::EstimateWorkloadResponse estimate = EstimateOfStatistics();
  estimate.clear_statistics();
  std::ostringstream out;
  Print(EstimateDocument("census", estimate, false, 40000, 0.9, OutputForm::kJson), OutputForm::kJson,
        Terminal(), out, out);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("\"statistics\":[{\"share_of_left\":"),
                               HasSubstr("\"unit\":\"value x records\",\"half_width_at_rows\":300")));
}

TEST(Forecast, OtherBudgetsHaveTheErrorsOfEachStatisticInCsv) {
  const std::vector<std::string> lines =
      CsvLines(EstimateDocument("census", EstimateOfStatistics(), true, 40000, 0.9, OutputForm::kCsv));
  std::vector<std::string> kinds;
  for (const std::string& line : lines) kinds.push_back(line.substr(0, line.find(',')));
  EXPECT_THAT(kinds, ::testing::ElementsAre("record", "request", "statistic", "statistic", "statistic",
                                            "choice", "choice_statistic", "choice_statistic"));
  EXPECT_THAT(lines.back(), AllOf(HasSubstr(",0,mean(income),4,"),
                                  HasSubstr(",3000000,value x records,300,0.9,"), HasSubstr(",0.05,")));
}

TEST(Forecast, OneCsvTableHoldsEverything) {
  std::ostringstream out;
  std::ostringstream error;
  Document document;
  document.tables.push_back(ForecastRecords(TheEstimate(), std::nullopt));
  Print(document, OutputForm::kCsv, Terminal(), out, error);
  std::istringstream lines(out.str());
  std::string heading;
  std::getline(lines, heading);
  std::vector<std::string> kinds;
  const auto commas = std::count(heading.begin(), heading.end(), ',');
  for (std::string line; std::getline(lines, line);) {
    kinds.push_back(line.substr(0, line.find(',')));
    const bool quoted = line.find('"') != std::string::npos;  // "age,sex"
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas + (quoted ? 1 : 0)) << line;
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre("request", "marginal", "query_set", "cost", "choice", "choice"));
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("16-ary tree over age"), HasSubstr("dataset/census,zcdp,rho,0.1,0.9"),
                    HasSubstr("one draw"), HasSubstr("r7")));
}

}  // namespace
}  // namespace curator::cli
