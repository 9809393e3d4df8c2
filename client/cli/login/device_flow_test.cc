#include "client/cli/login/device_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace curator::cli {
namespace {

using ::testing::ElementsAre;

class DeviceFlow : public ::testing::Test {
 protected:
  DeviceFlow() {
    discovery_ = {{"issuer", "https://idp.example"},
                  {"token_endpoint", "https://idp.example/token"},
                  {"device_authorization_endpoint", "https://idp.example/device"}};
  }

  LoginParts Parts() {
    return {.get = [this](const std::string&) -> absl::StatusOr<https::Response> {
              return https::Response{200, discovery_.dump()};
            },
            .post = [this](const std::string& url,
                           const https::Fields& fields) -> absl::StatusOr<https::Response> {
              if (url == "https://idp.example/device") {
                asked_ = fields;
                return https::Response{begin_status_, begun_.dump()};
              }
              grants_.push_back(fields.front().second);
              absl::StatusOr<https::Response> response = answers_.front();
              answers_.pop_front();
              return response;
            },
            .now = [this] { return now_; },
            .sleep =
                [this](absl::Duration interval) {
                  slept_.push_back(absl::ToInt64Seconds(interval));
                  now_ += interval;
                },
            .show = [this](const std::string& url, const std::string& code) { shown_ = url + " " + code; }};
  }
  static https::Response Refused(const std::string& error) {
    return {400, nlohmann::json{{"error", error}}.dump()};
  }
  static https::Response Granted(const nlohmann::json& tokens) { return {200, tokens.dump()}; }

  const LoginPlace place_{.issuer = "https://idp.example", .client_id = "curator-cli"};
  nlohmann::json discovery_;
  long begin_status_ = 200;
  nlohmann::json begun_ = {{"device_code", "d"},
                           {"user_code", "ABCD-EFGH"},
                           {"verification_uri", "https://idp.example/go"},
                           {"interval", 2},
                           {"expires_in", 60}};
  std::deque<absl::StatusOr<https::Response>> answers_;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  std::vector<int64_t> slept_;
  https::Fields asked_;
  std::vector<std::string> grants_;
  std::string shown_;
};

TEST_F(DeviceFlow, WaitsUntilTheUserHasEnteredTheCode) {
  answers_ = {Refused("authorization_pending"), Refused("slow_down"),
              Granted({{"id_token", "i"}, {"access_token", "a"}, {"refresh_token", "r"}})};
  const absl::StatusOr<Tokens> tokens = LogIn(place_, Parts());
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->token, "i");
  EXPECT_EQ(tokens->refresh_token, "r");
  EXPECT_EQ(shown_, "https://idp.example/go ABCD-EFGH");
  EXPECT_THAT(slept_, ElementsAre(2, 2, 7));
}

TEST_F(DeviceFlow, AsksForANewLoginOnlyWhereItIsToBeFresh) {
  answers_ = {Granted({{"id_token", "i"}}), Granted({{"id_token", "i"}})};
  ASSERT_TRUE(LogIn(place_, Parts()).ok());
  EXPECT_EQ(asked_.size(), 2u);
  ASSERT_TRUE(LogIn(place_, Parts(), Freshness::kFresh).ok());
  EXPECT_THAT(asked_, ::testing::IsSupersetOf(https::Fields{{"prompt", "login"}, {"max_age", "0"}}));
}

TEST(LoginTime, IsThatOfTheTokenWhereItHasOne) {
  const auto token = [](const std::string& claims) {
    return absl::StrCat("h.", absl::WebSafeBase64Escape(claims), ".s");
  };
  EXPECT_EQ(LoginTimeIn(token(R"({"auth_time": 1800000000})")), absl::FromUnixSeconds(1'800'000'000));
  for (const std::string& other : {token(R"({"iat": 1800000000})"), token(R"({"auth_time": "1800000000"})"),
                                   token("[]"), token("{"), std::string("opaque"), std::string("a.%.c")}) {
    EXPECT_EQ(LoginTimeIn(other), std::nullopt) << other;
  }
}

TEST_F(DeviceFlow, GoesOnWhileTheIssuerIsInTrouble) {
  answers_ = {absl::UnavailableError("no connection"), https::Response{503, "<html>"},
              Granted({{"id_token", "i"}})};
  EXPECT_EQ(LogIn(place_, Parts())->token, "i");
  EXPECT_THAT(slept_, ElementsAre(2, 7, 12));
}

TEST_F(DeviceFlow, SaysWhyTheIssuerGivesNoCode) {
  begin_status_ = 400;
  begun_ = {{"error", "invalid_scope"}};
  EXPECT_THAT(std::string(LogIn(place_, Parts()).status().message()), ::testing::HasSubstr("invalid_scope"));
}

TEST_F(DeviceFlow, TakesTheAccessTokenWhereThereIsNoIdToken) {
  answers_ = {Granted({{"access_token", "a"}})};
  EXPECT_EQ(LogIn(place_, Parts())->token, "a");
}

TEST_F(DeviceFlow, EndsWhenTheUserRefusesOrTheCodeExpires) {
  answers_ = {Refused("access_denied")};
  EXPECT_TRUE(absl::IsPermissionDenied(LogIn(place_, Parts()).status()));
  answers_ = {Refused("expired_token")};
  EXPECT_TRUE(absl::IsDeadlineExceeded(LogIn(place_, Parts()).status()));
  answers_ = {Refused("invalid_client")};
  EXPECT_TRUE(absl::IsUnavailable(LogIn(place_, Parts()).status()));
  answers_.assign(100, Refused("authorization_pending"));
  EXPECT_TRUE(absl::IsDeadlineExceeded(LogIn(place_, Parts()).status())) << "an issuer that never says so";
}

TEST_F(DeviceFlow, IsRefusedWhereTheIssuerHasNoneOrIsAnother) {
  discovery_.erase("device_authorization_endpoint");
  EXPECT_TRUE(absl::IsFailedPrecondition(LogIn(place_, Parts()).status()));
  discovery_["issuer"] = "https://idp.example/other";
  EXPECT_TRUE(absl::IsDataLoss(LogIn(place_, Parts()).status()));
}

TEST_F(DeviceFlow, RenewsTokensAndKeepsARefreshTokenThatStaysValid) {
  answers_ = {Granted({{"id_token", "i2"}}), Granted({{"id_token", "i3"}, {"refresh_token", "r3"}}),
              Refused("invalid_grant")};
  const Tokens old{.token = "i1", .refresh_token = "r1"};
  const absl::StatusOr<Tokens> second = Renew(place_, old, Parts());
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->token, "i2");
  EXPECT_EQ(second->refresh_token, "r1");
  EXPECT_EQ(Renew(place_, old, Parts())->refresh_token, "r3");
  EXPECT_TRUE(absl::IsUnauthenticated(Renew(place_, old, Parts()).status()));
  EXPECT_THAT(grants_, ElementsAre("refresh_token", "refresh_token", "refresh_token"));
}

TEST_F(DeviceFlow, ALoginOutlastsTroubleOfItsIssuerAndIsNotContinuedByAnAccessToken) {
  answers_ = {https::Response{503, "<html>"}, Granted({{"access_token", "opaque"}})};
  const Tokens old{.token = "i1", .refresh_token = "r1"};
  EXPECT_TRUE(absl::IsUnavailable(Renew(place_, old, Parts()).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(Renew(place_, old, Parts()).status()));
}

}  // namespace
}  // namespace curator::cli
