// From a file without a schema to a dataset with no tool but `curator`: template, questions, create.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/testing/scratch_folder.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kCsv[] =
    "\xEF\xBB\xBF\"Patient Age\";Sex;\"Pay\";Day\r\n39;M;\"12.500,00\";31.12.2019\r\n?;f;7,25;1.1.2020\r\n";

class SchemaCommands : public ::testing::Test {
 protected:
  SchemaCommands() : server_(Backend::kSqlite) {
    std::ofstream(Path("people.csv"), std::ios::binary) << kCsv;
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  // The exit status and all that was printed.
  std::pair<int, std::string> Try(const std::string& line, const std::string& typed = "") const {
    std::ofstream(Path("typed")) << typed;
    const std::string command = "cd " + folder_.path() + " && XDG_CONFIG_HOME=" + Path("config") +
                                " " CURATOR_PATH + " --server " + server_.address() + " --as owner " + line +
                                " < typed 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 4096> piece;
    while (const size_t bytes = fread(piece.data(), 1, piece.size(), pipe))
      output.append(piece.data(), bytes);
    return {WEXITSTATUS(pclose(pipe)), output};
  }
  std::string Run(const std::string& line, const std::string& typed = "") const {
    const auto [status, output] = Try(line, typed);
    EXPECT_EQ(status, 0) << line << "\n" << output;
    return output;
  }

  const ScratchFolder folder_;
  TestServer server_;
};

constexpr char kCreate[] = "dataset create people --schema people.json --rule zcdp --epsilon 3 --delta 1e-9";

TEST_F(SchemaCommands, LeadFromAFileToItsRecords) {
  Run("schema template people.csv --out people.json");
  for (const char* const line : {"schema check people.json", kCreate}) {
    const auto [status, refused] = Try(line);
    EXPECT_EQ(status, 1);
    EXPECT_THAT(refused,
                AllOf(HasSubstr("4 attributes are not filled in"), HasSubstr("\"Patient Age\" (no kind)"),
                      HasSubstr("curator schema edit people.json")));
  }
  EXPECT_EQ(Try("schema template people.csv --out people.json").first, 1) << "a file is not written over";

  // In two sittings: the first ends in the middle.
  EXPECT_THAT(Run("schema edit people.json", "integer\n0 119 10\n\nbin\n\ncategorical\nF | M\n"),
              HasSubstr("saved as far as you came"));
  EXPECT_THAT(Run("schema edit people.json",
                  "\n\n\n\n\n\n\n\n\n\nyes\nno\nnumeric\n0 50000 by 5000\n,.\nno\n"
                  "date\n2019-01-01 2020-12-31 by month\n\nDD.MM.YYYY\nno\nrecord\nPay 0 10000 by 0.5\n"),
              HasSubstr("next: curator schema check people.json"));
  EXPECT_THAT(Run("schema check people.json people.csv"),
              AllOf(HasSubstr("0 to 10000 by 0.5"), HasSubstr("1 of Pay")));
  Run(kCreate);
  EXPECT_THAT(Run("dataset show people"), HasSubstr("0 to 10000 by 0.5"));
  const Json imported = Json::parse(Run("--output json dataset import people people.csv"));
  EXPECT_EQ(imported["rows_accepted"], 2) << imported;
  EXPECT_EQ(imported["cells_clipped"], Json::parse(R"({"Pay": 1})")) << imported;
  EXPECT_THAT(Run("dataset seal people"), HasSubstr("sealed"));
}

TEST_F(SchemaCommands, ALookIsSaidPlainlyAndGoesWithTheDataset) {
  const std::string said =
      Run("schema template people.csv --look --accept-domain-from-records --out people.json");
  EXPECT_THAT(said, AllOf(HasSubstr("PRIVATE: --look reads private values"),
                          HasSubstr("the guarantee does not cover them")));
  Run(kCreate);
  EXPECT_EQ(Json::parse(Run("--output json dataset show people"))["schema"]["domainFromRecords"], true);
  const Json imported = Json::parse(Run("--output json dataset import people people.csv"));
  EXPECT_EQ(imported["rows_accepted"], 2) << imported;
}

TEST_F(SchemaCommands, RejectRowsThatBreakAConstraintOneByOne) {
  std::ofstream(Path("people.json")) << R"({
    "attributes": [{"name": "admitted", "date": {"from": "2019-01-01", "to": "2019-12-31", "bins": "DAY"}},
                   {"name": "discharged", "date": {"from": "2019-01-01", "to": "2019-12-31", "bins": "DAY"}},
                   {"name": "city", "categorical": {"values": ["Bonn", "Mainz"]}},
                   {"name": "state", "categorical": {"values": ["NW", "RP"]}}],
    "constraints": [{"order": {"lower": "admitted", "upper": "discharged"}},
                    {"allowedPairs": {"attributes": ["state", "city"],
                                      "pairs": [{"values": ["RP", "Mainz"]}, {"values": ["NW", "Bonn"]}]}}]})";
  std::ofstream(Path("stays.csv")) << "admitted,discharged,city,state\n"
                                      "2019-03-02,2019-03-01,Bonn,NW\n"
                                      "2019-03-01,2019-03-01,Bonn,NW\n"
                                      "2019-03-01,2019-04-01,Bonn,RP\n"
                                      "2019-05-09,2019-06-01,Mainz,RP\n";
  EXPECT_THAT(Run("schema check people.json"),
              AllOf(HasSubstr("admitted <= discharged"),
                    HasSubstr("(state, city) in 2 pairs: (RP, Mainz), (NW, Bonn)")));
  Run(kCreate);
  EXPECT_THAT(Run("dataset show people"), HasSubstr("(city, state) in 2 pairs: (Bonn, NW), (Mainz, RP)"));
  const Json imported = Json::parse(Run("--output json dataset import people stays.csv --max-rejected 50%"));
  EXPECT_EQ(imported["rows_accepted"], 2);
  EXPECT_EQ(imported["rows_rejected"], 2);
  ASSERT_EQ(imported["rejections"].size(), 2u) << imported;
  EXPECT_EQ(imported["rejections"][0]["attribute"], "constraints[0]");
  EXPECT_EQ(imported["rejections"][0]["reason"], "is broken: \"discharged\" is below \"admitted\"");
  EXPECT_EQ(imported["rejections"][1]["attribute"], "constraints[1]");
  EXPECT_EQ(imported["rejections"][1]["rows"], 1);
}

}  // namespace
}  // namespace curator::testing
