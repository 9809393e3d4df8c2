// Every class of questions through the real command line, against a real server. The budgets are so large
// that the noise is 0 for all practical purposes (scales below 1/100): answers must be the true counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/scratch_folder.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// A shell command's exit status and what it printed.
std::pair<int, std::string> Shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), size);
  return {WEXITSTATUS(pclose(pipe)), output};
}

// 80 records, one in each cell of sex x age x region.
class Answers : public ::testing::TestWithParam<Backend> {
 protected:
  Answers() : server_(GetParam()) {
    MakeSealed(server_.ClientFor("owner"), NewDataset("census", v1::RULE_PURE, "9000000"), SmallCsv(80));
    MakeSealed(server_.ClientFor("owner"), NewDataset("noisy", v1::RULE_ZCDP, "10", "1e-9"), SmallCsv(80));
    for (const char* dataset : {"census", "noisy"})
      for (const char* analyst : {"ana", "bob"})
        Run("owner", std::string("dataset grant ") + dataset + " " + analyst);
  }

  // Exit status and both outputs of `curator`.
  std::pair<int, std::string> Run(const std::string& principal, const std::string& line) const {
    return Shell(CURATOR_PATH " --server " + server_.address() + " --as " + principal + " " + line + " 2>&1");
  }

  Json RunJson(const std::string& principal, const std::string& line) const {
    const auto [status, output] = Shell(CURATOR_PATH " --server " + server_.address() + " --as " + principal +
                                        " --output json " + line + " 2>" + folder_.path() + "/errors");
    EXPECT_EQ(status, 0) << line << "\n" << std::ifstream(folder_.path() + "/errors").rdbuf();
    return Json::parse(output, nullptr, /*allow_exceptions=*/false);
  }

  double Spent(const std::string& dataset) const {
    const auto budget = server_.ClientFor("owner").GetBudget(dataset);
    EXPECT_TRUE(budget.ok()) << budget.status();
    return std::stod(budget->accounts(0).counters(0).spent());
  }

  const ScratchFolder folder_;
  TestServer server_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Answers, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

// The answers of a query set, rounded: the noise is far below 1/2.
std::vector<int64_t> CountsOf(const Json& set) {
  std::vector<int64_t> counts;
  for (const Json& answer : set["answers"]) counts.push_back(std::llround(answer["count"].get<double>()));
  return counts;
}

constexpr char kCsvColumns[] =
    "query_set,query_class,query,estimate,standard_deviation,low,high,confidence_level,method,noise,"
    "post_processing";

std::string ReadFile(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

constexpr char kAmple[] = " --epsilon 100000";

TEST_P(Answers, RangesArePrefixesAndWhatLiesBetween) {
  const Json answer =
      RunJson("ana", std::string("workload answer census --ranges age --prefixes age") + kAmple);
  const Json& ranges = answer["query_sets"][0];
  EXPECT_EQ(ranges["class"], "ranges");
  ASSERT_EQ(ranges["answers"].size(), 55u);
  std::map<std::string, int64_t> by_label;
  for (const Json& one : ranges["answers"])
    by_label[one["values"][0]] = std::llround(one["count"].get<double>());
  EXPECT_EQ(by_label["[0, 10)"], 8);
  EXPECT_EQ(by_label["[20, 60)"], 32);
  EXPECT_EQ(by_label["[0, 99]"], 80);
  EXPECT_THAT(CountsOf(answer["query_sets"][1]), ElementsAre(8, 16, 24, 32, 40, 48, 56, 64, 72, 80));
}

TEST_P(Answers, BoxesOfSeveralAttributes) {
  const Json answer = RunJson("ana", std::string("workload answer census --ranges age,region") + kAmple);
  EXPECT_EQ(answer["query_sets"][0]["answers"].size(), 550u);
  EXPECT_THAT(answer["query_sets"][0]["columns"], ElementsAre("age", "region"));
}

TEST_P(Answers, PredicatesThresholdsAndParities) {
  const Json answer = RunJson(
      "ana",
      std::string("workload answer census --where 'age in [0,29] and sex = Female' --where 'region in {1,2}' "
                  "--thresholds 'at least 1,2 of (sex = Female, region in {0,1})' --parities 1 "
                  "--attributes sex") +
          kAmple);
  ASSERT_EQ(answer["query_sets"].size(), 3u);
  EXPECT_THAT(CountsOf(answer["query_sets"][0]), ElementsAre(60, 20));
  EXPECT_THAT(CountsOf(answer["query_sets"][1]), ElementsAre(0));
  EXPECT_THAT(CountsOf(answer["query_sets"][2]), ElementsAre(12, 40));
}

TEST_P(Answers, ByAsksForEachCombination) {
  const Json answer =
      RunJson("ana", std::string("workload answer census --where 'age in [,29]' --by sex,region") + kAmple);
  const Json& set = answer["query_sets"][0];
  EXPECT_THAT(CountsOf(set), ElementsAre(3, 3, 3, 3, 3, 3, 3, 3));
  EXPECT_THAT(set["columns"].dump(), AllOf(HasSubstr("sex"), HasSubstr("region")));
}

TEST_P(Answers, AMixtureFromAFileComesInItsOrder) {
  const std::string file = folder_.path() + "/workload.json";
  std::ofstream(file) << R"({"query_sets": [
      {"prefixes": {"attribute": "age"}},
      {"marginals": {"sets": [{"names": ["sex"]}]}},
      {"ranges": {"attributes": ["age"], "boxes": [{"sides": [{"from": 20, "to": "39"}]}]}, "strategy": "STRATEGY_DIRECT"},
      {"predicates": {"predicates": [{"all_of": [{"attribute": "region", "in": [0, 3]}]}]}}]})";
  const auto [status, csv] = Run("ana", "workload answer census --out - --output csv --file " + file +
                                            kAmple + " --marginals 1 --attributes region");
  ASSERT_EQ(status, 0) << csv;
  const std::vector<std::string> order = {"\n0,prefixes,age,", "\n1,marginals,sex,", "\n2,ranges,age,",
                                          "\n3,predicates,\"region in {0, 3}\",", "\n4,marginals,region,"};
  size_t last = 0;
  for (const std::string& kind : order) {
    EXPECT_GT(csv.find(kind), last) << kind << csv;
    last = csv.find(kind);
  }
  EXPECT_THAT(csv, AllOf(HasSubstr(std::string(kCsvColumns) + ",sex,age,region\n"), HasSubstr("Female"),
                         HasSubstr("[20, 40)")));
}

// The example of the documentation is answered as it stands, and the help shows the same one.
TEST_P(Answers, TheWorkloadFileOfTheDocumentationIsAnswered) {
  const std::string page = ReadFile(CURATOR_WORKLOADS);
  const size_t begin = page.find("```json\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  const std::string file = folder_.path() + "/example.json";
  std::ofstream(file) << example;
  const auto [status, csv] =
      Run("ana", "workload answer census --out - --output csv --file " + file + " --epsilon 100000");
  ASSERT_EQ(status, 0) << csv;
  for (const char* line : {"\n0,marginals,age,", "\n1,marginals,\"age,region\",", "\n2,ranges,age,",
                           "\n3,prefixes,age,", "\n4,thresholds,", "\n5,parities,sex,", "\n6,predicates,"})
    EXPECT_THAT(csv, HasSubstr(line));
  const auto [helped, help] = Run("ana", "workload answer --help");
  ASSERT_EQ(helped, 0);
  const size_t shown = help.find("{\"querySets\"");
  ASSERT_NE(shown, std::string::npos);
  const size_t end = help.find("\nValues are", shown);
  EXPECT_EQ(Json::parse(help.substr(shown, end - shown), nullptr, /*allow_exceptions=*/false),
            Json::parse(example));
}

// What depends on public sizes alone is known before anything is charged.
TEST_P(Answers, MarginalsAboveASizeAreLeftOutForTheirPublicSize) {
  const std::string pairs = " --marginals 2 --rho 0.001 --max-cells ";
  const Json estimate = RunJson("ana", "workload estimate noisy" + pairs + "20");
  EXPECT_EQ(estimate["marginals_left_out"], 1) << "age x region has 40 cells";
  EXPECT_EQ(estimate["marginals"].size(), 2u);
  const auto [status, output] = Run("ana", "workload answer noisy --out - --output csv" + pairs + "20");
  ASSERT_EQ(status, 0) << output;
  EXPECT_THAT(output, AllOf(HasSubstr("1 marginal was left out for size"), HasSubstr("\"sex,age\""),
                            HasSubstr("\"sex,region\""), Not(HasSubstr("\"age,region\""))));
  const double spent = Spent("noisy");
  const auto [refused, error] = Run("ana", "workload answer noisy" + pairs + "7");
  EXPECT_EQ(refused, 1);
  EXPECT_THAT(error,
              HasSubstr("--max-cells: is 7, which leaves no marginal of 2 attributes: the smallest has "
                        "8 cells"));
  EXPECT_EQ(Spent("noisy"), spent);
}

TEST_P(Answers, TheErrorThatWasAskedForIsBoughtForTheLeast) {
  const std::string asked = " --marginals 1 --attributes age --max-error 30 --confidence 0.9";
  const Json estimate = RunJson("ana", "workload estimate noisy" + asked);
  EXPECT_LE(estimate["max_error"].get<double>(), 30);
  EXPECT_GE(estimate["max_error"].get<double>(), 27) << "the least that reaches it";
  EXPECT_GE(estimate["choices"].size(), 3u);
  EXPECT_EQ(Spent("noisy"), 0);
  RunJson("ana", "workload answer noisy" + asked);
  EXPECT_DOUBLE_EQ(Spent("noisy"), std::stod(estimate["costs"][0]["amount"].get<std::string>()));
}

TEST_P(Answers, WhatIsStoredIsFreeForWhoPaidAndForWhomItIsSharedWith) {
  const std::string pairs = "workload answer noisy --marginals 2 --attributes sex,age --rho 0.1";
  const Json paid = RunJson("ana", pairs);
  const double spent = Spent("noisy");
  const std::string single = "workload answer noisy --marginals 1 --attributes age --prefer-free";
  const Json free = RunJson("ana", single);
  EXPECT_THAT(free["free_from"], ElementsAre(paid["release_id"]));
  EXPECT_EQ(Spent("noisy"), spent);
  EXPECT_NE(Run("bob", single).first, 0) << "it is not his, and no budget was given";
  const auto [shared, said] =
      Run("ana", "release share " + paid["release_id"].get<std::string>() + " --with bob");
  EXPECT_EQ(shared, 0) << said;
  EXPECT_EQ(RunJson("bob", single)["marginals"], free["marginals"]);
  EXPECT_EQ(Spent("noisy"), spent);
}

TEST_P(Answers, ASharedReleaseShowsItsReaderNoAccountOfWhoPaid) {
  const auto [opened, account] =
      Run("owner", "account create noisy --analyst ana --rule zcdp --epsilon 5 --delta 1e-9");
  ASSERT_EQ(opened, 0) << account;
  const Json paid = RunJson("ana", "workload answer noisy --marginals 1 --rho 0.1");
  const std::string id = paid["release_id"].get<std::string>();
  ASSERT_EQ(Run("ana", "release share " + id + " --with bob").first, 0);
  EXPECT_THAT(RunJson("ana", "release show " + id).dump(), HasSubstr("analyst/ana"));
  const std::string seen = RunJson("bob", "release show " + id).dump();
  EXPECT_THAT(seen, HasSubstr("dataset/noisy"));
  EXPECT_THAT(seen, Not(HasSubstr("analyst/ana")));
}

TEST_P(Answers, ProcessedAnswersAreLabelledAndKeepTheirPromises) {
  const std::string processed = " --postprocess non-negative,consistent,integer";
  const Json paid = RunJson("ana", "workload answer noisy --marginals 2 --rho 0.01" + processed);
  EXPECT_EQ(paid["post_processing"], "non-negative, consistent, integer");
  std::vector<double> totals;
  for (const Json& marginal : paid["marginals"]) {
    double total = 0;
    for (const Json& cell : marginal["cells"]) {
      const double count = cell["count"].get<double>();
      EXPECT_GE(count, 0);
      EXPECT_EQ(count, std::round(count));
      EXPECT_GE(cell["lower"], 0);
      EXPECT_LE(cell["lower"], count);
      EXPECT_GE(cell["upper"], count);
      EXPECT_FALSE(cell.contains("standard_deviation"));
      total += count;
    }
    totals.push_back(total);
  }
  EXPECT_THAT(totals, ElementsAre(totals[0], totals[0], totals[0]));
  // The release holds what was measured; processing it is free, and can be chosen anew.
  const std::string show = "release show " + paid["release_id"].get<std::string>();
  EXPECT_EQ(RunJson("ana", show)["post_processing"], nullptr);
  EXPECT_EQ(RunJson("ana", show + processed)["marginals"], paid["marginals"]);
}

TEST_P(Answers, PlotsAreFilesOfTheirOwn) {
  const std::string plot = folder_.path() + "/age.svg";
  const auto [status, output] =
      Run("ana", "workload answer noisy --marginals 1 --attributes age --rho 0.1 --plot " + plot);
  EXPECT_EQ(status, 0) << output;
  std::stringstream svg;
  svg << std::ifstream(plot).rdbuf();
  EXPECT_THAT(svg.str(), AllOf(HasSubstr("<svg "), HasSubstr("[90, 99]"), HasSubstr("95% intervals")));
  EXPECT_THAT(Run("ana", "workload answer noisy --marginals 1 --attributes age --rho 0.1 --plot").second,
              AllOf(HasSubstr("[90, 99]"), HasSubstr("###"), Not(HasSubstr("\033"))));
}

TEST_P(Answers, RefusalsNameTheConditionAndCostNothing) {
  const double spent = Spent("noisy");
  EXPECT_THAT(Run("ana", "workload answer noisy --where 'aeg = 3' --rho 0.1").second, HasSubstr("aeg"));
  EXPECT_THAT(Run("ana", "workload answer noisy --where 'age in [3,25]' --rho 0.1").second, HasSubstr("age"));
  EXPECT_THAT(Run("ana", "workload answer noisy --where 'sex = Femal' --rho 0.1").second,
              HasSubstr("Female"));
  EXPECT_EQ(Run("ana", "workload answer noisy --where 'age in [3' --rho 0.1").first, 2);
  EXPECT_EQ(Spent("noisy"), spent);
}

// The example lines of a command's help.
std::vector<std::string> ExamplesOf(const std::string& command) {
  std::vector<std::string> examples;
  std::istringstream help(Shell(CURATOR_PATH " " + command + " --help").second);
  bool reached = false;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("Example:")) reached = true;
    if (reached && line.starts_with("  curator ")) examples.push_back(line.substr(2));
  }
  return examples;
}

// "census" as the examples know it: age, sex, zone, education, and the measure income.
void MakeExampleCensus(const Client& owner) {
  v1::CreateDatasetRequest dataset = NewDataset("census", v1::RULE_ZCDP, "10", "1e-9");
  v1::Schema& schema = *dataset.mutable_schema();
  schema.mutable_attributes(1)->mutable_integer()->clear_bin_width();
  schema.mutable_attributes(2)->set_name("zone");
  v1::Attribute& education = *schema.add_attributes();
  education.set_name("education");
  for (const char* value : {"Some college", "Bachelors"}) education.mutable_categorical()->add_values(value);
  v1::Measure& income = *schema.add_measures();
  income.set_name("income");
  income.set_high(100'000);
  income.set_resolution(100);
  std::string csv = "sex,age,zone,education,income\n";
  for (int i = 0; i < 400; ++i) {
    csv += std::string(i % 2 == 0 ? "Female," : "Male,") + std::to_string(17 + i % 70) + "," +
           std::to_string(i % 4) + (i % 3 == 0 ? ",Bachelors," : ",Some college,") + std::to_string(250 * i) +
           "\n";
  }
  MakeSealed(owner, dataset, csv);
}

TEST(Examples, OfTheHelpRunAsTheyStandThere) {
  TestServer server(Backend::kSqlite);
  MakeExampleCensus(server.ClientFor("owner"));
  const ScratchFolder folder;
  const std::string before =
      "cd " + folder.path() +
      " && ln -sf " CURATOR_PATH " curator && PATH=.:$PATH CURATOR_SERVER=" + server.address() +
      " CURATOR_AS=owner ";
  for (const auto& [command, number] : {std::pair{"workload estimate", 4u}, {"workload answer", 6u}}) {
    const std::vector<std::string> examples = ExamplesOf(command);
    EXPECT_EQ(examples.size(), number) << command;
    for (const std::string& example : examples) {
      const auto [status, output] = Shell(before + example + " 2>&1");
      EXPECT_EQ(status, 0) << example << "\n" << output;
    }
  }
}

// How often the stated interval of one range holds its true count, in new requests each time.
int Held(const Client& analyst, v1::Strategy strategy, int requests) {
  v1::AnswerWorkloadRequest request;
  request.set_dataset("census");
  request.mutable_spend()->set_epsilon("0.1");
  request.set_confidence_level(0.8);
  v1::QuerySet& set = *request.mutable_workload()->add_query_sets();
  set.set_strategy(strategy);
  set.mutable_ranges()->add_attributes("age");
  v1::Interval& side = *set.mutable_ranges()->add_boxes()->add_sides();
  side.mutable_from()->set_number_value(10);
  side.mutable_to()->set_number_value(69);
  int held = 0;
  for (int i = 0; i < requests; ++i) {
    const absl::StatusOr<Answer> answer = analyst.AnswerWorkload(request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok()) return 0;
    const QuerySetAnswer& range = answer->query_sets[0];
    const double count = range.counts.empty() ? range.estimates[0] : static_cast<double>(range.counts[0]);
    held += std::abs(count - 48) <= range.confidence_half_widths[0] ? 1 : 0;
  }
  return held;
}

// The key of each draw is new, so the bounds are five standard deviations wide: 0.8 +- 5 sqrt(0.16 / 120).
TEST(AnswerIntervals, HoldTheirLevelForEachStrategy) {
  TestServer server(Backend::kSqlite);
  const Client owner = server.ClientFor("owner");
  MakeSealed(owner, NewDataset("census", v1::RULE_PURE, "1000"), SmallCsv(80));
  constexpr int kRequests = 120;
  for (const v1::Strategy strategy : {v1::STRATEGY_DIRECT, v1::STRATEGY_BASE_HISTOGRAM, v1::STRATEGY_TREE}) {
    const int held = Held(owner, strategy, kRequests);
    EXPECT_GE(held, kRequests * (0.8 - 0.183)) << v1::Strategy_Name(strategy);
    // Exact for sums of measured values; only a bound for what a tree estimates.
    if (strategy == v1::STRATEGY_TREE) continue;
    EXPECT_LE(held, kRequests * (0.8 + 0.183)) << v1::Strategy_Name(strategy);
  }
}

}  // namespace
}  // namespace curator::testing
