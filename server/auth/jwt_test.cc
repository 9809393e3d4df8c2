// Tokens, right ones and fifty that are not: the same ones are sent to a running server by
// tests/e2e/identity_test.cc.
#include "auth/jwt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "auth/testing/forged_tokens.h"
#include "auth/testing/test_keys.h"
#include "base/errors.h"

namespace curator::auth {
namespace {

using nlohmann::json;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
constexpr char kIssuer[] = "https://idp.example";

class Tokens : public ::testing::Test {
 protected:
  static json Claims(const json& changes = json::object()) {
    json claims = {{"iss", kIssuer},
                   {"sub", "bob"},
                   {"aud", "curator"},
                   {"iat", 1'800'000'000 - 10},
                   {"exp", 1'800'000'000 + 600}};
    claims.merge_patch(changes);
    return claims;
  }

  // As the authenticator does it.
  absl::StatusOr<VerifiedToken> Verify(std::string_view token) const {
    const absl::StatusOr<UnverifiedToken> apart = TakeApart(token);
    if (!apart.ok()) return apart.status();
    const VerificationKey* const key = keys_.Find(apart->kid);
    if (key == nullptr) return absl::UnauthenticatedError("no such key");
    return VerifyToken(*apart, issuer_, *key, "preferred_username", kNow);
  }
  static std::string ReasonOf(const absl::Status& status) {
    return PublicErrorOf(status).value_or(PublicError()).reason;
  }

  const TokenKeys& k_ = TokenKeys::Shared();
  Issuer issuer_{.alias = "corp", .issuer = kIssuer, .audiences = {"curator", "curator-test"}};
  KeySet keys_ = KeySet::Parse(JwksOf(k_.Published())).value();
};

TEST_F(Tokens, OfEachAlgorithmAreAccepted) {
  for (const TestKey* key : {&k_.rsa, &k_.pss, &k_.ec, &k_.ed}) {
    const absl::StatusOr<VerifiedToken> verified = Verify(key->Token(Claims()));
    ASSERT_TRUE(verified.ok()) << key->kid() << ": " << verified.status();
    EXPECT_EQ(verified->subject, "bob");
    EXPECT_EQ(verified->issuer, kIssuer);
    EXPECT_EQ(verified->expires, kNow + absl::Seconds(600));
    EXPECT_EQ(verified->key_thumbprint, keys_.Find(key->kid())->thumbprint());
  }
}

TEST_F(Tokens, ThatAreOddButRightAreAccepted) {
  const std::vector<std::pair<std::string, std::string>> tokens = {
      {"two audiences", k_.rsa.Token(Claims({{"aud", {"other", "curator-test"}}}))},
      {"no type", k_.rsa.Token(Claims(), {{"typ", nullptr}})},
      {"an access token (RFC 9068)", k_.rsa.Token(Claims(), {{"typ", "at+jwt"}})},
      {"the media type in full", k_.rsa.Token(Claims(), {{"typ", "application/at+jwt"}})},
      {"no iat", k_.rsa.Token(Claims({{"iat", nullptr}}))},
      {"a time with a fraction", k_.rsa.Token(Claims({{"exp", 1'800'000'000.5}}))},
      {"expired 59 s ago", k_.rsa.Token(Claims({{"exp", 1'800'000'000 - 59}, {"iat", 1'799'999'000}}))},
      {"issued 59 s ahead", k_.rsa.Token(Claims({{"iat", 1'800'000'000 + 59}}))},
      {"valid 59 s from now", k_.rsa.Token(Claims({{"nbf", 1'800'000'000 + 59}}))},
      {"valid for 24 hours", k_.rsa.Token(Claims({{"exp", 1'800'000'000 - 10 + 86'400}}))},
      {"members that nobody knows",
       k_.rsa.Token(Claims({{"email", "eve@example.org"}, {"groups", {"all"}}}))},
  };
  for (const auto& [name, token] : tokens)
    EXPECT_TRUE(Verify(token).ok()) << name << ": " << Verify(token).status();
}

TEST_F(Tokens, SayWhenThePersonLoggedInOnlyByTheirAuthTime) {
  const auto login_of = [this](const json& changes) {
    return Verify(k_.rsa.Token(Claims(changes)))->logged_in;
  };
  EXPECT_EQ(login_of({{"auth_time", 1'799'990'000}}), kNow - absl::Seconds(10'000)) << "before it was issued";
  EXPECT_EQ(login_of({{"auth_time", 1'800'000'000 + 59}}), kNow + absl::Seconds(59));
  EXPECT_EQ(login_of(json::object()), std::nullopt) << "iat does not say it";
  for (const json& odd : {json("1799990000"), json(-1), json(1e30), json(true), json(1'800'000'000 + 61)}) {
    EXPECT_EQ(login_of({{"auth_time", odd}}), std::nullopt) << odd;
  }
}

TEST_F(Tokens, ThatAreForgedAreRefusedAndTheirHolderIsToldNoMoreThanAClass) {
  const std::vector<ForgedToken> forged = ForgedTokens(k_, Claims(), absl::ToUnixSeconds(kNow));
  EXPECT_GE(forged.size(), 40);
  for (const auto& [name, token, reason] : forged) {
    const absl::StatusOr<VerifiedToken> verified = Verify(token);
    EXPECT_EQ(verified.status().code(), absl::StatusCode::kUnauthenticated) << name;
    EXPECT_EQ(ReasonOf(verified.status()), reason) << name << ": " << verified.status();
  }
}

TEST_F(Tokens, AreRefusedByAKeyThatIsTooWeakOrForSomethingElse) {
  EXPECT_EQ(keys_.size(), 4);
  EXPECT_EQ(keys_.left_out(), 3);
  for (const TestKey* key : {&k_.weak, &k_.large_curve, &k_.encryption}) {
    EXPECT_FALSE(Verify(key->Token(Claims())).ok()) << key->kid();
  }
}

TEST_F(Tokens, AreRefusedByAnAlgorithmThatTheIssuerDoesNotUse) {
  issuer_.algorithms = {Algorithm::kEs256};
  EXPECT_TRUE(Verify(k_.ec.Token(Claims())).ok());
  EXPECT_FALSE(Verify(k_.rsa.Token(Claims())).ok());
}

TEST_F(Tokens, AreRefusedWhenOneBitOfThemIsAnother) {
  for (const TestKey* key : {&k_.rsa, &k_.pss, &k_.ec, &k_.ed}) {
    const std::string token = key->Token(Claims());
    for (size_t at = 0; at < token.size(); at += 7) {
      std::string changed = token;
      changed[at] = changed[at] == 'A' ? 'B' : 'A';
      EXPECT_FALSE(Verify(changed).ok()) << key->kid() << " at " << at;
    }
  }
}

}  // namespace
}  // namespace curator::auth
