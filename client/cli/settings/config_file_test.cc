#include "client/cli/settings/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> Texts(const absl::StatusOr<std::vector<ConfigEntry>>& entries) {
  EXPECT_TRUE(entries.ok()) << entries.status();
  std::vector<std::string> texts;
  if (!entries.ok()) return texts;
  for (const ConfigEntry& entry : *entries)
    texts.push_back(entry.profile + "/" + entry.key + "=" + entry.value + "@" + std::to_string(entry.line));
  return texts;
}

std::string ConfigError(const std::string& text) {
  const auto entries = ParseConfig(text, "c.toml");
  EXPECT_EQ(entries.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(entries.status().message());
}

TEST(ConfigFile, HasCommentsTextsInQuotesAndProfiles) {
  EXPECT_THAT(Texts(ParseConfig(
                  "# first\r\n server = \"https://a\\\"b\\\\\" # why\nca='C:\\x'\n\n[profiles.work] # w\n"
                  "output = \"json\"\nserver=\"u#v\"",
                  "c.toml")),
              ::testing::ElementsAre("/server=https://a\"b\\@2", "/ca=C:\\x@3", "work/output=json@6",
                                     "work/server=u#v@7"));
  EXPECT_THAT(Texts(ParseConfig("", "c.toml")), IsEmpty());
}

TEST(ConfigFile, AnErrorNamesItsLine) {
  EXPECT_THAT(ConfigError("\n# x\nsrever = \"a\"\n"),
              AllOf(StartsWith("c.toml:3: "), HasSubstr("\"srever\" is no key"), HasSubstr("token_file")));
  EXPECT_THAT(ConfigError("server = \"a\"\nserver = \"b\""),
              AllOf(StartsWith("c.toml:2: "), HasSubstr("line 1")));
  EXPECT_THAT(ConfigError("[profiles.a]\n[profiles.a]"), StartsWith("c.toml:2: "));
  EXPECT_THAT(ConfigError("[work]"), HasSubstr("[profiles.work]"));
  EXPECT_THAT(ConfigError("[profiles.]"), HasSubstr("[profiles.work]"));
  EXPECT_THAT(ConfigError("[profiles.a] x"), HasSubstr("[profiles.work]"));
  EXPECT_THAT(ConfigError("[profiles.a]\nprofile = \"b\""),
              AllOf(StartsWith("c.toml:2: "), HasSubstr("above")));
  for (const char* const line : {"server", "server = a", "server = \"a", "server = \"a\" b", "= \"a\"",
                                 "server = \"\\n\"", "server = 1", "ser ver = \"a\""}) {
    EXPECT_THAT(ConfigError(line), StartsWith("c.toml:1: ")) << line;
  }
}

TEST(ConfigFile, ASecretIsRefused) {
  EXPECT_THAT(ConfigError("token = \"cura_secret\""),
              AllOf(HasSubstr("token_file"), ::testing::Not(HasSubstr("cura_secret"))));
}

TEST(ConfigFile, AProfileCountsBeforeWhatIsAboveAndItsIdentityAlone) {
  const auto all = ParseConfig(
      "server = \"s\"\nas = \"ana\"\nca = \"c\"\n[profiles.work]\nserver = \"w\"\n[profiles.bot]\ntoken_file "
      "= \"t\"\n",
      "c");
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(Texts(EntriesOf(*all, "")), ::testing::ElementsAre("/server=s@1", "/as=ana@2", "/ca=c@3"));
  EXPECT_THAT(Texts(EntriesOf(*all, "work")),
              ::testing::ElementsAre("work/server=w@5", "/as=ana@2", "/ca=c@3"));
  EXPECT_THAT(Texts(EntriesOf(*all, "bot")),
              ::testing::ElementsAre("bot/token_file=t@7", "/server=s@1", "/ca=c@3"));
  EXPECT_EQ(EntriesOf(*all, "none").status().code(), absl::StatusCode::kNotFound);
}

class ConfigOnDisk : public ::testing::Test {
 protected:
  std::string Content() const {
    std::ostringstream content;
    content << std::ifstream(path_).rdbuf();
    return content.str();
  }
  void Set(const std::string& profile, const std::string& key, const std::string& value) const {
    const absl::Status set = SetInConfig(path_, profile, key, value);
    EXPECT_TRUE(set.ok()) << set;
  }

  const curator::testing::ScratchFolder folder_;
  const std::string path_ = (folder_ / "made/config.toml").string();
};

TEST_F(ConfigOnDisk, IsMadeAndChangedAndKeepsItsComments) {
  EXPECT_THAT(Texts(ReadConfig(path_)), IsEmpty()) << "there is no file yet";
  Set("", "server", "https://a");
  Set("work", "output", "json");
  Set("", "as", "ana \"x\"");
  EXPECT_EQ(Content(),
            "server = \"https://a\"\nas = \"ana \\\"x\\\"\"\n\n[profiles.work]\noutput = \"json\"\n");
  std::ofstream(path_, std::ios::app) << "# mine\n";
  Set("work", "output", "csv");
  Set("", "server", "");
  Set("", "ca", "");
  EXPECT_EQ(Content(), "as = \"ana \\\"x\\\"\"\n\n[profiles.work]\noutput = \"csv\"\n# mine\n");
}

TEST_F(ConfigOnDisk, WhatCannotBeReadIsNotWritten) {
  Set("", "server", "a");
  EXPECT_FALSE(SetInConfig(path_, "", "srever", "x").ok());
  EXPECT_FALSE(SetInConfig(path_, "", "token", "x").ok());
  EXPECT_FALSE(SetInConfig(path_, "a b", "server", "x").ok());
  EXPECT_FALSE(SetInConfig(path_, "", "server", "x\ny").ok());
  EXPECT_FALSE(SetInConfig("", "", "server", "x").ok());
  EXPECT_EQ(Content(), "server = \"a\"\n");
}

TEST_F(ConfigOnDisk, AHomeThatIsNoFolderHasNoFile) {
  EXPECT_THAT(Texts(ReadConfig("/dev/null/.config/curator/config.toml")), IsEmpty());
}

TEST_F(ConfigOnDisk, ALinkStaysALinkAndAClosedFileStaysClosed) {
  const std::string file = (folder_ / "mine.toml").string();
  std::ofstream(file) << "server = \"a\"\n";
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  std::filesystem::create_directory(folder_ / "made");
  std::filesystem::create_symlink("../mine.toml", path_);
  Set("", "output", "json");
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(Content(), "server = \"a\"\noutput = \"json\"\n");
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(ConfigOnDisk, OthersMayNotWriteIt) {
  Set("", "server", "a");
  ASSERT_EQ(chmod(path_.c_str(), 0664), 0);
  EXPECT_EQ(ReadConfig(path_).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace curator::cli
