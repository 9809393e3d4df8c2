#include "client/gate/code_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/gate/random_text.h"
#include "client/gate/testing/unsigned_token.h"

namespace curator::gate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::UnsignedToken;

constexpr char kIssuer[] = "https://idp.example";
constexpr char kKey[] = "a secret of the gate's";
constexpr char kRedirect[] = "https://curator.example/auth/callback";

class CodeFlowTest : public ::testing::Test {
 protected:
  LoginProvider Provider() {
    return {.alias = "corp",
            .issuer = kIssuer,
            .client_id = "gate",
            .client_secret = "s3cret",
            .transport = {.get = [this](const std::string&) -> absl::StatusOr<https::Response> {
                            return https::Response{.status = 200, .body = configuration_.dump()};
                          },
                          .post = [this](const std::string& url,
                                         const https::Fields& fields) -> absl::StatusOr<https::Response> {
                            posted_to_ = url;
                            posted_ = {fields.begin(), fields.end()};
                            return https::Response{.status = status_, .body = answer_.dump()};
                          }}};
  }
  absl::StatusOr<oidc::Tokens> Redeem() { return RedeemCode(Provider(), login_, kRedirect, answered_); }
  static nlohmann::json GoodClaims() {
    return {{"iss", kIssuer}, {"aud", "gate"}, {"sub", "4711"}, {"nonce", "the nonce"}};
  }

  nlohmann::json configuration_ = {{"issuer", kIssuer},
                                   {"authorization_endpoint", "https://idp.example/authorize"},
                                   {"token_endpoint", "https://idp.example/token"}};
  BegunLogin login_{.alias = "corp", .state = "a state", .nonce = "the nonce", .verifier = "the verifier"};
  CodeAnswer answered_ = {.code = "the code", .issuer = ""};
  int status_ = 200;
  nlohmann::json answer_ = {{"id_token", UnsignedToken(GoodClaims())}, {"refresh_token", "again"}};
  std::string posted_to_;
  std::map<std::string, std::string> posted_;
};

TEST_F(CodeFlowTest, TheBrowserIsSentToTheIssuerWithTheDigestOfTheVerifier) {
  const auto address = AddressToLogInAt(Provider(), login_, kRedirect, /*fresh=*/false);
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_THAT(*address,
              AllOf(HasSubstr("https://idp.example/authorize?response_type=code&client_id=gate&"),
                    HasSubstr("redirect_uri=https%3A%2F%2Fcurator.example%2Fauth%2Fcallback"),
                    HasSubstr("state=a%20state"), HasSubstr("nonce=the%20nonce"),
                    HasSubstr("code_challenge=" + Digest("the verifier") + "&code_challenge_method=S256"),
                    Not(HasSubstr("the%20verifier")), Not(HasSubstr("prompt"))));
}

TEST_F(CodeFlowTest, AFreshLoginIsAskedForAsOne) {
  const auto address = AddressToLogInAt(Provider(), login_, kRedirect, /*fresh=*/true);
  ASSERT_TRUE(address.ok());
  EXPECT_THAT(*address, HasSubstr("&prompt=login&max_age=0"));
}

TEST_F(CodeFlowTest, ACodeIsRedeemedWithTheVerifierAndTheSecret) {
  const auto tokens = Redeem();
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->refresh_token, "again");
  EXPECT_EQ(posted_to_, "https://idp.example/token");
  EXPECT_EQ(posted_, (std::map<std::string, std::string>{{"grant_type", "authorization_code"},
                                                         {"code", "the code"},
                                                         {"redirect_uri", kRedirect},
                                                         {"code_verifier", "the verifier"},
                                                         {"client_id", "gate"},
                                                         {"client_secret", "s3cret"}}));
}

TEST_F(CodeFlowTest, ATokenOfAnotherLoginClientOrIssuerIsRefused) {
  for (const auto& [member, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"nonce", "another"},
                                                           {"aud", "other"},
                                                           {"iss", "https://evil.example"},
                                                           {"aud", nullptr},
                                                           {"azp", "other"},
                                                           {"azp", nullptr}}) {
    nlohmann::json claims = GoodClaims();
    claims[member] = value;
    answer_["id_token"] = UnsignedToken(claims);
    EXPECT_TRUE(absl::IsDataLoss(Redeem().status())) << member;
  }
}

TEST_F(CodeFlowTest, ACodeOfAnotherIssuerIsSentNowhere) {
  answered_.issuer = "https://evil.example";
  EXPECT_TRUE(absl::IsInvalidArgument(Redeem().status()));
  EXPECT_EQ(posted_to_, "");
  answered_.issuer = kIssuer;
  EXPECT_TRUE(Redeem().ok());
}

TEST_F(CodeFlowTest, AnIssuerThatNamesItselfHasToDoSo) {
  EXPECT_TRUE(Redeem().ok());
  configuration_["authorization_response_iss_parameter_supported"] = "of another type";
  EXPECT_TRUE(Redeem().ok());
  posted_to_ = "";
  configuration_["authorization_response_iss_parameter_supported"] = true;
  EXPECT_TRUE(absl::IsInvalidArgument(Redeem().status()));
  EXPECT_EQ(posted_to_, "");
}

TEST_F(CodeFlowTest, ATokenForSeveralClientsIsAccepted) {
  nlohmann::json claims = GoodClaims();
  claims["aud"] = {"other", "gate"};
  claims["azp"] = "gate";
  answer_["id_token"] = UnsignedToken(claims);
  EXPECT_TRUE(Redeem().ok());
}

TEST_F(CodeFlowTest, ATokenThatIsTooLongIsSaidToBe) {
  nlohmann::json claims = GoodClaims();
  claims["groups"] = std::string(8'192, 'x');
  answer_["id_token"] = UnsignedToken(claims);
  EXPECT_THAT(std::string(Redeem().status().message()), HasSubstr("more than 8192 bytes"));
}

TEST_F(CodeFlowTest, AnIssuerThatDoesNotAnswerIsAskedAgainAfterTenSeconds) {
  absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  oidc::EndpointCache endpoints(kIssuer, [&] { return now; });
  int asked = 0;
  bool answers = false;
  const oidc::Transport transport = {.get = [&](const std::string&) -> absl::StatusOr<https::Response> {
                                       ++asked;
                                       if (!answers) return absl::UnavailableError("no connection");
                                       return https::Response{.status = 200, .body = configuration_.dump()};
                                     },
                                     .post = {}};
  EXPECT_TRUE(absl::IsUnavailable(endpoints.Find(transport).status()));
  answers = true;
  now += absl::Seconds(9);
  EXPECT_TRUE(absl::IsUnavailable(endpoints.Find(transport).status()));
  EXPECT_EQ(asked, 1);
  now += absl::Seconds(1);
  EXPECT_TRUE(endpoints.Find(transport).ok());
  now += absl::Minutes(9);
  EXPECT_TRUE(endpoints.Find(transport).ok());
  EXPECT_EQ(asked, 2);
}

TEST_F(CodeFlowTest, ARefreshTokenIsRevokedWhereTheIssuerCanDoSo) {
  RevokeLogin(Provider(), "again");
  EXPECT_EQ(posted_to_, "");
  configuration_["revocation_endpoint"] = "https://idp.example/revoke";
  RevokeLogin(Provider(), "again");
  EXPECT_EQ(posted_to_, "https://idp.example/revoke");
  EXPECT_EQ(posted_, (std::map<std::string, std::string>{{"token", "again"},
                                                         {"token_type_hint", "refresh_token"},
                                                         {"client_id", "gate"},
                                                         {"client_secret", "s3cret"}}));
}

TEST_F(CodeFlowTest, AnAnswerWithoutAnIdTokenIsRefused) {
  answer_ = {{"access_token", "abc"}};
  EXPECT_TRUE(absl::IsDataLoss(Redeem().status()));
}

TEST_F(CodeFlowTest, TheIssuersRefusalIsReported) {
  status_ = 400;
  answer_ = {{"error", "invalid_grant"}};
  EXPECT_THAT(std::string(Redeem().status().message()), HasSubstr("invalid_grant"));
}

TEST_F(CodeFlowTest, AConfigurationOfAnotherIssuerIsRefused) {
  configuration_["issuer"] = "https://evil.example";
  EXPECT_TRUE(absl::IsDataLoss(AddressToLogInAt(Provider(), login_, kRedirect, false).status()));
}

TEST_F(CodeFlowTest, ARenewedTokenIsOfTheSameSubject) {
  const std::string old = UnsignedToken(GoodClaims());
  EXPECT_TRUE(RenewLogin(Provider(), old, "again").ok());
  nlohmann::json claims = GoodClaims();
  claims["sub"] = "somebody else";
  answer_["id_token"] = UnsignedToken(claims);
  EXPECT_TRUE(absl::IsUnauthenticated(RenewLogin(Provider(), old, "again").status()));
  claims = GoodClaims();
  claims["aud"] = "other";
  answer_["id_token"] = UnsignedToken(claims);
  EXPECT_TRUE(absl::IsUnauthenticated(RenewLogin(Provider(), old, "again").status()));
}

TEST_F(CodeFlowTest, ATokenThatNoHeaderCarriesIsNone) {
  answer_["id_token"] = UnsignedToken(GoodClaims()) + "\n";
  EXPECT_TRUE(absl::IsDataLoss(Redeem().status()));
}

TEST_F(CodeFlowTest, ALoginThatTheIssuerDoesNotRenewHasEnded) {
  status_ = 400;
  answer_ = {{"error", "invalid_grant"}};
  EXPECT_TRUE(absl::IsUnauthenticated(RenewLogin(Provider(), "old", "again").status()));
}

class LoginCookieTest : public ::testing::Test {
 protected:
  const absl::Time start_ = absl::FromUnixSeconds(1'800'000'000);
  const BegunLogin login_{.alias = "corp",
                          .state = RandomText(),
                          .nonce = RandomText(),
                          .verifier = RandomText(),
                          .return_to = "/datasets/demo?tab=1",
                          .start = start_};
};

TEST_F(LoginCookieTest, TheBrowserThatBeganALoginFinishesIt) {
  const auto login = LoginIn(CookieOf(login_, kKey), kKey, login_.state, start_ + absl::Minutes(9));
  ASSERT_TRUE(login);
  EXPECT_EQ(login->alias, "corp");
  EXPECT_EQ(login->nonce, login_.nonce);
  EXPECT_EQ(login->verifier, login_.verifier);
  EXPECT_EQ(login->return_to, "/datasets/demo?tab=1");
}

TEST_F(LoginCookieTest, AnotherStateIsRefused) {
  EXPECT_FALSE(LoginIn(CookieOf(login_, kKey), kKey, "forged", start_));
  EXPECT_FALSE(LoginIn(CookieOf(login_, kKey), kKey, "", start_));
  BegunLogin without = login_;
  without.state = "";
  EXPECT_FALSE(LoginIn(CookieOf(without, kKey), kKey, "", start_));
}

TEST_F(LoginCookieTest, ALoginThatTookTooLongIsRefused) {
  EXPECT_FALSE(LoginIn(CookieOf(login_, kKey), kKey, login_.state, start_ + absl::Minutes(10)));
  EXPECT_FALSE(LoginIn(CookieOf(login_, kKey), kKey, login_.state, start_ - absl::Seconds(1)));
}

TEST_F(LoginCookieTest, OnlyTheGateMakesACookie) {
  const std::string cookie = CookieOf(login_, kKey);
  EXPECT_FALSE(LoginIn(CookieOf(login_, "another key"), kKey, login_.state, start_));
  EXPECT_FALSE(LoginIn(cookie.substr(0, cookie.rfind('/')), kKey, login_.state, start_));
  std::string changed = cookie;
  changed.replace(changed.find("corp"), 4, "evil");
  EXPECT_FALSE(LoginIn(changed, kKey, login_.state, start_));
  EXPECT_FALSE(LoginIn("", kKey, login_.state, start_));
  EXPECT_TRUE(LoginIn(cookie, kKey, login_.state, start_));
}

TEST_F(LoginCookieTest, AChangedReturnLeadsToNoOtherSite) {
  BegunLogin login = login_;
  login.return_to = "https://evil.example";
  EXPECT_EQ(LoginIn(CookieOf(login, kKey), kKey, login.state, start_)->return_to, "/");
}

TEST_F(CodeFlowTest, TheIssuersConfigurationIsReadOnce) {
  const LoginProvider provider = Provider();
  ASSERT_TRUE(AddressToLogInAt(provider, login_, kRedirect, false).ok());
  configuration_ = nullptr;
  EXPECT_TRUE(AddressToLogInAt(provider, login_, kRedirect, false).ok());
}

TEST(SafeReturnTest, OnlyPathsOfTheGateAreReturnedTo) {
  EXPECT_EQ(SafeReturn("/datasets/demo?tab=1"), "/datasets/demo?tab=1");
  for (const char* path : {"", "//evil.example", "https://evil.example", "/a\\b", "/a b", "/a\nb",
                           "/auth/login?issuer=corp", "/api/v1/session"}) {
    EXPECT_EQ(SafeReturn(path), "/") << path;
  }
}

}  // namespace
}  // namespace curator::gate
