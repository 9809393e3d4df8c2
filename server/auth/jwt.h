// Verifies signed tokens (JWT, RFC 7519, in the compact form of RFC 7515) of the issuers that this server
// trusts, by the rules of RFC 8725:
//
//   - at most 8 KiB, three parts, canonical base64url, JSON without duplicate keys;
//   - "alg" is that of the key that "kid" names, and allowed by the issuer's settings: no "none", no HMAC;
//   - keys come from the issuer's key set alone: "jwk", "jku", "x5c", "x5u" are ignored; "crit" is refused;
//   - "typ" is absent, "JWT" or "at+jwt" (RFC 9068);
//   - "iss" is the issuer's exactly, "aud" has one of its audiences, "sub" is a text that is not empty;
//   - "exp" is required and ahead, "nbf" and "iat" are not, each with 60 s of leeway; valid for at most 24 h;
//   - "auth_time" is believed unless it is no time or ahead by more than the leeway: the token is then as one
//     without it, which says nothing of when the person logged in. "iat" does not say it.
//
// Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/key_set.h"

namespace curator::auth {

// An issuer of tokens, as the configuration has it.
struct Issuer {
  std::string alias;   // a short name: the name of its key file
  std::string issuer;  // the exact "iss", a URL
  std::vector<std::string> audiences;
  std::vector<Algorithm> algorithms = {Algorithm::kRs256, Algorithm::kPs256, Algorithm::kEs256,
                                       Algorithm::kEdDsa};
};

inline constexpr absl::Duration kLeeway = absl::Seconds(60);
inline constexpr absl::Duration kLongestToken = absl::Hours(24);
inline constexpr size_t kMostTokenBytes = 8192;

// A token that was taken apart, but not verified: nothing in it is to be believed.
struct UnverifiedToken {
  std::string issuer;
  std::string kid;
  std::string algorithm;
  std::string signed_text;  // the first two parts, and the dot between them
  std::string signature;
};
// Errors: NotAccepted(Fault::kInvalid) (faults.h).
absl::StatusOr<UnverifiedToken> TakeApart(std::string_view token);

// What a verified token says.
struct VerifiedToken {
  std::string issuer;
  std::string subject;
  std::string name;  // what the claim says that names people; empty when it does not
  absl::Time expires;
  std::optional<absl::Time> logged_in;  // "auth_time"; none when it does not say
  std::string key_thumbprint;           // of the key that verified it
};
// `key` is the one that the key set of the token's issuer has for its kid. `name_claim` may be empty. Errors:
// NotAccepted(), kExpired for a token that is right in everything else, and kInvalid.
absl::StatusOr<VerifiedToken> VerifyToken(const UnverifiedToken& token, const Issuer& issuer,
                                          const VerificationKey& key, const std::string& name_claim,
                                          absl::Time now);

}  // namespace curator::auth
