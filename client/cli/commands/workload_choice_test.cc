#include "client/cli/commands/workload_choice.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::HasSubstr;

std::string WorkloadJson(const absl::StatusOr<v1::Workload>& workload) {
  if (!workload.ok()) return workload.status().ToString();
  std::string json;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(*workload, &json).ok());
  return json;
}

TEST(WorkloadChoice, BecomesQuerySetsInOrder) {
  WorkloadChoice choice;
  choice.marginals = 2;
  choice.parities = 1;
  choice.attributes = {"a", "b"};
  choice.ranges = {{"age"}, {"age", "income"}};
  choice.prefixes = {"age"};
  choice.thresholds = {"at least 1,2 of each 2 of (a = 1, b = 2, c = 3)"};
  choice.where = {"a = 1", "b in [1,2]"};
  choice.by = {"sex"};
  choice.strategy = v1::STRATEGY_TREE;
  EXPECT_EQ(
      WorkloadJson(WorkloadOf(choice, {})),
      R"({"querySets":[{"marginals":{"allKWay":{"k":2,"attributes":["a","b"]}}},)"
      R"({"ranges":{"attributes":["age"]},"strategy":"STRATEGY_TREE"},)"
      R"({"ranges":{"attributes":["age","income"]},"strategy":"STRATEGY_TREE"},)"
      R"({"prefixes":{"attribute":"age"},"strategy":"STRATEGY_TREE"},)"
      R"({"thresholds":{"conditions":[{"attribute":"a","in":["1"]},{"attribute":"b","in":["2"]},)"
      R"({"attribute":"c","in":["3"]}],"atLeast":[1,2],"k":2,"by":["sex"]},"strategy":"STRATEGY_TREE"},)"
      R"({"parities":{"upToKWay":{"k":1,"attributes":["a","b"]}},"strategy":"STRATEGY_TREE"},)"
      R"({"predicates":{"predicates":[{"allOf":[{"attribute":"a","in":["1"]}]},)"
      R"({"allOf":[{"attribute":"b","between":{"from":"1","to":"2"}}]}],"by":["sex"]},"strategy":"STRATEGY_TREE"}]})");
}

TEST(WorkloadChoice, AFileComesFirstAndKeepsItsStrategies) {
  const curator::testing::ScratchFolder folder;
  WorkloadChoice choice;
  choice.file = folder.path() + "/w.json";
  choice.prefixes = {"age"};
  choice.strategy = v1::STRATEGY_DIRECT;
  std::ofstream(choice.file) << R"({"query_sets": [{"marginals": {"sets": [{"names": ["a"]}]}},
      {"ranges": {"attributes": ["age"]}, "strategy": "STRATEGY_TREE"}, {"prefixes": {"attribute": "b"}}]})";
  EXPECT_EQ(WorkloadJson(WorkloadOf(choice, {})),
            R"({"querySets":[{"marginals":{"sets":[{"names":["a"]}]},"strategy":"STRATEGY_DIRECT"},)"
            R"({"ranges":{"attributes":["age"]},"strategy":"STRATEGY_TREE"},)"
            R"({"prefixes":{"attribute":"b"},"strategy":"STRATEGY_DIRECT"},)"
            R"({"prefixes":{"attribute":"age"},"strategy":"STRATEGY_DIRECT"}]})");
  std::ofstream(choice.file) << R"({"query_sets": [{"histograms": {}}]})";
  EXPECT_THAT(WorkloadJson(WorkloadOf(choice, {})), HasSubstr("histograms"));
}

TEST(WorkloadChoice, MarginalsTakeTheStrategiesThatTheyCanHave) {
  const auto strategies = [](v1::Strategy strategy) {
    WorkloadChoice choice;
    choice.marginals = 1;
    choice.prefixes = {"age"};
    choice.strategy = strategy;
    const v1::Workload workload = WorkloadOf(choice, {}).value();
    return std::pair(workload.query_sets(0).strategy(), workload.query_sets(1).strategy());
  };
  for (const v1::Strategy strategy :
       {v1::STRATEGY_UNSPECIFIED, v1::STRATEGY_BASE_HISTOGRAM, v1::STRATEGY_TREE})
    EXPECT_EQ(strategies(strategy), std::pair(v1::STRATEGY_UNSPECIFIED, strategy));
  for (const v1::Strategy strategy : {v1::STRATEGY_DIRECT, v1::STRATEGY_RESIDUAL})
    EXPECT_EQ(strategies(strategy), std::pair(strategy, strategy));
}

TEST(WorkloadChoice, WeightsAreOfTheSetsOfTheirOptionsAndNotOfTheFile) {
  const curator::testing::ScratchFolder folder;
  WorkloadChoice choice;
  choice.file = folder.path() + "/w.json";
  std::ofstream(choice.file) << R"({"query_sets": [{"ranges": {"attributes": ["age"]}, "weight": 0.5},
                                                  {"ranges": {"attributes": ["zone"]}}]})";
  choice.ranges = {{"age"}, {"zone"}};
  choice.where = {"a = 1"};
  choice.weights = {{.option = "ranges", .weight = 20}};
  EXPECT_EQ(WorkloadJson(WorkloadOf(choice, {})),
            R"({"querySets":[{"ranges":{"attributes":["age"]},"weight":0.5},)"
            R"({"ranges":{"attributes":["zone"]}},)"
            R"({"ranges":{"attributes":["age"]},"weight":20},)"
            R"({"ranges":{"attributes":["zone"]},"weight":20},)"
            R"({"predicates":{"predicates":[{"allOf":[{"attribute":"a","in":["1"]}]}]}}]})");
}

TEST(WorkloadChoice, ATargetTakesTheConfidenceOfTheCommand) {
  v1::AnswerWorkloadRequest request;
  SetPrice({{}, 25.0}, 0.9, request);
  EXPECT_FALSE(request.has_spend());
  EXPECT_EQ(request.target().max_error(), 25);
  EXPECT_EQ(request.target().confidence(), 0.9);
  v1::AnswerWorkloadRequest of_mean;
  SetPrice({.rmse = 4}, 0.9, of_mean);
  EXPECT_EQ(of_mean.target().rmse(), 4);
  EXPECT_FALSE(of_mean.has_spend() || of_mean.target().has_confidence());
  v1::AnswerWorkloadRequest free;
  SetPrice({}, std::nullopt, free);
  EXPECT_FALSE(free.has_spend() || free.has_target());
}

}  // namespace
}  // namespace curator::cli
