// Tokens that no verifier may accept, for an issuer with these keys: given to the verifier itself, and to a
// running server.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "auth/testing/test_keys.h"

namespace curator::auth {

// Of an issuer, and of strangers. Made once: an RSA key takes a tenth of a second.
struct TokenKeys {
  TestKey rsa{"RSA 2048", "rsa", "RS256"};
  TestKey pss{"RSA 2048", "pss", "PS256"};
  TestKey ec{"P-256", "ec", "ES256"};
  TestKey ed{"Ed25519", "ed", "EdDSA"};
  // Published, but not used: too weak, of another curve, for encryption.
  TestKey weak{"RSA 1024", "weak", "RS256"};
  TestKey large_curve{"P-384", "p384", "ES256"};
  TestKey encryption{"RSA 2048", "enc", "RS256"};
  // Not the issuer's, under the id of one that is.
  TestKey stranger{"RSA 2048", "rsa", "RS256"};

  static const TokenKeys& Shared();
  // The members of the issuer's key set.
  std::vector<nlohmann::json> Published() const;
};

struct ForgedToken {
  std::string name;
  std::string token;
  std::string reason = "TOKEN_INVALID";  // that its holder is told
};

// Each is `claims`, which are right, with one thing that is not; `now` is in seconds since 1970. What is too
// early or too late is so by `beyond` seconds, of which a verifier allows 60.
std::vector<ForgedToken> ForgedTokens(const TokenKeys& keys, const nlohmann::json& claims, int64_t now,
                                      int64_t beyond = 61);

}  // namespace curator::auth
