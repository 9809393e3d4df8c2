#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"

namespace curator::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

// Parses `workload answer c` with these arguments.
std::variant<Invocation, HelpText, UsageError> ParseAnswer(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"workload", "answer", "c"});
  return Parse(arguments);
}

AnswerWorkload Answering(const std::vector<std::string>& arguments) {
  auto parsed = ParseAnswer(arguments);
  if (const auto* error = std::get_if<UsageError>(&parsed)) ADD_FAILURE() << error->text;
  return std::get<AnswerWorkload>(std::get<Invocation>(parsed).command);
}

std::string Complaint(const std::vector<std::string>& arguments) {
  auto parsed = ParseAnswer(arguments);
  const auto* error = std::get_if<UsageError>(&parsed);
  return error == nullptr ? "" : error->text;
}

TEST(WorkloadArguments, TakeAnyMixtureOfQuestions) {
  const AnswerWorkload answer = Answering({"--file",       "w.json",
                                           "--marginals",  "2",
                                           "--attributes", "a,b",
                                           "--ranges",     "age",
                                           "--ranges",     "age,income",
                                           "--prefixes",   "age",
                                           "--prefixes",   "income",
                                           "--thresholds", "at least 1 of (a = 1, b = 2)",
                                           "--parities",   "3",
                                           "--where",      "age in [30,40] and sex = Female",
                                           "--where",      "zone in {1,2}",
                                           "--by",         "education,sex",
                                           "--strategy",   "tree",
                                           "--rho",        "0.1"});
  EXPECT_EQ(answer.workload.file, "w.json");
  EXPECT_EQ(answer.workload.marginals, 2);
  EXPECT_EQ(answer.workload.parities, 3);
  EXPECT_THAT(answer.workload.attributes, ElementsAre("a", "b"));
  EXPECT_THAT(answer.workload.ranges, ElementsAre(ElementsAre("age"), ElementsAre("age", "income")));
  EXPECT_THAT(answer.workload.prefixes, ElementsAre("age", "income"));
  EXPECT_THAT(answer.workload.thresholds, ElementsAre("at least 1 of (a = 1, b = 2)"));
  EXPECT_THAT(answer.workload.where, ElementsAre("age in [30,40] and sex = Female", "zone in {1,2}"));
  EXPECT_THAT(answer.workload.by, ElementsAre("education", "sex"));
  EXPECT_EQ(answer.workload.strategy, v1::STRATEGY_TREE);
}

TEST(WorkloadArguments, AnErrorToReachStandsInThePlaceOfASpend) {
  const AnswerWorkload answer = Answering({"--marginals", "1", "--max-error", "100", "--confidence", "0.9"});
  EXPECT_THAT(answer.price.max_error, Optional(100.0));
  EXPECT_EQ(answer.confidence, 0.9);
  EXPECT_THAT(Complaint({"--marginals", "1", "--max-error", "100", "--rho", "1"}), HasSubstr("--max-error"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--max-error", "0"}), HasSubstr("positive number of records"));
  EXPECT_THAT(Complaint({"--marginals", "1"}), HasSubstr("--max-error"));
}

TEST(WorkloadArguments, AFreeAnswerNeedsNoBudgetAndMayHaveOne) {
  EXPECT_TRUE(Answering({"--marginals", "1", "--prefer-free"}).prefer_free);
  const AnswerWorkload paid = Answering({"--marginals", "1", "--prefer-free", "--rho", "0.1"});
  EXPECT_TRUE(paid.prefer_free);
  EXPECT_EQ(paid.price.spend.rho, "0.1");
}

TEST(WorkloadArguments, PostProcessingIsAListOfSteps) {
  const v1::PostProcessing steps =
      Answering({"--marginals", "1", "--rho", "1", "--postprocess", "non-negative,integer"}).post_processing;
  EXPECT_TRUE(steps.non_negative());
  EXPECT_FALSE(steps.consistent());
  EXPECT_TRUE(steps.integer());
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--postprocess", "round"}),
              HasSubstr("none of non-negative, consistent, integer"));
}

TEST(WorkloadArguments, APlotGoesToTheTerminalOrToAFile) {
  EXPECT_EQ(Answering({"--marginals", "1", "--rho", "1"}).delivery.plot, std::nullopt);
  EXPECT_THAT(Answering({"--marginals", "1", "--rho", "1", "--plot"}).delivery.plot, Optional(std::string()));
  EXPECT_THAT(Answering({"--marginals", "1", "--plot", "--rho", "1"}).delivery.plot, Optional(std::string()));
  EXPECT_THAT(Answering({"--marginals", "1", "--rho", "1", "--plot", "a.svg"}).delivery.plot,
              Optional(std::string("a.svg")));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--plot", "a.png"}), HasSubstr("SVG"));
}

TEST(WorkloadArguments, WrongConditionsAreShownWithTheirPlace) {
  EXPECT_THAT(Complaint({"--where", "age in [30,40] and sex =", "--rho", "1"}),
              HasSubstr("  age in [30,40] and sex =\n                          ^"));
  EXPECT_THAT(Complaint({"--thresholds", "at least 0 of (a = 1)", "--rho", "1"}), HasSubstr("from 1 on"));
}

TEST(WorkloadArguments, OptionsThatChangeNothingAreRefused) {
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--by", "sex"}),
              HasSubstr("--where or --thresholds"));
  EXPECT_THAT(Complaint({"--ranges", "age", "--rho", "1", "--attributes", "sex"}),
              HasSubstr("--marginals or --parities"));
  EXPECT_THAT(Complaint({"--rho", "1"}), HasSubstr("--where"));
  EXPECT_THAT(Complaint({"--ranges", "age,age", "--rho", "1"}), HasSubstr("twice"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--strategy", "best"}),
              HasSubstr("auto|direct|histogram|tree"));
}

TEST(WorkloadArguments, AReleaseIsSharedWithSomebody) {
  const auto parsed = Parse({"release", "share", "r1", "--with", "bob"});
  const auto& share = std::get<ShareRelease>(std::get<Invocation>(parsed).command);
  EXPECT_EQ(share.release, "r1");
  EXPECT_EQ(share.principal, "bob");
  EXPECT_THAT(std::get<UsageError>(Parse({"release", "share", "r1"})).text, HasSubstr("--with"));
}

}  // namespace
}  // namespace curator::cli
