// What proves who calls, before it is believed: signed tokens, API tokens and key sets. Whatever is sent, it
// is taken apart or refused, and no token is accepted but those that the key signed.
#include "auth/api_token.h"
#include "auth/jwt.h"
#include "auth/key_set.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

// Signed by keys that nobody has any more, and valid from 1,800,000,000 for an hour.
constexpr char kEs256Token[] =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6ImUiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJpIiwic3ViIjoiZXZlIiwiYXVkIjoiYyIs"
    "ImlhdCI6MTgwMDAwMDAwMCwiZXhwIjoxODAwMDAzNjAwfQ.Be2HCpIvcnYCY7LWgQn32c8M0ExlfirFf7OqGVq0Apfkf47u"
    "mOuGKaOgDc-z33ZJ95weWMmgPQNJvMQL0OGazw";
constexpr char kEdDsaToken[] =
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImQiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJpIiwic3ViIjoiZXZlIiwiYXVkIjoiYyIs"
    "ImlhdCI6MTgwMDAwMDAwMCwiZXhwIjoxODAwMDAzNjAwfQ.X-3fwqPOyb_TkI060ztw2H25PEl3jJlJ4Cwm-"
    "Vj9MmW9w6YJ8IhK0MA3BQf5ucxuxxe29z9mMpC5GLGv78d-Cg";
constexpr char kEs256Keys[] =
    R"({"keys":[{"kty":"EC","crv":"P-256","kid":"e","x":"q2W1KutZ4N-abYUwEa1R5g5gc4AaHDRa-2214BRvePE","y":"rIyD3E1X-CsTdB2fh6YneRGTgoanpRSh_BaFRFXDHGM"}]})";
constexpr char kEdDsaKeys[] =
    R"({"keys":[{"kty":"OKP","crv":"Ed25519","kid":"d","x":"vdN5KPh-0Clssc9fqeFlwR9w9QH9uclN_QkIFlYv3q0"}]})";

bool IsAccepted(const auth::UnverifiedToken& apart, const char* keys) {
  static const auth::Issuer issuer{.alias = "i", .issuer = "i", .audiences = {"c"}};
  const auto parsed = auth::KeySet::Parse(keys);
  const auth::VerificationKey* const key = parsed->Find(apart.kid);
  if (key == nullptr) return false;
  return VerifyToken(apart, issuer, *key, "", absl::FromUnixSeconds(1'800'000'060)).ok();
}

bool TryToken(std::string_view text) {
  const auto apart = auth::TakeApart(text);
  if (!apart.ok()) return false;
  const bool is_accepted = IsAccepted(*apart, kEs256Keys) || IsAccepted(*apart, kEdDsaKeys);
  const bool is_signed = text == kEs256Token || text == kEdDsaToken;
  if (is_accepted != is_signed) Broken("a token is accepted as it was signed, and not otherwise", text);
  return true;
}

bool TryApiToken(std::string_view text) {
  const auto parsed = auth::ParseApiToken(text);
  if (parsed.ok() && auth::FormatApiToken(*parsed) != text) Broken("an API token has one form", text);
  return parsed.ok();
}

bool TryKeySet(std::string_view text) {
  const auto parsed = auth::KeySet::Parse(text);
  if (parsed.ok() && parsed->size() == 0) Broken("a key set has a key", text);
  return parsed.ok();
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string api_token = auth::FormatApiToken({"abcdefghijkl", std::string(43, 'A')});
  return {kEs256Token, kEdDsaToken, kEs256Keys, kEdDsaKeys, api_token, "a.b.c", ""};
}

bool Try(std::string_view text) {
  const bool is_token = TryToken(text);
  const bool is_api_token = TryApiToken(text);
  const bool is_key_set = TryKeySet(text);
  if (is_token + is_api_token + is_key_set > 1) Broken("a text is one of the three", text);
  return is_token || is_api_token || is_key_set;
}

}  // namespace curator::fuzz
