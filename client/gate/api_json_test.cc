#include "client/gate/api_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "curator/v1/query.pb.h"

namespace curator::gate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// JSON has no numbers for these: the browser reads the words that proto3's JSON has for them.
TEST(ApiJson, WritesWhatIsNoNumberAndInfiniteEndsAsWords) {
  v1::AnswerChunk chunk;
  v1::AnswerSlice& slice = *chunk.mutable_answers();
  slice.add_estimates(std::numeric_limits<double>::quiet_NaN());
  slice.add_estimates(51204.25);
  slice.add_interval_lows(-kInfinity);
  slice.add_interval_lows(50871);
  slice.add_interval_highs(kInfinity);
  slice.add_interval_highs(51537);
  const auto json = nlohmann::json::parse(ToJson(chunk))["answers"];
  EXPECT_EQ(json["estimates"], nlohmann::json::parse(R"(["NaN", 51204.25])"));
  EXPECT_EQ(json["interval_lows"], nlohmann::json::parse(R"(["-Infinity", 50871])"));
  EXPECT_EQ(json["interval_highs"], nlohmann::json::parse(R"(["Infinity", 51537])"));
}

TEST(ApiJson, WritesForecastsOfStatisticsWithTheNamesOfTheirUnits) {
  v1::EstimateWorkloadResponse estimate;
  v1::EstimateWorkloadResponse::StatisticForecast& mean = *estimate.add_statistics();
  mean.set_statistic("mean(income)");
  mean.set_unit(v1::EstimateWorkloadResponse::StatisticForecast::VALUE_TIMES_RECORDS);
  mean.set_groups(3);
  const auto json = nlohmann::json::parse(ToJson(estimate))["statistics"][0];
  EXPECT_EQ(json["unit"], "VALUE_TIMES_RECORDS");
  EXPECT_EQ(json["groups"], "3") << "integers of 64 bits are text";
  EXPECT_EQ(json["statistic"], "mean(income)");
}

}  // namespace
}  // namespace curator::gate
