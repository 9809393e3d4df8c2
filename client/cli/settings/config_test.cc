// `curator config`, and which of the command line, the environment and the file counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "client/cli/testing/command_line.h"
#include "curator/v1/budget.pb.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Config : public ::testing::Test {
 protected:
  Config() {
    setenv("XDG_CONFIG_HOME", command_line_.Path("xdg").c_str(), 1);
    std::filesystem::create_directories(command_line_.Path("xdg/curator"));
  }
  ~Config() override {
    for (const char* const name : {"XDG_CONFIG_HOME", "CURATOR_AS", "CURATOR_PROFILE", "CURATOR_TOKEN_FILE"})
      unsetenv(name);
  }
  void Write(const std::string& text) const { std::ofstream(Path()) << text; }
  std::string Path() const { return command_line_.Path("xdg/curator/config.toml"); }
  // {"as": {"value", "from"}} of `config show`.
  std::map<std::string, std::pair<std::string, std::string>> Shown(const std::string& line = "") {
    EXPECT_EQ(command_line_.Run("--output json config show " + line), ExitStatus::kDone)
        << command_line_.error();
    std::map<std::string, std::pair<std::string, std::string>> shown;
    const nlohmann::json document = nlohmann::json::parse(command_line_.out());
    for (const nlohmann::json& row : document["settings"]) {
      shown[row["key"]] = {row["value"].is_null() ? "" : row["value"].get<std::string>(), row["from"]};
    }
    return shown;
  }
  std::string At(int line) const { return Path() + ":" + std::to_string(line); }

  testing::CommandLine command_line_;
};

using InForce = std::pair<std::string, std::string>;

TEST_F(Config, TheCommandLineCountsBeforeTheEnvironmentAndThatBeforeTheFile) {
  EXPECT_EQ(Shown()["as"], (InForce{"", "default"}));
  Write("as = \"of-file\"\n");
  EXPECT_EQ(Shown()["as"], (InForce{"of-file", At(1)}));
  setenv("CURATOR_AS", "of-environment", 1);
  EXPECT_EQ(Shown()["as"], (InForce{"of-environment", "CURATOR_AS"}));
  EXPECT_EQ(Shown("--as of-line")["as"], (InForce{"of-line", "--as"}));
  EXPECT_EQ(Shown("--as=of-line")["as"], (InForce{"of-line", "--as"}));
  EXPECT_EQ(Shown()["server"], (InForce{command_line_.server.address(), "--server"}));
}

TEST_F(Config, WhatTheFileSaysIsUsed) {
  Write("as = \"ana\"\noutput = \"json\"\n");
  ASSERT_EQ(command_line_.Run("budget show census"), ExitStatus::kDone) << command_line_.error();
  EXPECT_EQ(command_line_.server.last_principal(), "ana");
  EXPECT_TRUE(nlohmann::json::accept(command_line_.out())) << command_line_.out();
  ASSERT_EQ(command_line_.Run("budget show census --output csv --as bob"), ExitStatus::kDone);
  EXPECT_EQ(command_line_.server.last_principal(), "bob");
  EXPECT_FALSE(nlohmann::json::accept(command_line_.out()));
}

TEST_F(Config, WhoOneIsComesFromOnePlace) {
  Write("token_file = \"/of/file\"\n");
  EXPECT_EQ(Shown()["token_file"].first, "/of/file");
  EXPECT_EQ(Shown("--as ana")["token_file"], (InForce{"", "default"}));
  Write("as = \"ana\"\n");
  setenv("CURATOR_TOKEN_FILE", "/of/environment", 1);
  EXPECT_EQ(Shown()["as"].first, "");
  EXPECT_EQ(Shown()["token_file"].second, "CURATOR_TOKEN_FILE");
}

TEST_F(Config, AProfileIsNamedOnTheCommandLineInTheEnvironmentOrInTheFile) {
  Write(
      "profile = \"b\"\n[profiles.a]\nas = \"ana\"\n[profiles.b]\nas = \"bob\"\n[profiles.c]\nas = "
      "\"cat\"\n");
  EXPECT_EQ(Shown()["as"], (InForce{"bob", At(5)}));
  EXPECT_EQ(Shown()["profile"], (InForce{"b", At(1)}));
  setenv("CURATOR_PROFILE", "c", 1);
  EXPECT_EQ(Shown()["as"].first, "cat");
  EXPECT_EQ(Shown("--profile a")["as"].first, "ana");
  EXPECT_EQ(command_line_.Run("config show --profile d"), ExitStatus::kRefused);
  EXPECT_THAT(command_line_.error(), HasSubstr("\"d\""));
}

TEST_F(Config, ADamagedFileIsRefusedWithItsLineAndCanBeFound) {
  Write("as = \"ana\"\ncolour = \"red\"\n");
  for (const char* const line : {"budget show census", "config show", "config set as bob"}) {
    EXPECT_NE(command_line_.Run(line), ExitStatus::kDone);
    EXPECT_THAT(command_line_.error(), AllOf(HasSubstr(At(2)), HasSubstr("\"colour\""))) << line;
  }
  EXPECT_EQ(command_line_.Run("config path"), ExitStatus::kDone);
  EXPECT_EQ(command_line_.out(), Path() + "\n");
  Write("output = \"xml\"\n");
  EXPECT_NE(command_line_.Run("budget show census"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.error(), AllOf(HasSubstr(At(1)), HasSubstr("xml")));
}

TEST_F(Config, ACommandThatPrintsATokenIsNotShown) {
  Write("token_command = \"echo cura_secret\"\n");
  EXPECT_EQ(Shown()["token_command"], (InForce{"(a command)", At(1)}));
  EXPECT_THAT(command_line_.out(), Not(HasSubstr("cura_secret")));
}

TEST_F(Config, IsSetFromTheCommandLine) {
  EXPECT_EQ(command_line_.Run("config set as ana"), ExitStatus::kDone) << command_line_.error();
  EXPECT_EQ(command_line_.Run("config set as bob --profile new"), ExitStatus::kDone) << command_line_.error();
  EXPECT_EQ(Shown()["as"].first, "ana");
  EXPECT_EQ(Shown("--profile new")["as"].first, "bob");
  EXPECT_EQ(command_line_.Run("config set profile new"), ExitStatus::kDone) << command_line_.error();
  EXPECT_EQ(Shown()["as"].first, "bob");
  EXPECT_EQ(command_line_.Run("config set token abc"), ExitStatus::kRefused);
}

}  // namespace
}  // namespace curator::cli
