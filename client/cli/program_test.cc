#include "client/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/testing/fake_server.h"
#include "google/rpc/error_details.pb.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using client::testing::DetailedError;
using client::testing::FakeServer;
using client::testing::Log;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kId[] = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b";

class Program : public ::testing::Test {
 protected:
  Program() {
    server_.services.on_get_dataset = [](auto&, const v1::GetDatasetRequest& request, v1::Dataset& dataset) {
      dataset.set_name(request.dataset());
      dataset.set_state(v1::DATASET_STATE_SEALED);
      v1::Attribute& attribute = *dataset.mutable_schema()->add_attributes();
      attribute.set_name("sex");
      attribute.mutable_categorical()->add_values("f");
      attribute.mutable_categorical()->add_values("m");
      return grpc::Status::OK;
    };
  }

  // Runs a line whose words are separated by single blanks, with --server added.
  ExitStatus Run(const std::string& line, const std::string& typed = "") {
    std::vector<std::string> arguments;
    std::istringstream words(line);
    for (std::string word; words >> word;) arguments.push_back(word);
    return RunWords(std::move(arguments), typed);
  }
  ExitStatus RunWords(std::vector<std::string> arguments, const std::string& typed = "") {
    arguments.insert(arguments.begin(), {"--server", server_.address(), "--as", "ana"});
    out_.str("");
    error_.str("");
    std::istringstream in(typed);
    return RunProgram(arguments, terminal_, {in, out_, error_});
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Read(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
  }

  FakeServer server_;
  Terminal terminal_;
  const curator::testing::ScratchFolder folder_;
  std::ostringstream out_;
  std::ostringstream error_;
};

google::rpc::QuotaFailure FullBudget() {
  google::rpc::QuotaFailure quota;
  auto* violation = quota.add_violations();
  violation->set_subject("dataset/census");
  violation->set_quota_metric("rho");
  (*violation->mutable_quota_dimensions())["asked"] = "0.1";
  (*violation->mutable_quota_dimensions())["remaining"] = "0.05";
  return quota;
}

TEST_F(Program, AFullBudgetEndsWith3AndNamesTheAccount) {
  const google::rpc::QuotaFailure quota = FullBudget();
  server_.services.on_answer = [&](auto&, auto&, auto&) {
    return DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED, "the budget is full", {&quota});
  };
  EXPECT_EQ(Run("workload answer census --marginals 1 --rho 0.1"), ExitStatus::kBudgetFull);
  EXPECT_EQ(error_.str(),
            "curator: RESOURCE_EXHAUSTED: the budget is full\n"
            "  account dataset/census: asked 0.1 of rho, left 0.05\n");
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(Program, AFieldIsNamedByTheFlagThatAskedForIt) {
  google::rpc::BadRequest bad;
  bad.add_field_violations()->set_description("\"X\" is no value of sex; there are: F, M");
  std::string field;
  server_.services.on_estimate_workload = [&](auto&, auto&, auto&) {
    bad.mutable_field_violations(0)->set_field(field);
    return DetailedError(grpc::StatusCode::INVALID_ARGUMENT, field + ": wrong", {&bad});
  };
  const auto said = [&](const std::string& invalid) {
    field = invalid;
    EXPECT_EQ(RunWords({"workload", "estimate", "census", "--where", "sex = F", "--where", "sex = X", "--rho",
                        "0.1"}),
              ExitStatus::kRefused);
    return error_.str();
  };
  EXPECT_EQ(said("workload.query_sets[0].predicates.predicates[1].all_of[0].in[0]"),
            "curator: INVALID_ARGUMENT: --where 'sex = X': wrong\n");
  EXPECT_EQ(said("spend.rho"), "curator: INVALID_ARGUMENT: --rho: wrong\n");
  EXPECT_EQ(said("dataset"), "curator: INVALID_ARGUMENT: dataset: wrong\n");
}

TEST_F(Program, AHistoryThatCannotBeReadIsNoEmptyTable) {
  server_.services.on_list_entries = [](auto&, auto&, auto&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "there is no such dataset");
  };
  EXPECT_EQ(Run("ledger show census"), ExitStatus::kRefused);
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_EQ(error_.str(), "curator: NOT_FOUND: there is no such dataset\n");
}

TEST_F(Program, AWrongCommandLineIsAnsweredByWhatThereIs) {
  const auto said = [this](const std::string& line) {
    EXPECT_EQ(Run(line), ExitStatus::kUsage) << line;
    return error_.str();
  };
  EXPECT_THAT(said("schem check x"),
              AllOf(HasSubstr("'schem' is no command of curator; there are: dataset, "),
                    HasSubstr("; did you mean schema?\nHelp: curator --help\n")));
  EXPECT_THAT(said("synth infer x"), HasSubstr("'infer' is no command of curator synth; there are: list, "));
  EXPECT_THAT(said("synth"), HasSubstr("curator synth is followed by one of its commands: list, "));
  EXPECT_THAT(said("workload estimate d --average age --rho 1"),
              HasSubstr("'--average' is no option of curator workload estimate"));
  EXPECT_THAT(said("workload estimate d --marginal 1 --rho 1"), HasSubstr("; did you mean --marginals?"));
  EXPECT_THAT(said("workload estimate d --rho 1"),
              AllOf(HasSubstr("at least one of these is needed: --file, --marginals, --ranges"),
                    HasSubstr("Help: curator workload estimate --help\n")));
  EXPECT_THAT(said("workload estimate d --marginals 1 --rho 1 --epsilon 1"),
              HasSubstr("only one of these may be given: --epsilon, --rho, --max-error"));
  EXPECT_THAT(said("workload estimate d --marginals two --rho 1"), HasSubstr("--marginals"));
  EXPECT_THAT(said("charge extend c1 --lifetime 5 6"), HasSubstr("'6' is one argument too many"));
  EXPECT_THAT(said("release sample r1 --rows 1e99 --out f"), HasSubstr("--rows"));
}

TEST_F(Program, AQuotaEndsWith5AndSaysWhenItEnds) {
  google::rpc::ErrorInfo info;
  info.set_reason("QUOTA");
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(7 * 3600);
  server_.services.on_answer = [&](auto&, auto&, auto&) {
    return DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED, "you have 5 syntheses waiting",
                         {&info, &retry});
  };
  EXPECT_EQ(Run("workload answer census --marginals 1 --rho 0.1"), ExitStatus::kOverQuota);
  EXPECT_EQ(error_.str(),
            "curator: RESOURCE_EXHAUSTED: you have 5 syntheses waiting\n"
            "  ask again in 7h; nothing was charged\n");
}

TEST_F(Program, AnAccountThatTheMessageNamesIsNotNamedTwice) {
  const google::rpc::QuotaFailure quota = FullBudget();
  server_.services.on_answer = [&](auto&, auto&, auto&) {
    return DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED,
                         "dataset/census was asked for 0.1 and has 0.05 left", {&quota});
  };
  EXPECT_EQ(Run("workload answer census --marginals 1 --rho 0.1"), ExitStatus::kBudgetFull);
  EXPECT_EQ(error_.str(),
            "curator: RESOURCE_EXHAUSTED: dataset/census was asked for 0.1 and has 0.05 left\n");
}

TEST_F(Program, ErrorsAreJsonWhereTheOutputIs) {
  const google::rpc::QuotaFailure quota = FullBudget();
  server_.services.on_answer = [&](auto&, auto&, auto&) {
    return DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED, "the budget is full", {&quota});
  };
  Run(std::string("workload answer census --marginals 1 --rho 0.1 --output json --request-id ") + kId);
  const auto error = nlohmann::json::parse(error_.str())["error"];
  EXPECT_EQ(error["code"], "RESOURCE_EXHAUSTED");
  EXPECT_EQ(error["request_id"], kId);
  EXPECT_EQ(error["full_accounts"][0]["account"], "dataset/census");
  EXPECT_EQ(error["full_accounts"][0]["asked"], "0.1");
  EXPECT_EQ(error["full_accounts"][0]["remaining"], "0.05");
}

TEST_F(Program, AMessageThatIsTooLargeIsNoFullBudget) {
  server_.services.on_get_version = [](auto&, auto&, auto&) {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "Received message larger than max");
  };
  EXPECT_EQ(Run("version"), ExitStatus::kRefused);
}

TEST_F(Program, ARefusalEndsWith1AndSaysItsName) {
  server_.services.on_estimate_workload = [](auto&, auto&, auto&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "spend.rho: must be positive");
  };
  EXPECT_EQ(Run("workload estimate census --marginals 1 --rho 0"), ExitStatus::kRefused);
  EXPECT_EQ(error_.str(), "curator: INVALID_ARGUMENT: spend.rho: must be positive\n");
}

TEST_F(Program, AMistakeInAStatementIsMarkedInItsLine) {
  EXPECT_EQ(RunWords({"sql", "SELECT COUNT(*)\nFROM census\n\tWHERE sxe = 'f'", "--rho", "0.1"}),
            ExitStatus::kRefused);
  EXPECT_THAT(error_.str(), HasSubstr("did you mean sex?\n"
                                      "  LINE 3:  WHERE sxe = 'f'\n"
                                      "                 ^\n"));
}

TEST_F(Program, WhatTheServerRefusesOfAStatementIsMarkedInItsLine) {
  const auto refuse = [this](const std::string& field) {
    server_.services.on_answer = [field](auto&, auto&, auto&) {
      google::rpc::BadRequest detail;
      detail.add_field_violations()->set_field(field);
      detail.mutable_field_violations(0)->set_description("is none of its values");
      return DetailedError(grpc::StatusCode::INVALID_ARGUMENT, field + ": is none of its values", {&detail});
    };
    RunWords({"sql", "SELECT COUNT(*) FROM census\nWHERE sex = 'f' OR sex IN ('m', 'x')", "--rho", "0.1"});
    return error_.str();
  };
  const std::string where = "workload.query_sets[0].statistics.where.expression";
  EXPECT_EQ(refuse(where + ".any_of.expressions[1].condition.in[1]"),
            "curator: INVALID_ARGUMENT: WHERE sex: is none of its values\n"
            "  LINE 2: WHERE sex = 'f' OR sex IN ('m', 'x')\n"
            "                                          ^\n");
  EXPECT_EQ(refuse(where + ".any_of.expressions[0].condition.compare.value"),
            "curator: INVALID_ARGUMENT: WHERE sex: is none of its values\n"
            "  LINE 2: WHERE sex = 'f' OR sex IN ('m', 'x')\n"
            "                      ^\n");
  EXPECT_EQ(refuse("workload.query_sets[0].statistics.by"),
            "curator: INVALID_ARGUMENT: GROUP BY: is none of its values\n");
}

TEST_F(Program, AStatementHasNoErrorToReach) {
  EXPECT_EQ(RunWords({"sql", "SELECT COUNT(*) FROM census", "--max-error", "5"}), ExitStatus::kUsage);
  EXPECT_THAT(error_.str(), HasSubstr("'--max-error' is no option of curator sql"));
}

TEST_F(Program, LinesOfAMessageCannotLookLikeThoseOfTheCommandLine) {
  server_.services.on_answer = [](auto&, auto&, auto&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "named a\ncurator: done\033[31m");
  };
  EXPECT_EQ(Run("workload answer census --marginals 1 --rho 0.1"), ExitStatus::kRefused);
  EXPECT_THAT(error_.str(), HasSubstr("named a\n  curator: done?[31m\n"));
}

TEST_F(Program, AnAnswerIsWrittenToAFileAndSummedUp) {
  server_.services.on_answer = [](auto&, const v1::AnswerWorkloadRequest& request, auto& writer) {
    v1::AnswerChunk chunk;
    chunk.mutable_header()->set_marginal_count(1);
    chunk.mutable_header()->set_request_id(request.request_id());
    writer.Write(chunk);
    chunk.mutable_marginal()->add_attributes("sex");
    chunk.mutable_marginal()->add_sizes(2);
    writer.Write(chunk);
    chunk.mutable_cells()->add_counts(5);
    chunk.mutable_cells()->add_counts(-1);
    writer.Write(chunk);
    return grpc::Status::OK;
  };
  ASSERT_EQ(
      Run("workload answer census --marginals 1 --rho 0.1 --out " + Path("a.csv") + " --request-id " + kId),
      ExitStatus::kDone)
      << error_.str();
  EXPECT_EQ(Read(Path("a.csv")),
            "query_set,query_class,query,estimate,standard_deviation,low,high,confidence_level,method,noise,"
            "post_processing,sex\n"
            "0,marginals,sex,5,,,,,model,,,f\n0,marginals,sex,-1,,,,,model,,,m\n");
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(kId), HasSubstr(Path("a.csv"))));

  ASSERT_EQ(Run("workload answer census --marginals 1 --rho 0.1 --output csv"), ExitStatus::kDone);
  EXPECT_EQ(out_.str(),
            "query_set,query_class,query,estimate,standard_deviation,low,high,confidence_level,method,noise,"
            "post_processing,sex\n"
            "0,marginals,sex,5,,,,,model,,,f\n0,marginals,sex,-1,,,,,model,,,m\n");
  EXPECT_THAT(error_.str(), HasSubstr("request id "));

  ASSERT_EQ(Run("workload answer census --marginals 1 --rho 0.1 --output json"), ExitStatus::kDone);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["marginals"][0]["cells"][1]["count"], -1);
}

TEST_F(Program, ValuesThatWereClippedAreNamedInEveryForm) {
  server_.services.on_get_dataset = [](auto&, const v1::GetDatasetRequest& request, v1::Dataset& dataset) {
    dataset.set_name(request.dataset());
    v1::Measure& income = *dataset.mutable_schema()->add_measures();
    income.set_name("income");
    income.set_high(100);
    income.set_resolution(1);
    return grpc::Status::OK;
  };
  server_.services.on_answer = [](auto&, const v1::AnswerWorkloadRequest& request, auto& writer) {
    v1::AnswerChunk chunk;
    chunk.mutable_header()->set_query_set_count(1);
    writer.Write(chunk);
    chunk.mutable_query_set()->set_query_class("statistics");
    chunk.mutable_query_set()->add_columns("statistic");
    chunk.mutable_query_set()->set_answer_count(1);
    writer.Write(chunk);
    const bool is_renamed = request.has_selection();
    chunk.mutable_answers()->add_estimates(50);
    chunk.mutable_answers()->add_labels(is_renamed ? request.selection().columns(0).name() : "mean(income)");
    writer.Write(chunk);
    return grpc::Status::OK;
  };
  const std::string clipped = "these are the statistics of income clipped to 0..100\n";
  const std::vector<std::string> ask = {"sql", "SELECT AVG(income) AS a FROM census", "--rho", "0.1"};
  for (const std::vector<std::string>& line :
       {ask, std::vector<std::string>{"workload", "answer", "census", "--mean", "income", "--rho", "0.1"}}) {
    const auto with = [&line](const std::vector<std::string>& more) {
      std::vector<std::string> all = line;
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    ASSERT_EQ(RunWords(line), ExitStatus::kDone) << error_.str();
    EXPECT_THAT(out_.str(), HasSubstr(clipped));
    ASSERT_EQ(RunWords(with({"--output", "csv"})), ExitStatus::kDone) << error_.str();
    EXPECT_THAT(error_.str(), HasSubstr(clipped));
    EXPECT_THAT(out_.str(), Not(HasSubstr("clipped")));
    ASSERT_EQ(RunWords(with({"--out", Path("a.csv")})), ExitStatus::kDone) << error_.str();
    EXPECT_THAT(out_.str(), HasSubstr(clipped));
    ASSERT_EQ(RunWords(with({"--output", "json"})), ExitStatus::kDone) << error_.str();
    EXPECT_THAT(out_.str(),
                HasSubstr(R"("clipped":[{"measure":"income","low":0,"high":100,"resolution":1}])"));
  }
}

TEST_F(Program, AnswersThatCannotBePlottedAreShownAsATable) {
  server_.services.on_answer = [](auto&, const v1::AnswerWorkloadRequest&, auto& writer) {
    v1::AnswerChunk chunk;
    chunk.mutable_header()->set_query_set_count(1);
    writer.Write(chunk);
    chunk.mutable_query_set()->set_query_class("predicates");
    chunk.mutable_query_set()->add_columns("where");
    chunk.mutable_query_set()->add_columns("sex");
    chunk.mutable_query_set()->set_answer_count(1);
    writer.Write(chunk);
    chunk.mutable_answers()->add_counts(4711);
    chunk.mutable_answers()->add_labels("sex in {f}");
    chunk.mutable_answers()->add_labels("f");
    writer.Write(chunk);
    return grpc::Status::OK;
  };
  const std::vector<std::string> line = {"workload", "answer", "census",    "--where", "sex in {f}",
                                         "--by",     "sex",    "--epsilon", "1",       "--plot"};
  ASSERT_EQ(RunWords(line), ExitStatus::kDone) << error_.str();
  EXPECT_THAT(error_.str(), HasSubstr("nothing to plot"));
  EXPECT_THAT(out_.str(), HasSubstr("4711"));
}

TEST_F(Program, APlotOnTheTerminalStandsInThePlaceOfTables) {
  server_.services.on_answer = [](auto&, const v1::AnswerWorkloadRequest&, auto& writer) {
    v1::AnswerChunk chunk;
    chunk.mutable_header()->set_marginal_count(1);
    writer.Write(chunk);
    chunk.mutable_marginal()->add_attributes("sex");
    chunk.mutable_marginal()->add_sizes(2);
    writer.Write(chunk);
    chunk.mutable_cells()->add_counts(5);
    chunk.mutable_cells()->add_counts(10);
    writer.Write(chunk);
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("workload answer census --marginals 1 --rho 0.1 --plot"), ExitStatus::kDone) << error_.str();
  EXPECT_THAT(out_.str(), HasSubstr("\nf   5  ####"));
  ASSERT_EQ(Run("workload answer census --marginals 1 --rho 0.1 --plot " + Path("a.svg")), ExitStatus::kDone);
  EXPECT_THAT(Read(Path("a.svg")), HasSubstr("<svg "));
  bool asked = false;
  server_.services.on_answer = [&](auto&, auto&, auto&) {
    asked = true;
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("workload answer census --marginals 1 --rho 0.1 --plot --output json"), ExitStatus::kRefused);
  EXPECT_THAT(error_.str(), HasSubstr("--plot FILE.svg"));
  EXPECT_FALSE(asked) << "nothing is paid for what cannot be delivered";
}

TEST_F(Program, EveryOptionReachesTheServer) {
  v1::AnswerWorkloadRequest seen;
  server_.services.on_answer = [&](auto&, const v1::AnswerWorkloadRequest& request, auto& writer) {
    seen = request;
    v1::AnswerChunk chunk;
    chunk.mutable_header()->add_free_from("r7");
    writer.Write(chunk);
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("workload answer census --prefixes sex --strategy tree --max-error 5 --confidence 0.9 "
                "--prefer-free "
                "--postprocess integer --receipt " +
                Path("receipts")),
            ExitStatus::kDone)
      << error_.str();
  EXPECT_EQ(seen.workload().query_sets(0).prefixes().attribute(), "sex");
  EXPECT_EQ(seen.workload().query_sets(0).strategy(), v1::STRATEGY_TREE);
  EXPECT_EQ(seen.target().max_error(), 5);
  EXPECT_EQ(seen.target().confidence(), 0.9);
  EXPECT_TRUE(seen.prefer_free());
  EXPECT_TRUE(seen.post_processing().integer());
  EXPECT_EQ(Read(Path("receipts")), "") << "what was not charged has no receipt";
}

TEST_F(Program, SynthesisIsFollowedAndSampled) {
  server_.services.on_create_synthesis = [](auto&, const v1::CreateSynthesisRequest& request,
                                            v1::Operation& operation) {
    operation.set_id("o1");
    operation.set_request_id(request.request_id());
    const auto& settings = request.spec().settings();
    return settings.at("rounds") == "10" ? grpc::Status::OK : grpc::Status::CANCELLED;
  };
  server_.services.on_watch = [](auto&, auto&, auto& writer) {
    v1::Operation operation;
    operation.set_id("o1");
    operation.set_state(v1::Operation::DONE);
    operation.set_release_id("r1");
    writer.Write(operation);
    return grpc::Status::OK;
  };
  server_.services.on_sample = [](auto&, const v1::SampleModelRequest& request, auto& writer) {
    v1::SampleModelChunk chunk;
    chunk.set_csv("sex\n" + request.release_id() + " " + std::to_string(request.rows()) + "\n");
    writer.Write(chunk);
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("synth run census --method mwem --epsilon 1 --set rounds=10 --rows 7 --out " + Path("s.csv")),
            ExitStatus::kDone)
      << error_.str();
  EXPECT_EQ(Read(Path("s.csv")), "sex\nr1 7\n");
  EXPECT_THAT(error_.str(), AllOf(HasSubstr("operation o1, request id "), Not(HasSubstr("\r"))));
  EXPECT_THAT(out_.str(), HasSubstr("r1"));
}

TEST_F(Program, ASynthesisThatFailedEndsWith1AndItsChargeStands) {
  server_.services.on_create_synthesis = [](auto&, auto&, v1::Operation& operation) {
    operation.set_id("o1");
    return grpc::Status::OK;
  };
  server_.services.on_watch = [](auto&, auto&, auto& writer) {
    v1::Operation operation;
    operation.set_id("o1");
    operation.set_state(v1::Operation::FAILED);
    operation.set_error("the work failed; the charge stands");
    writer.Write(operation);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("synth run census --method mwem --epsilon 1 --out " + Path("s.csv")), ExitStatus::kRefused);
  EXPECT_THAT(error_.str(),
              AllOf(HasSubstr("INTERNAL"), HasSubstr("the work failed"), HasSubstr("charge stands")));
  EXPECT_FALSE(std::filesystem::exists(Path("s.csv")));
}

TEST_F(Program, TheBudgetIsShownExactlyAndWithABarOnATerminal) {
  server_.services.on_get_budget = [](auto&, auto&, v1::GetBudgetResponse& budget) {
    v1::Account& account = *budget.add_accounts();
    account.set_name("dataset/census");
    account.mutable_promise()->set_rule(v1::RULE_ZCDP);
    account.mutable_promise()->set_epsilon("3");
    account.mutable_promise()->set_delta("1e-9");
    v1::Counter& counter = *account.add_counters();
    counter.set_name("rho");
    counter.set_limit("0.100000000000000000001");
    counter.set_spent("0.05");
    counter.set_held("0");
    counter.set_remaining("0.050000000000000000001");
    account.set_share_spent(0.4961);
    account.set_epsilon_used("1.9876543210987");
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("budget show census"), ExitStatus::kDone);
  EXPECT_EQ(out_.str(),
            "account         rule  promise                counter                    limit  spent  held      "
            "               left  used  epsilon used\n"
            "dataset/census  zcdp  epsilon 3, delta 1e-9  rho      0.100000000000000000001   0.05     0  "
            "0.050000000000000000001   50%       1.98766\n");
  ASSERT_EQ(Run("budget show census --output csv"), ExitStatus::kDone);
  EXPECT_EQ(out_.str(),
            "account,rule,epsilon,delta,counter,limit,spent,held,remaining,share_spent,epsilon_used\n"
            "dataset/census,zcdp,3,1e-9,rho,0.100000000000000000001,0.05,0,0.050000000000000000001,0.4961,"
            "1.9876543210987\n");
  terminal_.out_is_terminal = terminal_.utf8 = true;
  ASSERT_EQ(Run("budget show census"), ExitStatus::kDone);
  EXPECT_THAT(out_.str(), HasSubstr("██████████░░░░░░░░░░"));
}

TEST_F(Program, ABudgetSaysWhatTheGuaranteeDoesNotCover) {
  server_.services.on_get_budget = [](auto&, const auto&, v1::GetBudgetResponse& budget) {
    budget.set_protects("one record");
    budget.set_rows_from_query(true);
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("budget show census"), ExitStatus::kDone);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("rows from a query"), Not(HasSubstr("domain from records"))));
  EXPECT_THAT(out_.str(), HasSubstr("the guarantee is about the rows that were imported"));
}

void AnswerWithTwoAccounts(v1::GetBudgetResponse& budget) {
  for (const auto& [name, left] :
       std::map<std::string, int64_t>{{"dataset/c", 14}, {"dataset/c/analyst/ana", 3}}) {
    v1::Account& account = *budget.add_accounts();
    account.set_name(name);
    account.mutable_promise()->set_rule(v1::RULE_ZCDP);
    account.add_counters()->set_name("rho");
    account.set_requests_left_like_last(left);
  }
  budget.mutable_last_request()->set_summary("one count: rho 0.1");
}

TEST_F(Program, WhatIsLeftIsSaidInRequestsLikeTheLast) {
  server_.services.on_get_budget = [](auto&, auto&, v1::GetBudgetResponse& budget) {
    AnswerWithTwoAccounts(budget);
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("budget show c"), ExitStatus::kDone);
  EXPECT_THAT(out_.str(), HasSubstr("about 3 more requests like your last one (one count: rho 0.1); "
                                    "dataset/c/analyst/ana is full first"));
  ASSERT_EQ(Run("budget show c --output json"), ExitStatus::kDone);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["last_request"], "one count: rho 0.1");
  EXPECT_EQ(json["accounts"][0]["requests_left_like_last"], 14);
}

TEST_F(Program, ChargesUnderOtherRulesAreLabelledAsInformation) {
  server_.services.on_get_budget = [](auto&, const v1::GetBudgetRequest& request,
                                      v1::GetBudgetResponse& budget) {
    if (!request.with_comparison()) return grpc::Status::CANCELLED;
    v1::HistoryComparison& comparison = *budget.mutable_comparison();
    comparison.set_delta("1e-9");
    comparison.set_charges(5);
    v1::CalculatedEpsilon& one = *comparison.add_calculated();
    one.set_calculator("numerical");
    one.set_epsilon("0.030000000000000002");
    v1::CalculatedEpsilon& none = *comparison.add_calculated();
    none.set_calculator("basic");
    none.set_adaptive(true);
    none.set_remark("basic composition cannot count it");
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("budget show c"), ExitStatus::kDone);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("for information only: the 5 charges so far at delta 1e-9"),
                                HasSubstr(" 0.03 "), HasSubstr("cannot count these charges: basic ("),
                                Not(HasSubstr("basic composition"))));
  ASSERT_EQ(Run("budget show c --output json"), ExitStatus::kDone);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["comparison"][0]["epsilon"], "0.030000000000000002") << "text, as all amounts are";
  EXPECT_EQ(json["comparison"][0]["valid"], "fixed schedule");
  EXPECT_TRUE(json["comparison"][1]["epsilon"].is_null());
  EXPECT_EQ(json["comparison"][1]["remark"], "basic composition cannot count it");
}

TEST_F(Program, AnAccountIsOpenedForAGroupWithItsMembers) {
  server_.services.on_create_account = [](auto&, const v1::CreateAccountRequest& request,
                                          v1::Account& account) {
    account.set_name("dataset/" + request.dataset() + "/group/" + request.group().name());
    *account.mutable_promise() = request.limit();
    *account.mutable_group() = request.group();
    v1::Counter& counter = *account.add_counters();
    counter.set_name("epsilon");
    counter.set_limit(request.limit().epsilon());
    counter.set_spent("0");
    counter.set_held("0");
    counter.set_remaining(request.limit().epsilon());
    account.set_epsilon_used("0");
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("account create census --group interns --members bob,carl --rule pure --epsilon 0.5 "
                "--output csv"),
            ExitStatus::kDone)
      << error_.str();
  EXPECT_EQ(out_.str(),
            "account,rule,epsilon,delta,counter,limit,spent,held,remaining,share_spent,epsilon_used,members\n"
            "dataset/census/group/interns,pure,0.5,0,epsilon,0.5,0,0,0.5,0,0,\"bob,carl\"\n");
}

TEST_F(Program, AProposedLimitNamesItsAccountAndWhoCanApproveIt) {
  server_.services.on_propose_limit = [](auto&, const v1::ProposeLimitChangeRequest& request,
                                         v1::LimitProposal& proposal) {
    proposal.set_id("1b4e");
    proposal.set_state(v1::LimitProposal::PENDING);
    proposal.set_account(request.account());
    proposal.mutable_old_promise()->set_epsilon("0.5");
    proposal.mutable_new_promise()->set_epsilon(request.epsilon());
    proposal.set_reason(request.reason());
    return grpc::Status::OK;
  };
  const std::string line = "account limit propose census --analyst ana --epsilon 0.7 --reason more";
  ASSERT_EQ(Run(line), ExitStatus::kDone) << error_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("dataset/census/analyst/ana"), HasSubstr("epsilon 0.7"),
                                HasSubstr("curator account limit approve census 1b4e")));
  ASSERT_EQ(Run(line + " --output json"), ExitStatus::kDone);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["new_epsilon"], "0.7");
  EXPECT_TRUE(json["approved_by"].is_null());
}

TEST_F(Program, LookingAtAProposalDoesNotApproveIt) {
  Log seen;
  server_.services.on_approve_limit = [&](auto&, const v1::ApproveLimitChangeRequest& request, auto&) {
    seen.Add(request.proposal_id() + (request.validate_only() ? " looked at" : " approved"));
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("account limit show census 1b4e"), ExitStatus::kDone);
  ASSERT_EQ(Run("account limit approve census 1b4e"), ExitStatus::kDone);
  EXPECT_THAT(seen.entries(), ::testing::ElementsAre("1b4e looked at", "1b4e approved"));
}

TEST_F(Program, TheLedgerIsStreamedInEveryForm) {
  server_.services.on_list_entries = [](auto&, const v1::ListLedgerEntriesRequest& request, auto& writer) {
    for (int64_t sequence = request.after_sequence() + 1; sequence <= 5; ++sequence) {
      v1::LedgerEntry entry;
      entry.set_sequence(sequence);
      entry.set_kind("CHARGE");
      entry.set_hash("\x01\xab");
      entry.mutable_time()->set_seconds(1793696400);
      writer.Write(entry);
    }
    return grpc::Status::OK;
  };
  ASSERT_EQ(Run("ledger show census --after 2 --limit 2 --output json"), ExitStatus::kDone);
  const auto entries = nlohmann::json::parse(out_.str())["entries"];
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0]["sequence"], 3);
  EXPECT_EQ(entries[0]["hash"], "01ab");
  ASSERT_EQ(Run("ledger show census"), ExitStatus::kDone);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("2026-11-03T09:00:00Z"), HasSubstr("CHARGE")));
}

TEST_F(Program, ALedgerThatContradictsItselfEndsWith1) {
  server_.services.on_verify = [](auto&, auto&, v1::VerifyLedgerResponse& response) {
    response.set_ok(false);
    response.add_findings("entry 3: the hash is not that of its payload");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("ledger verify census"), ExitStatus::kRefused);
  EXPECT_THAT(out_.str(), HasSubstr("entry 3"));
  EXPECT_THAT(error_.str(), HasSubstr("DATA_LOSS"));
}

TEST_F(Program, ABudgetThatIsReadOnlyIsShownWithAWarningAndEndsWith1) {
  server_.services.on_get_budget = [](auto&, auto&, v1::GetBudgetResponse& budget) {
    budget.set_read_only("dataset \"census\" is read-only: its tables contradict its history");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("budget show census"), ExitStatus::kRefused);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("READ-ONLY"), HasSubstr("the amounts above may be wrong")));
  EXPECT_THAT(error_.str(), HasSubstr("contradict its history"));
}

TEST_F(Program, APublicDatasetIsConfirmedByItsName) {
  Log created;
  server_.services.on_create_dataset = [&](auto&, const v1::CreateDatasetRequest& request, v1::Dataset&) {
    created.Add(request.name());
    return request.has_limit() ? grpc::Status::CANCELLED : grpc::Status::OK;
  };
  std::ofstream(Path("s.json")) << R"({"attributes":[{"name":"zone","coded":{"size":7}}]})";
  const std::string line = "dataset create open --public --schema " + Path("s.json");
  EXPECT_EQ(Run(line, "open\n"), ExitStatus::kRefused);  // no terminal: typing does not count
  EXPECT_THAT(error_.str(), HasSubstr("--yes"));
  terminal_.in_is_terminal = terminal_.error_is_terminal = true;
  EXPECT_EQ(Run(line, "yes\n"), ExitStatus::kRefused);
  EXPECT_THAT(created.entries(), IsEmpty());
  EXPECT_EQ(Run(line, "open\n"), ExitStatus::kDone) << error_.str();
  EXPECT_EQ(Run(line + " --yes"), ExitStatus::kDone) << error_.str();
  EXPECT_EQ(created.entries().size(), 2u);
}

TEST_F(Program, AnUnknownOutcomeSaysHowToAskAgain) {
  server_.services.on_answer = [](auto&, auto&, auto&) {
    return grpc::Status(grpc::StatusCode::UNKNOWN, "lost");
  };
  EXPECT_EQ(Run(std::string("workload answer census --marginals 1 --rho 0.1 --request-id ") + kId),
            ExitStatus::kRefused);
  EXPECT_THAT(error_.str(), HasSubstr(std::string("--request-id ") + kId));
}

// What a shell sees.
int StatusOfShell(const std::string& arguments) {
  const std::string line = std::string(CURATOR_PROGRAM) + " " + arguments + " >/dev/null 2>&1";
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST(ProgramInAShell, EndsWithTheStatusThatTheManualPromises) {
  std::string gone;
  {
    FakeServer server;
    gone = server.address();
  }
  EXPECT_EQ(StatusOfShell("--help"), 0);
  EXPECT_EQ(StatusOfShell("schema check /nonexistent.json"), 1);
  EXPECT_EQ(StatusOfShell("workload answer census"), 2);
  EXPECT_EQ(StatusOfShell("version --server " + gone), 4);
}

}  // namespace
}  // namespace curator::cli
