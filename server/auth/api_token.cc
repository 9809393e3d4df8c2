#include "auth/api_token.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"

namespace curator::auth {
namespace {

constexpr size_t kIdLength = 12;
constexpr size_t kSecretBytes = 32;
constexpr size_t kSecretLength = 43;
constexpr size_t kCheckLength = 6;

// `length` characters of 5 bits each, of the first bits.
std::string Base32(std::string_view bytes, size_t length) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(byte);
    for (count += 8; count >= 5 && text.size() < length; count -= 5) {
      text.push_back(kDigits[bits >> (count - 5) & 31]);
    }
  }
  return text;
}

bool IsBase32(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

std::string WithoutCheck(const ApiToken& token, std::string_view prefix) {
  return absl::StrCat(std::string(prefix), token.id, "_", token.secret);
}

}  // namespace

std::string MakeShortId(const Entropy& entropy) {
  return Base32(entropy(8), kIdLength);
}

ApiToken MakeApiToken(const Entropy& entropy) {
  return {.id = MakeShortId(entropy), .secret = absl::WebSafeBase64Escape(entropy(kSecretBytes))};
}

std::string FormatApiToken(const ApiToken& token, std::string_view prefix) {
  const std::string text = WithoutCheck(token, prefix);
  return absl::StrCat(text, "_", Base32(Sha256(text), kCheckLength));
}

absl::StatusOr<ApiToken> ParseApiToken(std::string_view text, std::string_view prefix) {
  const size_t length = prefix.size() + kIdLength + 1 + kSecretLength + 1 + kCheckLength;
  if (text.size() == length && text.starts_with(prefix)) {
    const std::string_view id = text.substr(prefix.size(), kIdLength);
    // The secret may have "_" itself, so the parts are found by their lengths.
    const std::string_view secret = text.substr(prefix.size() + kIdLength + 1, kSecretLength);
    ApiToken token{std::string(id), std::string(secret)};
    if (IsBase32(id) && FormatApiToken(token, prefix) == text) return token;
  }
  return absl::InvalidArgumentError(absl::StrCat("must be whole: ", std::string(prefix),
                                                 ", an id, a secret and a check, with \"_\" between"));
}

bool AreEqualSecrets(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace curator::auth
