#include "client/cli/token_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "client/cli/login/login_state.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::HasSubstr;

class TokenSource : public ::testing::Test {
 protected:
  void Write(const std::string& text) const { std::ofstream(path_) << text; }

  const curator::testing::ScratchFolder folder_;
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

// ---- Of a login

class LoginTokenSource : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(state_.Keep(kServer, LoginWith("1")).ok()); }

  static Login LoginWith(const std::string& token) {
    return {.place = {.issuer = "https://idp.example", .client_id = "c"},
            .issuer_authorities = {},
            .tokens = {.token = token, .refresh_token = "refresh " + token}};
  }
  // The issuer gives the token "2" for the refresh token of "1", once.
  LoginParts Parts() {
    return {
        .get = [](const std::string&) -> absl::StatusOr<https::Response> {
          return https::Response{200, R"({"issuer":"https://idp.example","token_endpoint":"t"})"};
        },
        .post = [this](const std::string&, const https::Fields& fields) -> absl::StatusOr<https::Response> {
          const bool is_right = fields[1].second == "refresh 1" && renewals_++ == 0;
          if (!is_right) return https::Response{400, R"({"error":"invalid_grant"})"};
          return https::Response{200, R"({"id_token":"2","refresh_token":"refresh 2"})"};
        },
        .now = absl::Now,
        .sleep = [](absl::Duration) {},
        .show = [](const std::string&, const std::string&) {}};
  }
  client::TokenSource Source() {
    return TokenSourceOfLogin(kServer, state_, [this](const std::string&) { return Parts(); });
  }

  static constexpr char kServer[] = "https://curator.example";
  const curator::testing::ScratchFolder folder_;
  const LoginState state_{folder_.path() + "/login.json"};
  int renewals_ = 0;
};

TEST_F(LoginTokenSource, RenewsATokenThatHasExpiredAndKeepsTheNewOne) {
  const client::TokenSource source = Source();
  EXPECT_EQ(source(false).value(), "1");
  EXPECT_EQ(source(true).value(), "2");
  EXPECT_EQ(source(false).value(), "2");
  EXPECT_EQ(state_.Find(kServer).value()->tokens.refresh_token, "refresh 2");
}

TEST_F(LoginTokenSource, TakesWhatAnotherProgramHasRenewed) {
  const client::TokenSource one = Source();
  const client::TokenSource other = Source();
  EXPECT_EQ(one(true).value(), "2");
  EXPECT_EQ(other(true).value(), "2");
  EXPECT_EQ(renewals_, 1);
}

TEST_F(LoginTokenSource, DoesNotBringBackALoginThatWasForgotten) {
  const client::TokenSource source = Source();
  ASSERT_TRUE(state_.Forget(kServer).value());
  EXPECT_TRUE(absl::IsUnauthenticated(source(true).status()));
  EXPECT_FALSE(state_.Find(kServer)->has_value());
}

TEST_F(LoginTokenSource, GoesOnWithWhatItHasRenewedWhereThatCannotBeKept) {
  const client::TokenSource source = Source();
  // Where the new file would be.
  std::filesystem::create_directory(state_.path() + ".new");
  std::ofstream(state_.path() + ".new/something") << "in the way";
  EXPECT_EQ(source(true).value(), "2");
  EXPECT_EQ(source(false).value(), "2");
  EXPECT_EQ(state_.Find(kServer).value()->tokens.token, "1");
}

TEST_F(LoginTokenSource, DoesNotGoOnAsAnotherLogin) {
  const client::TokenSource source = Source();
  Login other = LoginWith("3");
  other.place.client_id = "another";
  ASSERT_TRUE(state_.Keep(kServer, other).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(source(true).status()));
}

TEST_F(LoginTokenSource, IsNoneForAServerThatTakesNoTokens) {
  ASSERT_TRUE(state_.Keep("127.0.0.1:7878", LoginWith("1")).ok());
  EXPECT_EQ(TokenSourceOfLogin("127.0.0.1:7878", state_, nullptr), nullptr);
}

TEST_F(LoginTokenSource, GivesTheErrorOfAFileThatCannotBeReadWhereATokenIsNeeded) {
  std::ofstream(state_.path()) << "no JSON";
  EXPECT_THAT(std::string(Source()(false).status().message()), HasSubstr("log in again"));
}

}  // namespace
}  // namespace curator::cli
