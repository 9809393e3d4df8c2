// API tokens: secrets that this server made, for programs without an identity provider or a certificate.
//
//   curt_<id>_<secret>_<check>
//
// The id is 12 characters of [a-z2-7] (60 bits), and public. The secret is 256 random bits as 43 characters
// of base64url. The check, 6 characters of [a-z2-7], is of a hash of what precedes it: a token with a slip
// of the hand is told from one that was revoked, and scanners find leaked ones.
//
// Stored is a keyed hash of the secret. It is a fast one on purpose: 256 random bits cannot be guessed, and a
// slow one would let anybody occupy the server.
//
// Thread-safe: pure functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::auth {

inline constexpr std::string_view kApiTokenPrefix = "curt_";
// Enrolment codes have the same form.
inline constexpr std::string_view kEnrolmentPrefix = "cure_";

struct ApiToken {
  std::string id;
  std::string secret;
};

// Returns `bytes` unpredictable bytes.
using Entropy = std::function<std::string(size_t bytes)>;

ApiToken MakeApiToken(const Entropy& entropy);
std::string FormatApiToken(const ApiToken& token, std::string_view prefix = kApiTokenPrefix);
// INVALID_ARGUMENT for any text that FormatApiToken() would not write.
absl::StatusOr<ApiToken> ParseApiToken(std::string_view text, std::string_view prefix = kApiTokenPrefix);

// Ids of credentials and enrolments: 12 characters of [a-z2-7].
std::string MakeShortId(const Entropy& entropy);

// Whether both are equal, in a time that does not depend on where they differ.
bool AreEqualSecrets(std::string_view one, std::string_view other);

}  // namespace curator::auth
