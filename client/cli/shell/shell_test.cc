// Completion in bash itself, and the man pages of all commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "client/cli/testing/command_line.h"
#include "curator/v1/dataset.pb.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::pair<int, std::string> Output(const std::string& line) {
  FILE* const pipe = popen(line.c_str(), "r");
  std::string output;
  std::array<char, 4096> piece;
  while (const size_t bytes = fread(piece.data(), 1, piece.size(), pipe)) output.append(piece.data(), bytes);
  return {WEXITSTATUS(pclose(pipe)), output};
}

std::vector<std::string> LinesIn(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// What bash offers for the words, of which the last one is being typed; one without blanks each.
std::vector<std::string> OfferedByBash(const std::string& words, const std::string& folder = ".") {
  const std::string program = CURATOR_PROGRAM;
  const std::string path = std::filesystem::path(program).parent_path().string();
  const auto [status, output] = Output(
      "cd " + folder + " && PATH=" + path +
      ":$PATH bash -c 'source <(curator completion bash); COMP_WORDS=(curator " + words +
      "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _curator; printf \"%s\\n\" \"${COMPREPLY[@]}\"' 2>&1");
  EXPECT_EQ(status, 0) << output;
  return output == "\n" ? std::vector<std::string>() : LinesIn(output);
}

TEST(Completion, BashOffersCommands) {
  EXPECT_THAT(OfferedByBash("data"), ElementsAre("dataset"));
  EXPECT_THAT(OfferedByBash("\"\""), AllOf(Contains("dataset"), Contains("completion"), Contains("schema")));
  EXPECT_THAT(OfferedByBash("schema \"\""), ElementsAre("check", "template", "edit"));
  EXPECT_THAT(OfferedByBash("--output json schema te"), ElementsAre("template"));
  EXPECT_THAT(OfferedByBash("nothing-like-it"), IsEmpty());
}

TEST(Completion, BashOffersFlagsOfTheCommandAndOfAll) {
  EXPECT_THAT(OfferedByBash("schema template --l"), ElementsAre("--look"));
  EXPECT_THAT(OfferedByBash("schema template --serv"), ElementsAre("--server"));
}

TEST(Completion, BashOffersTheWordsOfAChoice) {
  EXPECT_THAT(OfferedByBash("--output \"\""), ElementsAre("table", "json", "csv"));
  EXPECT_THAT(OfferedByBash("dataset create x --rule z"), ElementsAre("zcdp"));
  EXPECT_THAT(OfferedByBash("--output = j"), ElementsAre("json"));
  EXPECT_THAT(OfferedByBash("completion f"), ElementsAre("fish"));
}

TEST(Completion, BashOffersFlagsOfAGroupOfOptions) {
  EXPECT_THAT(OfferedByBash("workload answer census --eps"), ElementsAre("--epsilon"));
  EXPECT_THAT(OfferedByBash("account create census --ana"), ElementsAre("--analyst"));
}

TEST(Completion, BashOffersFiles) {
  const testing::CommandLine command_line;
  command_line.File("people.csv", "a\n");
  EXPECT_THAT(OfferedByBash("schema template peo", command_line.Path("")), ElementsAre("people.csv"));
  EXPECT_THAT(OfferedByBash("dataset create x --schema peo", command_line.Path("")),
              ElementsAre("people.csv"));
}

TEST(Completion, BashOffersDatasetsOfTheServerAndIsSilentWithoutOne) {
  testing::CommandLine command_line;
  v1::ListDatasetsResponse list;
  list.add_datasets()->set_name("census");
  list.add_datasets()->set_name("clinic");
  command_line.server.Answer<v1::ListDatasetsRequest>(list);
  const std::string server = "--server " + command_line.server.address() + " ";
  EXPECT_THAT(OfferedByBash(server + "budget show ce"), ElementsAre("census"));
  EXPECT_THAT(OfferedByBash(server + "dataset create c"), IsEmpty()) << "a new one has another name";
  EXPECT_THAT(OfferedByBash("--server 127.0.0.1:1 budget show ce"), IsEmpty());
}

TEST(ManPages, OfAllCommandsAreWrittenWithoutAWarningOfRoff) {
  testing::CommandLine command_line;
  ASSERT_EQ(command_line.Run("man --out " + command_line.Path("man")), ExitStatus::kDone)
      << command_line.error();
  int pages = 0;
  for (const auto& page : std::filesystem::directory_iterator(command_line.Path("man"))) {
    ++pages;
    const auto [status, output] = Output("groff -man -Tutf8 -ww -z " + page.path().string() + " 2>&1");
    EXPECT_EQ(status, 0) << page;
    EXPECT_EQ(output, "") << page;
  }
  EXPECT_GT(pages, 60);
  EXPECT_TRUE(std::filesystem::exists(command_line.Path("man/curator-dataset-import.1")));
}

TEST(ManPages, AreOfCommandsAloneAndHaveTheOptionsOfTheirGroups) {
  testing::CommandLine command_line;
  ASSERT_EQ(command_line.Run("man --out " + command_line.Path("man")), ExitStatus::kDone);
  for (const auto& page : std::filesystem::directory_iterator(command_line.Path("man")))
    EXPECT_THAT(page.path().stem().string(), Not(EndsWith("-"))) << "a group of options is no command";
  ASSERT_EQ(command_line.Run("man workload answer"), ExitStatus::kDone);
  EXPECT_THAT(command_line.out(), AllOf(HasSubstr("\\fB\\-\\-epsilon\\fR"), HasSubstr("[\\fIOPTIONS\\fR]"),
                                        Not(HasSubstr("\\fICOMMAND\\fR"))));
}

TEST(ManPages, SayWhatTheHelpSays) {
  testing::CommandLine command_line;
  ASSERT_EQ(command_line.Run("man schema template > x"), ExitStatus::kRefused);
  EXPECT_THAT(command_line.error(), HasSubstr("\">\" is no command of curator-schema-template"));
  ASSERT_EQ(command_line.Run("man schema template"), ExitStatus::kDone);
  EXPECT_THAT(command_line.out(),
              AllOf(HasSubstr("\\fB\\-\\-look\\fR"), HasSubstr("PRIVATE"),
                    HasSubstr("curator schema template people.csv"), Not(HasSubstr("\n'"))));
  ASSERT_EQ(command_line.Run("man"), ExitStatus::kDone);
  EXPECT_THAT(command_line.out(), AllOf(HasSubstr("CURATOR_SERVER"), HasSubstr("Exit status")));
}

}  // namespace
}  // namespace curator::cli
