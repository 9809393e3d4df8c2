#include "client/cli/token_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::HasSubstr;

class TokenSource : public ::testing::Test {
 protected:
  void Write(const std::string& text) const { std::ofstream(path_) << text; }

  const testing::ScratchFolder folder_;
  const std::string path_ = folder_.path() + "/token";
};

TEST_F(TokenSource, IsNoneWhereNothingIsChosen) {
  EXPECT_EQ(TokenSourceOf({}), nullptr);
}

TEST_F(TokenSource, ReadsTheFirstLineOfAFileBeforeEachCall) {
  const client::TokenSource source = TokenSourceOf({.file = path_, .command = {}});
  EXPECT_THAT(std::string(source(false).status().message()), HasSubstr("cannot be read"));
  Write("first\r\nmore\n");
  EXPECT_EQ(source(false).value(), "first");
  Write("second");
  EXPECT_EQ(source(false).value(), "second");
  Write("\n");
  EXPECT_THAT(std::string(source(false).status().message()), HasSubstr("has no token"));
}

TEST_F(TokenSource, RunsACommandOnceAndAgainWhenItsTokenHasExpired) {
  const client::TokenSource source =
      TokenSourceOf({.file = {}, .command = "echo x >> " + path_ + "; wc -l < " + path_});
  EXPECT_EQ(source(false).value(), "1");
  EXPECT_EQ(source(false).value(), "1");
  EXPECT_EQ(source(true).value(), "2");
}

TEST_F(TokenSource, ReportsACommandThatFails) {
  const client::TokenSource source = TokenSourceOf({.file = {}, .command = "echo token; exit 3"});
  EXPECT_THAT(std::string(source(false).status().message()), HasSubstr("has failed"));
}

}  // namespace
}  // namespace curator::cli
