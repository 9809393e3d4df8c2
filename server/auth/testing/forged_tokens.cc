#include "auth/testing/forged_tokens.h"

#include <openssl/hmac.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace curator::auth {
namespace {

using nlohmann::json;

std::string WithHmac(const TokenKeys& keys, const json& claims) {
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

}  // namespace

const TokenKeys& TokenKeys::Shared() {
  static const TokenKeys* const keys = new TokenKeys;
  return *keys;
}

std::vector<json> TokenKeys::Published() const {
  json for_encryption = encryption.Jwk();
  for_encryption["use"] = "enc";
  return {rsa.Jwk(), pss.Jwk(), ec.Jwk(), ed.Jwk(), weak.Jwk(), large_curve.Jwk(), for_encryption};
}

std::vector<ForgedToken> ForgedTokens(const TokenKeys& k, const json& claims, int64_t now, int64_t beyond) {
  const auto with = [&](const json& changes) {
    json changed = claims;
    changed.merge_patch(changes);
    return changed;
  };
  const json& plain = claims;
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
      {"another body", WithPart(good, 1, Base64Url(with({{"sub", "ada"}}).dump()))},
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
      {"another issuer", k.rsa.Token(with({{"iss", "https://idp.example/"}}))},
      {"no issuer", k.rsa.Token(with({{"iss", nullptr}}))},
      {"another audience", k.rsa.Token(with({{"aud", "payroll"}}))},
      {"an audience that begins like ours", k.rsa.Token(with({{"aud", "curator-"}}))},
      {"no audience", k.rsa.Token(with({{"aud", nullptr}}))},
      {"an audience that is an object", k.rsa.Token(with({{"aud", {{"curator", true}}}}))},
      {"no subject", k.rsa.Token(with({{"sub", nullptr}}))},
      {"an empty subject", k.rsa.Token(with({{"sub", ""}}))},
      {"a subject of two lines", k.rsa.Token(with({{"sub", "bob\nada"}}))},
      {"a subject that is a number", k.rsa.Token(with({{"sub", 7}}))},
      {"no exp", k.rsa.Token(with({{"exp", nullptr}}))},
      {"an exp that is a text", k.rsa.Token(with({{"exp", "1900000000"}}))},
      {"an exp after the end of time", k.rsa.Token(with({{"exp", 1e300}}))},
      {"a negative exp", k.rsa.Token(with({{"exp", -1}}))},
      {"expired", k.rsa.Token(with({{"exp", now - beyond}, {"iat", now - 1000}})), "TOKEN_EXPIRED"},
      {"issued ahead", k.rsa.Token(with({{"iat", now + beyond}}))},
      {"not valid yet", k.rsa.Token(with({{"nbf", now + beyond}}))},
      {"valid for 25 hours", k.rsa.Token(with({{"exp", now + 90'000}}))},
      {"valid for 25 hours, without iat", k.rsa.Token(with({{"exp", now + 90'000}, {"iat", nullptr}}))},
      {"more than 8 KiB", k.rsa.Token(with({{"padding", std::string(8192, 'x')}}))},
      {"expired and forged", k.stranger.Token(with({{"exp", 1}, {"iat", 0}}))},
  };
}

}  // namespace curator::auth
