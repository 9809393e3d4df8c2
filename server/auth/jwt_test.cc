// Tokens, right ones and forty that are not: the same matrix runs against a running server in
// tests/e2e (identity_test).
#include "auth/jwt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "auth/testing/test_keys.h"
#include "base/errors.h"

namespace curator::auth {
namespace {

using nlohmann::json;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
constexpr char kIssuer[] = "https://idp.example";

// Made once: an RSA key takes a tenth of a second.
struct Keys {
  TestKey rsa{"RSA 2048", "rsa", "RS256"};
  TestKey pss{"RSA 2048", "pss", "PS256"};
  TestKey ec{"P-256", "ec", "ES256"};
  TestKey ed{"Ed25519", "ed", "EdDSA"};
  TestKey stranger{"RSA 2048", "rsa", "RS256"};
  TestKey weak{"RSA 1024", "weak", "RS256"};
  TestKey large_curve{"P-384", "p384", "ES256"};
  TestKey encryption{"RSA 2048", "enc", "RS256"};
};
const Keys& TheKeys() {
  static const Keys* const keys = new Keys;
  return *keys;
}

json EncryptionJwk() {
  json jwk = TheKeys().encryption.Jwk();
  jwk["use"] = "enc";
  return jwk;
}

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

  const Keys& k_ = TheKeys();
  Issuer issuer_{.alias = "corp", .issuer = kIssuer, .audiences = {"curator", "curator-test"}};
  KeySet keys_ = KeySet::Parse(JwksOf({k_.rsa.Jwk(), k_.pss.Jwk(), k_.ec.Jwk(), k_.ed.Jwk(), k_.weak.Jwk(),
                                       k_.large_curve.Jwk(), EncryptionJwk()}))
                     .value();
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

// One of the forged tokens, and the reason that its holder is told.
struct Forged {
  std::string name;
  std::string token;
  std::string reason = "TOKEN_INVALID";
};

std::string WithHmac(const Keys& keys, const json& claims) {
  const std::string secret = keys.rsa.PublicPem();
  const std::string text =
      absl::StrCat(Base64Url(json{{"alg", "HS256"}, {"kid", "rsa"}, {"typ", "JWT"}}.dump()), ".",
                   Base64Url(claims.dump()));
  std::string mac(32, '\0');
  unsigned int length = 32;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(mac.data()), &length);
  return absl::StrCat(text, ".", Base64Url(mac));
}

// `token` with another part.
std::string WithPart(const std::string& token, size_t part, const std::string& text) {
  std::vector<std::string> parts = absl::StrSplit(token, '.');
  parts[part] = text;
  return absl::StrCat(parts[0], ".", parts[1], ".", parts[2]);
}

// A token whose body is this text, signed rightly.
std::string WithBody(const TestKey& key, const std::string& body) {
  const std::string text =
      absl::StrCat(Base64Url(json{{"alg", "RS256"}, {"kid", key.kid()}}.dump()), ".", Base64Url(body));
  return absl::StrCat(text, ".", Base64Url(key.Sign(text)));
}

std::vector<Forged> ForgedTokens(const Keys& k, const std::function<json(const json&)>& claims) {
  const json plain = claims(json::object());
  const std::string good = k.rsa.Token(plain);
  const std::string unpadded = absl::StrCat(good, "=");
  return {
      {"no algorithm", WithPart(k.rsa.Token(plain, {{"alg", "none"}}), 2, "")},
      {"none, with a signature", k.rsa.Token(plain, {{"alg", "none"}})},
      {"None", k.rsa.Token(plain, {{"alg", "None"}})},
      {"HMAC under the public key", WithHmac(k, plain)},
      {"RS256 that is called PS256", k.rsa.Token(plain, {{"alg", "PS256"}})},
      {"PS256 that is called RS256", k.pss.Token(plain, {{"alg", "RS256"}})},
      {"an algorithm in lower case", k.rsa.Token(plain, {{"alg", "rs256"}})},
      {"no alg", k.rsa.Token(plain, {{"alg", nullptr}})},
      {"no kid", k.rsa.Token(plain, {{"kid", nullptr}})},
      {"a kid that is a number", k.rsa.Token(plain, {{"kid", 1}})},
      {"another key under the same kid", k.stranger.Token(plain)},
      {"the kid of another key", k.rsa.Token(plain, {{"kid", "pss"}, {"alg", "PS256"}})},
      {"a key in the header",
       k.stranger.Token(plain, {{"jwk", k.stranger.Jwk()}, {"jku", "https://evil.example/keys"}})},
      {"critical extensions", k.rsa.Token(plain, {{"crit", {"b64"}}, {"b64", false}})},
      {"an ID token's type that is none", k.rsa.Token(plain, {{"typ", "logout+jwt"}})},
      {"a type that is a number", k.rsa.Token(plain, {{"typ", 7}})},
      {"another body", WithPart(good, 1, Base64Url(claims({{"sub", "ada"}}).dump()))},
      {"another header", WithPart(good, 0, Base64Url(json{{"alg", "RS256"}, {"kid", "rsa"}}.dump()))},
      {"no signature", WithPart(good, 2, "")},
      {"half a signature", good.substr(0, good.size() - 100)},
      {"an ES256 signature of zeros", WithPart(k.ec.Token(plain), 2, Base64Url(std::string(64, '\0')))},
      {"an ES256 signature in DER",
       WithPart(k.ec.Token(plain), 2, Base64Url("0\x06\x02\x01\x01\x02\x01\x01"))},
      {"an EdDSA signature of zeros", WithPart(k.ed.Token(plain), 2, Base64Url(std::string(64, '\0')))},
      {"four parts", absl::StrCat(good, ".", Base64Url("more"))},
      {"two parts", good.substr(0, good.rfind('.'))},
      {"five parts, as of an encrypted token", "a.b.c.d.e"},
      {"nothing", ""},
      {"padding", unpadded},
      {"base64 with + and /", WithPart(good, 2, "ab+/")},
      {"a header that is no JSON", WithPart(good, 0, Base64Url("{"))},
      {"a body that is an array", WithBody(k.rsa, "[]")},
      {"a subject twice", WithBody(k.rsa, absl::StrCat(R"({"sub":"ada",)", plain.dump().substr(1)))},
      {"another issuer", k.rsa.Token(claims({{"iss", "https://idp.example/"}}))},
      {"no issuer", k.rsa.Token(claims({{"iss", nullptr}}))},
      {"another audience", k.rsa.Token(claims({{"aud", "payroll"}}))},
      {"an audience that begins like ours", k.rsa.Token(claims({{"aud", "curator-"}}))},
      {"no audience", k.rsa.Token(claims({{"aud", nullptr}}))},
      {"an audience that is an object", k.rsa.Token(claims({{"aud", {{"curator", true}}}}))},
      {"no subject", k.rsa.Token(claims({{"sub", nullptr}}))},
      {"an empty subject", k.rsa.Token(claims({{"sub", ""}}))},
      {"a subject of two lines", k.rsa.Token(claims({{"sub", "bob\nada"}}))},
      {"a subject that is a number", k.rsa.Token(claims({{"sub", 7}}))},
      {"no exp", k.rsa.Token(claims({{"exp", nullptr}}))},
      {"an exp that is a text", k.rsa.Token(claims({{"exp", "1800000600"}}))},
      {"an exp after the end of time", k.rsa.Token(claims({{"exp", 1e300}}))},
      {"a negative exp", k.rsa.Token(claims({{"exp", -1}}))},
      {"expired 61 s ago", k.rsa.Token(claims({{"exp", 1'800'000'000 - 61}, {"iat", 1'799'999'000}})),
       "TOKEN_EXPIRED"},
      {"issued 61 s ahead", k.rsa.Token(claims({{"iat", 1'800'000'000 + 61}}))},
      {"valid 61 s from now", k.rsa.Token(claims({{"nbf", 1'800'000'000 + 61}}))},
      {"valid for 25 hours", k.rsa.Token(claims({{"exp", 1'800'000'000 + 90'000}}))},
      {"valid for 25 hours, without iat",
       k.rsa.Token(claims({{"exp", 1'800'000'000 + 90'000}, {"iat", nullptr}}))},
      {"more than 8 KiB", k.rsa.Token(claims({{"padding", std::string(8192, 'x')}}))},
      {"expired and forged", k.stranger.Token(claims({{"exp", 1}, {"iat", 0}}))},
  };
}

TEST_F(Tokens, ThatAreForgedAreRefusedAndTheirHolderIsToldNoMoreThanAClass) {
  const std::vector<Forged> forged = ForgedTokens(k_, [](const json& changes) { return Claims(changes); });
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
