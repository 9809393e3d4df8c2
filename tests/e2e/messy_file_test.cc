// From a file as people keep such files to answers, with no tool but `curator`: a byte order mark,
// semicolons, decimal commas, dates of three kinds, several spellings, missing values, and rows that no
// schema can read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/testing/scratch_folder.h"
#include "tests/testing/shell.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

// What deploy/demo-clinic says about the cells that it writes; the rows that can be read, and of each person
// the first three.
std::vector<Json> KeptRows(const Json& truth) {
  std::vector<Json> kept;
  std::map<int, int> records;
  for (const Json& row : truth) {
    if (row["rejected"].empty() && ++records[row["person"].get<int>()] <= 3) kept.push_back(row);
  }
  return kept;
}

std::string TextOr(const Json& value, const std::string& missing) {
  return value.is_null() ? missing : value.get<std::string>();
}

std::string SexOf(const Json& row) {
  return TextOr(row["sex"], "unknown");
}
std::string PainOf(const Json& row) {
  return TextOr(row["pain"], "unknown");
}
std::string AgeOf(const Json& row) {
  if (row["age"].is_null()) return "unknown";
  const int first = row["age"].get<int>() / 10 * 10;
  return first == 90 ? "[90, 99]" : "[" + std::to_string(first) + ", " + std::to_string(first + 10) + ")";
}
// "2019-Q2"
std::string QuarterOf(const Json& row) {
  if (row["visit"].is_null()) return "unknown";
  const std::string day = row["visit"].get<std::string>();
  return day.substr(0, 4) + "-Q" + std::to_string((std::stoi(day.substr(5, 2)) - 1) / 3 + 1);
}
bool IsIncomeBelow(const Json& row, double bound) {
  return !row["income"].is_null() && row["income"].get<double>() < bound;
}

class MessyFile : public ::testing::TestWithParam<Backend> {
 protected:
  MessyFile() : server_(GetParam()) {
    const auto [status, output] =
        Shell(CURATOR_DEMO_CLINIC " --truth " + Path("truth.json") + " > " + Path("clinic.csv"));
    EXPECT_EQ(status, 0) << output;
    std::ifstream(Path("truth.json")) >> truth_;
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::pair<int, std::string> Try(const std::string& line) const {
    return Shell(CURATOR_PATH " --server " + server_.address() + " --as owner " + line);
  }
  std::string Run(const std::string& line) const {
    const auto [status, output] = Try(line);
    EXPECT_EQ(status, 0) << line << "\n" << output;
    return output;
  }
  // The document, without the lines on the other output.
  Json RunJson(const std::string& line) const {
    const std::string printed = Run("--output json " + line);
    const size_t begin = printed.find('{');
    return Json::parse(printed.substr(begin, printed.find('\n', begin) - begin), nullptr, false);
  }
  Json Ask(const std::string& line) const { return RunJson("workload answer clinic --rho 0.5 " + line); }
  void Create(const std::string& schema = CURATOR_CLINIC_SCHEMA) const {
    Run("dataset create clinic --schema " + schema + " --rule zcdp --epsilon 40 --delta 1e-9");
  }

  std::map<std::string, int64_t> Counts(const std::function<std::string(const Json&)>& label) const {
    std::map<std::string, int64_t> counts;
    for (const Json& row : KeptRows(truth_)) ++counts[label(row)];
    return counts;
  }

  const ScratchFolder folder_;
  TestServer server_;
  Json truth_;
};

// Of the only marginal or query set, by the last of the labels.
std::map<std::string, Json> AnswersOf(const Json& document) {
  const Json rows = document["marginals"].empty() ? document["query_sets"][0]["answers"]
                                                  : document["marginals"][0]["cells"];
  std::map<std::string, Json> answers;
  for (const Json& row : rows) answers[row["values"].back()] = row;
  return answers;
}

// Within six standard deviations, which noise exceeds once in 500 million answers.
void ExpectCounts(const Json& document, const std::map<std::string, int64_t>& expected) {
  const std::map<std::string, Json> answers = AnswersOf(document);
  for (const auto& [label, count] : expected) {
    ASSERT_TRUE(answers.contains(label)) << label << " in " << document.dump(1);
    const Json& answer = answers.at(label);
    EXPECT_NEAR(answer["count"].get<double>(), static_cast<double>(count),
                6 * answer["standard_deviation"].get<double>())
        << label;
  }
}

TEST_P(MessyFile, IsReadAsItsSchemaSaysAndAnswersAreThoseOfWhatTheCellsMean) {
  Create();
  const Json imported = RunJson("dataset import clinic " + Path("clinic.csv"));
  EXPECT_EQ(imported["rows_read"], truth_.size());
  int64_t unreadable = 0;
  for (const Json& row : truth_) unreadable += row["rejected"].empty() ? 0 : 1;
  EXPECT_GT(unreadable, 0);
  EXPECT_EQ(imported["rows_rejected"], unreadable);
  EXPECT_EQ(RunJson("dataset seal clinic")["records"], KeptRows(truth_).size());

  ExpectCounts(Ask("--marginals 1 --attributes sex"), Counts(SexOf));
  ExpectCounts(Ask("--marginals 1 --attributes age"), Counts(AgeOf));
  ExpectCounts(Ask("--marginals 1 --attributes pain"), Counts(PainOf));
  ExpectCounts(Ask("--marginals 1 --attributes visit"), Counts(QuarterOf));
  const std::string low_income = "income in [0, 40000)";
  const auto below = Counts(
      [&](const Json& row) { return IsIncomeBelow(row, 40'000) ? low_income : std::string("elsewhere"); });
  ExpectCounts(Ask("--where 'income < 40000'"), {{low_income, below.at(low_income)}});
}

TEST_P(MessyFile, RangesAndPrefixesRunOverWhatHasAnOrder) {
  Create();
  Run("dataset import clinic " + Path("clinic.csv"));
  Run("dataset seal clinic");
  const std::map<std::string, int64_t> pain = Counts(PainOf);
  ExpectCounts(Ask("--prefixes pain"),
               {{"none", pain.at("none")},
                {"none .. low", pain.at("none") + pain.at("low")},
                {"none .. high", pain.at("none") + pain.at("low") + pain.at("high")}});
  EXPECT_EQ(AnswersOf(Ask("--prefixes pain")).size(), 3u);
  std::map<std::string, int64_t> by_sex = Counts([](const Json& row) {
    const std::string quarter = QuarterOf(row);
    return quarter >= "2019-Q2" && quarter <= "2019-Q4" ? SexOf(row) : "elsewhere";
  });
  by_sex.erase("elsewhere");
  ExpectCounts(Ask("--where 'visit in [2019-04-01, 2019-12-31]' --by sex"), by_sex);
}

// What an owner answers to the questions of `curator schema edit`, column by column.
constexpr char kTyped[] =
    "leave\n"
    "categorical\nFemale | Male\nFemale = f | Male = m\nother\nno\nyes\nbin unknown\n\n"
    "integer\n0 99 10\n\nbin unknown\n\n"
    "numeric\n0 200000 by 10000\n,.\nbin unknown\n\"\" | k.A.\n"
    "date\n2019-01-01 2020-12-31 by quarter\nEurope/Berlin\nDD.MM.YYYY\nbin unknown\n\n"
    "categorical\nnone | low | high\n\n\nyes\nyes\nbin unknown\n\n"
    "categorical\nNorth | South | East | West\n\n\nno\nno\nno\n"
    "leave\n"
    "person Patient-ID 3\n";

TEST_P(MessyFile, NeedsNoToolButCuratorFromItsHeaderToAnAnswer) {
  std::ofstream(Path("typed")) << kTyped;
  Run("schema template " + Path("clinic.csv") + " --out " + Path("clinic.json"));
  EXPECT_THAT(Run("schema edit " + Path("clinic.json") + " < " + Path("typed")),
              HasSubstr("next: curator schema check"));
  Run("schema check " + Path("clinic.json"));
  Create(Path("clinic.json"));
  Run("dataset import clinic " + Path("clinic.csv"));
  EXPECT_EQ(RunJson("dataset seal clinic")["records"], KeptRows(truth_).size());
  ExpectCounts(Ask("--marginals 1 --attributes Visit"), Counts(QuarterOf));
  ExpectCounts(Ask("--marginals 1 --attributes Sex"), Counts(SexOf));
}

INSTANTIATE_TEST_SUITE_P(Ledgers, MessyFile, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& each) { return BackendName(each.param); });

}  // namespace
}  // namespace curator::testing
