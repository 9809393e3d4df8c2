// `curator` with records that lie in groups: what docs/OPERATING.md tells people to type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/scratch_folder.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The exit status, and what was printed on the standard output.
std::pair<int, std::string> Shell(const std::string& line) {
  FILE* const pipe = popen(line.c_str(), "r");
  std::string output;
  std::array<char, 4096> piece;
  while (const size_t bytes = fread(piece.data(), 1, piece.size(), pipe)) output.append(piece.data(), bytes);
  return {WEXITSTATUS(pclose(pipe)), output};
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class NestedCommands : public ::testing::TestWithParam<Backend> {
 protected:
  NestedCommands() : server_(GetParam()) {
    EXPECT_EQ(Shell(CURATOR_DEMO_DATA " --out " + folder_.path() + "/pupils.csv --schools 30").first, 0);
    Run("dataset create pupils --schema " CURATOR_PUPILS_SCHEMA " --rule zcdp --epsilon 10 --delta 1e-6");
    Run("dataset import pupils " + folder_.path() + "/pupils.csv");
    Run("dataset seal pupils");
  }

  std::string Run(const std::string& line) const {
    const auto [status, output] =
        Shell(CURATOR_PATH " --server " + server_.address() + " --as owner " + line);
    EXPECT_EQ(status, 0) << line << "\n" << output;
    return output;
  }

  const ScratchFolder folder_;
  TestServer server_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, NestedCommands, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(NestedCommands, ADatasetShowsItsNesting) {
  const std::string shown = Run("dataset show pupils");
  EXPECT_THAT(shown, HasSubstr("in groups (column school), with the response points"));
  EXPECT_THAT(shown, HasSubstr("numeric, 0 to 100 by 0.5"));
  const Json schema = Json::parse(Run("--output json dataset show pupils"))["schema"];
  EXPECT_EQ(schema["nesting"], (Json{{"groupColumn", "school"}, {"response", "points"}}));
  std::ofstream(folder_.path() + "/again.json") << schema;
  Run("dataset create again --schema " + folder_.path() + "/again.json --rule pure --epsilon 1");
  EXPECT_EQ(Json::parse(Run("--output json dataset show again"))["schema"], schema);
}

TEST_P(NestedCommands, TheOwnersRiskIsPrintedAsPrivateInEveryForm) {
  EXPECT_THAT(Run("owner risk pupils"), HasSubstr("PRIVATE"));
  const std::vector<std::string> csv = LinesOf(Run("--output csv owner risk pupils"));
  ASSERT_EQ(csv.size(), 23u);
  EXPECT_EQ(csv[0], "private,level,weighting,option,least,first_quartile,median,third_quartile,largest");
  EXPECT_THAT(csv[1], StartsWith("true,group,none,"));
  const Json json = Json::parse(Run("--output json owner risk pupils --grid bounds"));
  EXPECT_EQ(json["private"], true);
  EXPECT_EQ(json["groups"], 30);
  EXPECT_EQ(json["sensitivities"].size(), 22u);
  EXPECT_THAT(Run("ledger show pupils"), HasSubstr("report the risk of groups"));
}

TEST_P(NestedCommands, ASyntheticPopulationHasItsGroupsFirstAndIsReplayedByteForByte) {
  EXPECT_THAT(Run("synth estimate pupils --method nested --rho 0.5"),
              HasSubstr("one record, added or removed"));
  const std::string run =
      "synth run pupils --method nested --rho 0.5 --request-id 01a2011a-e52b-73ca-8d0e-332fd5152ed0 --out " +
      folder_.path();
  Run(run + "/first.csv");
  const std::vector<std::string> rows = LinesOf(ReadFile(folder_.path() + "/first.csv"));
  ASSERT_GT(rows.size(), 100u);
  EXPECT_EQ(rows[0], "school,sector,sex,points");
  EXPECT_THAT(rows[1], StartsWith("1,"));
  const Json budget = Json::parse(Run("--output json budget show pupils"));

  Run(run + "/again.csv");
  EXPECT_EQ(LinesOf(ReadFile(folder_.path() + "/again.csv")), rows);
  EXPECT_EQ(Json::parse(Run("--output json budget show pupils"))["accounts"], budget["accounts"]);
}

TEST_P(NestedCommands, AStoredPopulationAnswersQuestionsAndGivesMoreGroups) {
  Run("synth run pupils --method nested --rho 0.5 --out " + folder_.path() + "/synthetic.csv");
  const std::string release =
      Json::parse(Run("--output json release list pupils"))["releases"][0]["release_id"];
  const std::vector<std::string> counts =
      LinesOf(Run("--output csv release query " + release + " --marginals 1 --attributes sector"));
  EXPECT_EQ(counts.size(), 3u);
  Run("release sample " + release + " --rows 40 --out " + folder_.path() + "/sample.csv");
  EXPECT_EQ(LinesOf(ReadFile(folder_.path() + "/sample.csv")).size(), 41u);
}

// The schema of the demonstration, with schools as the unit, whose sector is their own.
std::string SchoolsSchema() {
  Json schema = Json::parse(ReadFile(CURATOR_PUPILS_SCHEMA));
  schema["unit"] = {{"group", {{"idColumn", "school"}, {"maxRecords", 60}}}};
  schema["nesting"]["groupAttributes"] = {"sector"};
  return schema.dump();
}

TEST_P(NestedCommands, AllRecordsOfASyntheticSchoolHaveItsSector) {
  std::ofstream(folder_.path() + "/schools.json") << SchoolsSchema();
  Run("dataset create schools --schema " + folder_.path() +
      "/schools.json --rule zcdp --epsilon 10 --delta 1e-6");
  EXPECT_THAT(Run("dataset show schools"), HasSubstr("all records of a group share sector"));
  EXPECT_EQ(Json::parse(Run("--output json dataset show schools"))["schema"]["nesting"]["groupAttributes"],
            Json::array({"sector"}));
  Run("dataset import schools " + folder_.path() + "/pupils.csv");
  Run("dataset seal schools");
  EXPECT_THAT(Run("synth estimate schools --method nested --rho 0.5"),
              HasSubstr("all records of a synthetic group share these"));
  Run("synth run schools --method nested --rho 0.5 --out " + folder_.path() + "/schools.csv");
  const std::vector<std::string> rows = LinesOf(ReadFile(folder_.path() + "/schools.csv"));
  ASSERT_GT(rows.size(), 10u);
  EXPECT_EQ(rows[0], "school,sector,sex,points");
  std::map<std::string, std::set<std::string>> sectors;
  for (size_t i = 1; i < rows.size(); ++i) {
    const size_t school = rows[i].find(',');
    sectors[rows[i].substr(0, school)].insert(
        rows[i].substr(school + 1, rows[i].find(',', school + 1) - school - 1));
  }
  for (const auto& [school, of_school] : sectors) EXPECT_EQ(of_school.size(), 1u) << school;
}

TEST_P(NestedCommands, AttributesOfGroupsThatAreNoneAreRefusedByTheirField) {
  Json schema = Json::parse(SchoolsSchema());
  for (const char* name : {"points", "sectr"}) {
    schema["nesting"]["groupAttributes"] = {"sector", name};
    std::ofstream(folder_.path() + "/wrong.json") << schema;
    const auto [status, output] =
        Shell(CURATOR_PATH " --server " + server_.address() + " --as owner dataset create wrong --schema " +
              folder_.path() + "/wrong.json --rule pure --epsilon 1 2>&1");
    EXPECT_NE(status, 0) << name;
    EXPECT_THAT(output, HasSubstr("group_attributes")) << name;
  }
}

TEST_P(NestedCommands, ACombinationWithoutATheoremIsRefusedWithItsReasonAndCostsNothing) {
  const Json before = Json::parse(Run("--output json budget show pupils"));
  for (const auto& [settings, reason] :
       {std::pair{"--set weights=group", "a group's weight changes with each of its records"},
        std::pair{"--set option=B", "only a group as a whole may do"},
        std::pair{"--set model=binomial", "a response of exactly the numbers 0 and 1"}}) {
    const auto [status, output] = Shell(CURATOR_PATH " --server " + server_.address() +
                                        " --as owner synth run pupils --method nested --rho 0.5 " + settings +
                                        " --out " + folder_.path() + "/none.csv 2>&1");
    EXPECT_NE(status, 0) << settings;
    EXPECT_THAT(output, HasSubstr(reason)) << settings;
  }
  EXPECT_EQ(Json::parse(Run("--output json budget show pupils")), before);
}

}  // namespace
}  // namespace curator::testing
