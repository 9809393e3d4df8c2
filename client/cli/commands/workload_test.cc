#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "client/cli/commands/workload_choice.h"
#include "client/cli/output/text.h"
#include "client/cli/testing/command_line.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/synthesis.pb.h"

namespace curator::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// `workload answer c` with more arguments.
class WorkloadArguments : public ::testing::Test {
 protected:
  static std::vector<std::string> Line(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"workload", "answer", "c"});
    return arguments;
  }
  v1::AnswerWorkloadRequest Answering(const std::vector<std::string>& arguments) {
    return command_line_.Sent<v1::AnswerWorkloadRequest>(Line(arguments));
  }
  // What is said of wrong usage; empty when there is none.
  std::string Complaint(const std::vector<std::string>& arguments) {
    const bool wrong = command_line_.Run(Line(arguments)) == ExitStatus::kUsage;
    return wrong ? command_line_.error() : "";
  }

  testing::CommandLine command_line_;
};

TEST_F(WorkloadArguments, TakeAnyMixtureOfQuestions) {
  const std::string file =
      command_line_.File("w.json", R"({"query_sets": [{"prefixes": {"attribute": "zone"}}]})");
  const v1::AnswerWorkloadRequest sent = Answering({"--file",       file,
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
  const auto& sets = sent.workload().query_sets();
  ASSERT_EQ(sets.size(), 9);
  EXPECT_EQ(sets[0].prefixes().attribute(), "zone") << "from the file";
  EXPECT_EQ(sets[1].marginals().all_k_way().k(), 2);
  EXPECT_THAT(sets[1].marginals().all_k_way().attributes(), ElementsAre("a", "b"));
  EXPECT_THAT(sets[2].ranges().attributes(), ElementsAre("age"));
  EXPECT_THAT(sets[3].ranges().attributes(), ElementsAre("age", "income"));
  EXPECT_EQ(sets[4].prefixes().attribute(), "age");
  EXPECT_EQ(sets[5].prefixes().attribute(), "income");
  EXPECT_THAT(sets[6].thresholds().at_least(), ElementsAre(1));
  EXPECT_EQ(sets[6].thresholds().conditions_size(), 2);
  EXPECT_THAT(sets[6].thresholds().by(), ElementsAre("education", "sex"));
  EXPECT_EQ(sets[7].parities().up_to_k_way().k(), 3);
  ASSERT_EQ(sets[8].predicates().predicates_size(), 2);
  EXPECT_EQ(sets[8].predicates().predicates(0).all_of_size(), 2);
  const v1::Condition& zone = sets[8].predicates().predicates(1).all_of(0);
  ASSERT_EQ(zone.in_size(), 2);
  EXPECT_EQ(zone.in(0).string_value(), "1");
  EXPECT_EQ(zone.in(1).string_value(), "2");
  EXPECT_THAT(sets[8].predicates().by(), ElementsAre("education", "sex"));
  for (const v1::QuerySet& set : sets) {
    EXPECT_EQ(set.strategy(), set.has_marginals() ? v1::STRATEGY_UNSPECIFIED : v1::STRATEGY_TREE);
  }
}

TEST_F(WorkloadArguments, AnErrorToReachStandsInThePlaceOfASpend) {
  const v1::AnswerWorkloadRequest sent =
      Answering({"--marginals", "1", "--max-error", "100", "--confidence", "0.9"});
  EXPECT_EQ(sent.target().max_error(), 100);
  EXPECT_FALSE(sent.has_spend());
  EXPECT_EQ(sent.confidence_level(), 0.9);
  EXPECT_THAT(Complaint({"--marginals", "1", "--max-error", "100", "--rho", "1"}), HasSubstr("--max-error"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--max-error", "0"}), HasSubstr("positive number of records"));
  EXPECT_THAT(Complaint({"--marginals", "1"}), HasSubstr("--max-error"));
}

TEST_F(WorkloadArguments, ARootMeanSquaredErrorStandsInThePlaceOfASpend) {
  const v1::AnswerWorkloadRequest sent =
      Answering({"--marginals", "1", "--rmse", "2.5", "--confidence", "0.9"});
  EXPECT_EQ(sent.target().rmse(), 2.5);
  EXPECT_FALSE(sent.has_spend() || sent.target().has_confidence());
  EXPECT_EQ(sent.confidence_level(), 0.9);
  EXPECT_EQ(Answering({"--marginals", "1", "--rmse", "5%", "--assume-rows", "2000"}).target().rmse(), 100);
  EXPECT_THAT(command_line_.error(), HasSubstr("--rmse 5% is 100 records, of 2000 assumed rows"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rmse", "5%"}),
              HasSubstr("--rmse: a percentage is of a number of records"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rmse", "5", "--max-error", "5"}),
              HasSubstr("only one of these may be given: --epsilon, --rho, --max-error, --rmse"));
  for (const char* wrong : {"0", "-5", "nan", "five", "101%"})
    EXPECT_THAT(Complaint({"--marginals", "1", "--rmse", wrong, "--assume-rows", "9"}),
                HasSubstr("--rmse: '" + std::string(wrong) + "' is neither a positive number of records"));
}

TEST_F(WorkloadArguments, WeightsAreOfTheOptionsThatAsk) {
  const v1::AnswerWorkloadRequest sent =
      Answering({"--marginals", "1", "--ranges", "age", "--ranges", "zone", "--where", "sex = f", "--weight",
                 "ranges=20", "--weight", "where=0.5", "--rho", "1"});
  const auto& sets = sent.workload().query_sets();
  ASSERT_EQ(sets.size(), 4);
  EXPECT_FALSE(sets[0].has_weight());
  EXPECT_EQ(sets[1].weight(), 20);
  EXPECT_EQ(sets[2].weight(), 20);
  EXPECT_EQ(sets[3].weight(), 0.5);
  for (const char* wrong : {"2", "ranges", "ranges=", "ranges=two", "ranges=0", "ranges=-1", "ranges=nan",
                            "ranges=inf", "mean=2", "--ranges=2"}) {
    EXPECT_THAT(Complaint({"--ranges", "age", "--rho", "1", "--weight", wrong}),
                HasSubstr("' is not NAME=W, such as ranges=2"))
        << wrong;
  }
}

TEST_F(WorkloadArguments, WeightsWithoutEffectAreRefused) {
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--weight", "ranges=2"}),
              HasSubstr("--weight: names ranges, which is not asked: give --ranges"));
  EXPECT_THAT(Complaint({"--ranges", "age", "--rho", "1", "--weight", "ranges=2", "--weight", "ranges=3"}),
              HasSubstr("--weight: names ranges twice"));
  EXPECT_THAT(Complaint({"--mean", "age", "--where", "a = 1", "--rho", "1", "--weight", "where=2"}),
              HasSubstr("--weight: is of counts"));
  for (const char* error : {"5", "5%"}) {
    EXPECT_THAT(
        Complaint({"--ranges", "age", "--max-error", error, "--assume-rows", "9", "--weight", "ranges=2"}),
        HasSubstr("--weight: does not count beside --max-error"));
  }
  EXPECT_EQ(command_line_.Run("release query r1 --ranges age --weight ranges=2"), ExitStatus::kUsage)
      << "no noise is planned for the answers of a model";
}

TEST_F(WorkloadArguments, AnObjectiveGoesWithABudget) {
  EXPECT_EQ(Answering({"--ranges", "age", "--rho", "1"}).objective(), v1::OBJECTIVE_UNSPECIFIED);
  EXPECT_EQ(Answering({"--ranges", "age", "--rho", "1", "--objective", "sum"}).objective(),
            v1::OBJECTIVE_SUM);
  EXPECT_EQ(Answering({"--ranges", "age", "--rho", "1", "--objective", "worst"}).objective(),
            v1::OBJECTIVE_WORST);
  EXPECT_THAT(Complaint({"--ranges", "age", "--rho", "1", "--objective", "mean"}),
              HasSubstr("'mean' is none of sum|worst"));
  for (const char* target : {"--max-error", "--rmse"}) {
    EXPECT_THAT(Complaint({"--ranges", "age", target, "5", "--objective", "worst"}),
                HasSubstr("--objective: goes with a budget"));
  }
  EXPECT_THAT(Complaint({"--mean", "income", "--rho", "1", "--objective", "worst"}),
              HasSubstr("--objective: is of counts"));
}

// What the server says of a request without a price.
v1::EstimateWorkloadResponse LadderOfShares() {
  v1::EstimateWorkloadResponse estimate;
  for (const auto& [share, rho, error] :
       {std::tuple(0.01, "0.00024", 90.0), std::tuple(0.3, "0.0073", 16.0)}) {
    v1::EstimateWorkloadResponse::Choice& choice = *estimate.add_choices();
    choice.set_share_of_left(share);
    choice.mutable_spend()->set_rho(rho);
    choice.set_max_error(error);
    v1::Cost& cost = *choice.add_costs();
    cost.set_account("dataset/c");
    cost.set_counter("rho");
    cost.set_amount(rho);
    cost.set_share_of_promise(share * 0.61);
  }
  return estimate;
}

TEST_F(WorkloadArguments, AnEstimateWithoutABudgetShowsWhatSharesOfWhatIsLeftWouldBuy) {
  command_line_.server.Answer<v1::EstimateWorkloadRequest>(LadderOfShares());
  const std::vector<std::string> line = {"workload", "estimate",      "c",  "--marginals",
                                         "1",        "--assume-rows", "180"};
  const auto sent = command_line_.Sent<v1::EstimateWorkloadRequest>(line);
  EXPECT_FALSE(sent.has_spend());
  EXPECT_FALSE(sent.has_target());
  EXPECT_EQ(command_line_.server.Received<v1::EstimateWorkloadRequest>().size(), 1U) << "one call";
  EXPECT_THAT(command_line_.out(),
              ::testing::AllOf(HasSubstr("of what is left"), HasSubstr("1%  rho 0.00024"),
                               HasSubstr("30%  rho 0.0073"), HasSubstr("0.61%"), HasSubstr("19%"),
                               HasSubstr("all errors within +-"), HasSubstr("0.5"),
                               HasSubstr("One budget in detail: --epsilon, --rho or --max-error")));
}

TEST_F(WorkloadArguments, TheSharesOfALadderAreNumbersInJson) {
  command_line_.server.Answer<v1::EstimateWorkloadRequest>(LadderOfShares());
  command_line_.Sent<v1::EstimateWorkloadRequest>("--output json workload estimate c --marginals 1");
  EXPECT_THAT(command_line_.out(),
              ::testing::AllOf(HasSubstr("\"share_of_left\":0.01"), HasSubstr("\"rho\":\"0.00024\""),
                               HasSubstr("\"share_of_promise\":0.183")));
}

v1::GetReleaseChunk ChunkOf(const v1::AnswerChunk& answer) {
  v1::GetReleaseChunk chunk;
  *chunk.mutable_answer() = answer;
  return chunk;
}

// A release with a marginal of 2,000 records.
void AnswerReleaseOfTwoThousand(client::testing::RecordingServer& server) {
  v1::GetReleaseChunk release;
  release.mutable_release()->set_id("r7");
  v1::AnswerChunk header;
  header.mutable_header()->set_marginal_count(1);
  v1::AnswerChunk marginal;
  marginal.mutable_marginal()->add_attributes("sex");
  marginal.mutable_marginal()->add_sizes(2);
  v1::AnswerChunk cells;
  cells.mutable_cells()->add_counts(1200);
  cells.mutable_cells()->add_counts(800);
  server.Answer<v1::GetReleaseRequest>(release, ChunkOf(header), ChunkOf(marginal), ChunkOf(cells));
}

TEST_F(WorkloadArguments, APercentageOfErrorIsOfTheAssumedRows) {
  EXPECT_EQ(
      Answering({"--marginals", "1", "--max-error", "5%", "--assume-rows", "48842"}).target().max_error(),
      48842 * 0.05);
  EXPECT_THAT(command_line_.error(), HasSubstr("--max-error 5% is 2442 records, of 48842 assumed rows"));
}

TEST_F(WorkloadArguments, APercentageOfErrorIsOfTheNoisyTotalOfARelease) {
  AnswerReleaseOfTwoThousand(command_line_.server);
  EXPECT_EQ(Answering({"--marginals", "1", "--max-error", "0.5%", "--of-release", "r7"}).target().max_error(),
            10);
  EXPECT_EQ(command_line_.server.Received<v1::GetReleaseRequest>().back().release_id(), "r7");
  EXPECT_THAT(command_line_.error(),
              HasSubstr("of 2000 records, a noisy number: the sum of the marginal over "
                        "sex of release r7"));
}

TEST_F(WorkloadArguments, APercentageOfNothingIsWrongUsage) {
  EXPECT_THAT(Complaint({"--marginals", "1", "--max-error", "5%"}),
              HasSubstr("give --assume-rows N, or --of-release ID"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--of-release", "r7"}),
              HasSubstr("give it with --max-error 5%"));
  for (const char* wrong : {"0%", "-5%", "101%", "%", "5%%", "x%"}) {
    EXPECT_THAT(Complaint({"--marginals", "1", "--max-error", wrong, "--assume-rows", "9"}),
                HasSubstr("nor a percentage"))
        << wrong;
  }
}

TEST_F(WorkloadArguments, MarginalsAboveASizeAreLeftOutAndCounted) {
  const v1::AnswerWorkloadRequest sent =
      Answering({"--marginals", "1", "--attributes", "sex,age,zone", "--max-cells", "5", "--rho", "1"});
  EXPECT_EQ(sent.workload().query_sets(0).marginals().all_k_way().max_cells(), 5);
  EXPECT_THAT(command_line_.error(), HasSubstr("2 marginals were left out for size"))
      << "three were asked for, and the server sends one";
  Answering({"--marginals", "1", "--attributes", "sex", "--rho", "1"});
  EXPECT_THAT(command_line_.error(), Not(HasSubstr("left out")));
  EXPECT_THAT(Complaint({"--ranges", "age", "--rho", "1", "--max-cells", "5"}), HasSubstr("--marginals"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--max-cells", "0"}), HasSubstr("--max-cells"));
}

TEST_F(WorkloadArguments, AnErrorThatIsNoNumberOfRecordsIsSaidToBeNone) {
  EXPECT_THAT(Complaint({"--marginals", "1", "--max-error", "five"}),
              HasSubstr("--max-error: 'five' is neither a positive number of records, such as 100, nor a "
                        "percentage, such as 5%"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--confidence", "95%"}),
              HasSubstr("--confidence: '95%' is not a number between 0 and 1, such as 0.95"));
}

TEST_F(WorkloadArguments, StatisticsOfACommandAreOneSetWithItsGroupsAndItsCondition) {
  const v1::AnswerWorkloadRequest sent = Answering(
      {"--mean",   "income,age",       "--count", "--quantiles", "income .25,0.5", "--quantile", "age 0.9",
       "--median", "income",           "--sum",   "income",      "--variance",     "income",     "--count-of",
       "income",   "--distinct-units", "--by",    "region,sex",  "--where",        "age >= 18",  "--rho",
       "1"});
  ASSERT_EQ(sent.workload().query_sets_size(), 1);
  const v1::Statistics& asked = sent.workload().query_sets(0).statistics();
  EXPECT_THAT(asked.by(), ElementsAre("region", "sex"));
  EXPECT_EQ(asked.where().all_of_size(), 1);
  ASSERT_EQ(asked.statistics_size(), 10);
  EXPECT_TRUE(asked.statistics(0).has_count());
  EXPECT_EQ(asked.statistics(1).count().of(), "income");
  EXPECT_EQ(asked.statistics(2).sum(), "income");
  EXPECT_EQ(asked.statistics(3).mean(), "income");
  EXPECT_EQ(asked.statistics(4).mean(), "age");
  EXPECT_EQ(asked.statistics(5).variance(), "income");
  EXPECT_EQ(asked.statistics(6).median(), "income");
  EXPECT_EQ(asked.statistics(7).quantiles().of(), "income");
  EXPECT_THAT(asked.statistics(7).quantiles().at(), ElementsAre("0.25", "0.5"));
  EXPECT_THAT(asked.statistics(8).quantiles().at(), ElementsAre("0.9"));
  EXPECT_TRUE(asked.statistics(9).has_distinct_units());
}

TEST_F(WorkloadArguments, NamesMayBeGivenOneByOne) {
  const v1::AnswerWorkloadRequest sent =
      Answering({"--mean", "income", "--by", "region", "--by", "sex,zone", "--rho", "1"});
  EXPECT_THAT(sent.workload().query_sets(0).statistics().by(), ElementsAre("region", "sex", "zone"));
}

TEST_F(WorkloadArguments, QuantilesAreMeasuredAsTheirOwnOptionSays) {
  const auto strategies = [this](const std::vector<std::string>& arguments) {
    std::vector<v1::Strategy> sent;
    const v1::AnswerWorkloadRequest request = Answering(arguments);
    for (const v1::QuerySet& set : request.workload().query_sets()) sent.push_back(set.strategy());
    return sent;
  };
  EXPECT_THAT(strategies({"--ranges", "age", "--median", "income", "--strategy", "direct", "--quantiles-by",
                          "selection", "--rho", "1"}),
              ElementsAre(v1::STRATEGY_DIRECT, v1::STRATEGY_SELECTION));
  EXPECT_THAT(Complaint({"--median", "income", "--strategy", "tree", "--rho", "1"}),
              HasSubstr("--strategy: is of counts; how quantiles are measured: --quantiles-by"));
  EXPECT_THAT(Complaint({"--mean", "income", "--where", "age >= 18", "--strategy", "tree", "--rho", "1"}),
              HasSubstr("--strategy: is of counts"));
  EXPECT_THAT(Complaint({"--mean", "income", "--quantiles-by", "tree", "--rho", "1"}),
              HasSubstr("goes with --median or --quantiles"));
}

TEST_F(WorkloadArguments, StatisticsThatCannotBeMeantAreRefused) {
  EXPECT_THAT(Complaint({"--quantiles", "income", "--rho", "1"}), HasSubstr("such as 'income 0.25,0.75'"));
  for (const char* share : {"1", "0", "0.0000", "0.2505", "25%", "1.5", "0.", "", "0.2,"}) {
    EXPECT_THAT(Complaint({"--quantiles", std::string("income ") + share, "--rho", "1"}),
                Not(::testing::IsEmpty()))
        << share;
  }
  EXPECT_THAT(Complaint({"--mean", "income,income", "--rho", "1"}), HasSubstr("named twice"));
  EXPECT_THAT(
      Complaint({"--mean", "income", "--where", "a = 1", "--where", "b = 2", "--rho", "1"}),
      HasSubstr("--where: is given once with statistics: they are of the records that fulfil it; join its "
                "conditions: 'age >= 18 and sex = Female'"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--by", "sex", "--rho", "1"}), HasSubstr("such as --mean"));
}

TEST_F(WorkloadArguments, AModelIsAskedForNoStatistics) {
  EXPECT_EQ(command_line_.Run("release query r1 --mean income"), ExitStatus::kUsage);
  EXPECT_EQ(command_line_.Run("synth run c --method mwem --rho 1 --mean income"), ExitStatus::kUsage);
}

TEST_F(WorkloadArguments, TheHelpShowsAFileOfStatisticsThatCanBeRead) {
  for (const char* line : {"workload estimate", "workload answer"}) {
    ASSERT_EQ(command_line_.Run(std::string(line) + " --help"), ExitStatus::kDone);
    EXPECT_THAT(command_line_.out(), HasSubstr(kStatisticsFileExample)) << line;
  }
  const v1::AnswerWorkloadRequest sent =
      Answering({"--file", command_line_.File("s.json", kStatisticsFileExample), "--rho", "1"});
  EXPECT_EQ(sent.workload().query_sets(0).statistics().statistics_size(), 3);
}

// The example of the help is one that a file may have.
TEST_F(WorkloadArguments, TheHelpShowsAFileThatCanBeRead) {
  for (const char* line : {"workload estimate", "workload answer", "synth run", "release query"}) {
    ASSERT_EQ(command_line_.Run(std::string(line) + " --help"), ExitStatus::kDone);
    EXPECT_THAT(command_line_.out(), HasSubstr(kWorkloadFileExample)) << line;
  }
  const v1::AnswerWorkloadRequest sent =
      Answering({"--file", command_line_.File("w.json", kWorkloadFileExample), "--rho", "1"});
  std::set<int> classes;
  for (const v1::QuerySet& set : sent.workload().query_sets()) classes.insert(set.queries_case());
  EXPECT_EQ(classes.size(), 6U) << "one of each class";
}

TEST_F(WorkloadArguments, AFreeAnswerNeedsNoBudgetAndMayHaveOne) {
  const v1::AnswerWorkloadRequest free = Answering({"--marginals", "1", "--prefer-free"});
  EXPECT_TRUE(free.prefer_free());
  EXPECT_FALSE(free.has_spend() || free.has_target());
  const v1::AnswerWorkloadRequest paid = Answering({"--marginals", "1", "--prefer-free", "--rho", "0.1"});
  EXPECT_TRUE(paid.prefer_free());
  EXPECT_EQ(paid.spend().rho(), "0.1");
}

TEST_F(WorkloadArguments, PostProcessingIsAListOfSteps) {
  const v1::PostProcessing steps =
      Answering({"--marginals", "1", "--rho", "1", "--postprocess", "non-negative,integer"})
          .post_processing();
  EXPECT_TRUE(steps.non_negative());
  EXPECT_FALSE(steps.consistent());
  EXPECT_TRUE(steps.integer());
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--postprocess", "round"}),
              HasSubstr("none of non-negative, consistent, integer"));
}

TEST_F(WorkloadArguments, APlotGoesToTheTerminalOrToAFile) {
  const char* bar = "\nm  10  ####";
  Answering({"--marginals", "1", "--rho", "1"});
  EXPECT_THAT(command_line_.out(), Not(HasSubstr(bar)));
  Answering({"--marginals", "1", "--rho", "1", "--plot"});
  EXPECT_THAT(command_line_.out(), HasSubstr(bar));
  Answering({"--marginals", "1", "--plot", "--rho", "1"});
  EXPECT_THAT(command_line_.out(), HasSubstr(bar));
  Answering({"--marginals", "1", "--rho", "1", "--plot", command_line_.Path("a.svg")});
  EXPECT_THAT(command_line_.out(), Not(HasSubstr(bar)));
  EXPECT_THAT(command_line_.Content("a.svg"), HasSubstr("<svg "));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--plot", "a.png"}), HasSubstr("SVG"));
}

TEST_F(WorkloadArguments, WrongConditionsAreShownWithTheirPlace) {
  EXPECT_THAT(Complaint({"--where", "age in [30,40] and sex =", "--rho", "1"}),
              HasSubstr("  age in [30,40] and sex =\n                          ^"));
  EXPECT_THAT(Complaint({"--thresholds", "at least 0 of (a = 1)", "--rho", "1"}), HasSubstr("from 1 on"));
}

TEST_F(WorkloadArguments, OptionsThatChangeNothingAreRefused) {
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--by", "sex"}),
              HasSubstr("--where, --thresholds or statistics"));
  EXPECT_THAT(Complaint({"--ranges", "age", "--rho", "1", "--attributes", "sex"}),
              HasSubstr("--marginals or --parities"));
  EXPECT_THAT(Complaint({"--rho", "1"}), HasSubstr("--where"));
  EXPECT_THAT(Complaint({"--ranges", "age,age", "--rho", "1"}), HasSubstr("twice"));
  EXPECT_THAT(Complaint({"--marginals", "1", "--rho", "1", "--strategy", "best"}),
              HasSubstr("auto|direct|histogram|tree|residual|parity"));
}

TEST_F(WorkloadArguments, StrategiesAreAskedForByTheNamesThatAnswersShow) {
  for (const std::string name : {"auto", "direct", "histogram", "tree", "residual", "parity"}) {
    const v1::AnswerWorkloadRequest sent = Answering({"--prefixes", "age", "--strategy", name, "--rho", "1"});
    EXPECT_EQ(NameOf(sent.workload().query_sets(0).strategy()), name);
  }
}

TEST_F(WorkloadArguments, AReleaseIsSharedWithSomebody) {
  const auto share = command_line_.Sent<v1::ShareReleaseRequest>(std::string("release share r1 --with bob"));
  EXPECT_EQ(share.release_id(), "r1");
  EXPECT_EQ(share.principal(), "bob");
  EXPECT_EQ(command_line_.Run("release share r1"), ExitStatus::kUsage);
  EXPECT_THAT(command_line_.error(), HasSubstr("--with"));
}

// `workload answer c` with a price, and a destination.
class Destination : public WorkloadArguments {
 protected:
  ExitStatus Answer(const std::vector<std::string>& arguments) {
    std::vector<std::string> line = Line({"--marginals", "1", "--attributes", "sex", "--rho", "0.1"});
    line.insert(line.end(), arguments.begin(), arguments.end());
    return command_line_.Run(line);
  }
  size_t Charged() { return command_line_.server.Received<v1::AnswerWorkloadRequest>().size(); }
};

TEST_F(Destination, ThatCannotBeWrittenCostsNothing) {
  const std::string missing = command_line_.Path("none/x");
  EXPECT_NE(Answer({"--out", missing + ".csv"}), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), HasSubstr(missing));
  EXPECT_NE(Answer({"--plot", missing + ".svg"}), ExitStatus::kDone);
  EXPECT_NE(Answer({"--receipt", missing + ".jsonl"}), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), HasSubstr("--receipt"));
  EXPECT_NE(command_line_.Run({"charge", "reserve", "c", "--rho", "0.1", "--receipt", missing}),
            ExitStatus::kDone);
  EXPECT_NE(command_line_.Run({"synth", "run", "c", "--method", "m", "--rho", "0.1", "--out", missing}),
            ExitStatus::kDone);
  EXPECT_EQ(Charged(), 0U);
  EXPECT_TRUE(command_line_.server.Received<v1::ReserveBudgetRequest>().empty());
  EXPECT_TRUE(command_line_.server.Received<v1::CreateSynthesisRequest>().empty());
}

TEST_F(Destination, OfAnUnknownFormIsRefusedUnlessTheFormIsChosen) {
  const std::string path = command_line_.Path("x.parquet");
  EXPECT_NE(Answer({"--out", path}), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), HasSubstr(".csv or .json"));
  EXPECT_EQ(Charged(), 0U);
  EXPECT_EQ(Answer({"--out", path, "--output", "csv"}), ExitStatus::kDone);
}

TEST_F(Destination, ThatFillsUpAfterTheChargeNamesTheReleaseThatHoldsTheAnswer) {
  EXPECT_NE(Answer({"--out", "/dev/full"}), ExitStatus::kDone);
  EXPECT_EQ(Charged(), 1U);
  EXPECT_THAT(command_line_.error(), HasSubstr("curator release show "));
  const std::string request = command_line_.server.Received<v1::AnswerWorkloadRequest>().front().request_id();
  EXPECT_THAT(command_line_.error(), HasSubstr("The request was " + request));
  EXPECT_THAT(command_line_.error(), HasSubstr(". It is stored")) << "a line end would be printed as '?'";
}

TEST_F(Destination, ThatCannotBeMadeIsNamedWithItsOption) {
  const std::string path = command_line_.Path("none/x.csv");
  EXPECT_NE(Answer({"--out", path}), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), HasSubstr("--out " + path + ": "));
  EXPECT_EQ(Charged(), 0U);
}

TEST_F(Destination, OfOneFormHasItsExtension) {
  const std::string people = command_line_.File("people.csv", "sex\nf\n");
  const std::string path = command_line_.Path("x.xml");
  EXPECT_NE(command_line_.Run({"schema", "template", people, "--out", path}), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(),
              HasSubstr("--out " + path + ": schemas are written as .json, not as .xml"));
  EXPECT_NE(command_line_.Run({"ledger", "export", "c", "--out", path}), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(),
              HasSubstr("--out " + path + ": histories are written as .jsonl or .ndjson, not as .xml"));
  EXPECT_NE(command_line_.Run({"ledger", "repair", "propose", "c", "--reason", "lost", "--out", path}),
            ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(),
              HasSubstr("--out " + path + ": proposals are written as .json, not as .xml"));
  EXPECT_TRUE(command_line_.server.Received<v1::ProposeRepairRequest>().empty());
  EXPECT_NE(command_line_.Run({"man", "--out", people}), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), HasSubstr("--out " + people)) << "a folder is needed";
}

TEST_F(Destination, InCapitalsHasTheFormOfItsExtension) {
  EXPECT_EQ(Answer({"--out", command_line_.Path("x.JSON")}), ExitStatus::kDone) << command_line_.error();
  EXPECT_THAT(command_line_.Content("x.JSON"), StartsWith("{"));
}

TEST_F(Destination, OfSyntheticRecordsIsCsv) {
  const std::string path = command_line_.Path("x.parquet");
  EXPECT_NE(command_line_.Run({"synth", "run", "c", "--method", "m", "--rho", "0.1", "--out", path}),
            ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), HasSubstr("written as .csv, not as .parquet"));
  EXPECT_TRUE(command_line_.server.Received<v1::CreateSynthesisRequest>().empty());
  EXPECT_NE(command_line_.Run({"release", "sample", "r1", "--out", path}), ExitStatus::kDone);
  EXPECT_TRUE(command_line_.server.Received<v1::SampleModelRequest>().empty());
}

TEST_F(Destination, OfSyntheticRecordsThatFillsUpNamesTheReleaseThatHoldsTheModel) {
  v1::SampleModelChunk chunk;
  chunk.set_csv("sex\nf\n");
  command_line_.server.Answer<v1::SampleModelRequest>(chunk);
  EXPECT_NE(command_line_.Run({"synth", "run", "c", "--method", "m", "--rho", "0.1", "--out", "/dev/full"}),
            ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), HasSubstr("curator release sample "));
}

TEST_F(Destination, ThatFillsUpWithTheAnswerOfAModelNamesNoStoredAnswer) {
  EXPECT_NE(command_line_.Run({"release", "query", "r1", "--marginals", "1", "--out", "/dev/full"}),
            ExitStatus::kDone);
  EXPECT_EQ(command_line_.server.Received<v1::QueryModelRequest>().size(), 1U);
  EXPECT_EQ(command_line_.error().find("release show"), std::string::npos) << command_line_.error();
}

}  // namespace
}  // namespace curator::cli
