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
