// The public keys of an issuer of tokens: a JSON Web Key Set (RFC 7517).
//
// Used: RSA of at least 2048 bits (RS256, PS256), EC P-256 (ES256), Ed25519 (EdDSA). The key decides the
// algorithm (RFC 8725, 3.1): its "alg", or RS256 for an RSA key without one.
//
// Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct evp_pkey_st;

namespace curator::auth {

enum class Algorithm { kRs256, kPs256, kEs256, kEdDsa };

// "RS256". Null for an unknown name.
std::string_view NameOf(Algorithm algorithm);
const Algorithm* FindAlgorithm(std::string_view name);

class VerificationKey {
 public:
  VerificationKey(Algorithm algorithm, std::shared_ptr<evp_pkey_st> key, std::string thumbprint)
      : algorithm_(algorithm), key_(std::move(key)), thumbprint_(std::move(thumbprint)) {}

  Algorithm algorithm() const { return algorithm_; }
  // A hash of the key: two keys with one id have different ones.
  const std::string& thumbprint() const { return thumbprint_; }
  // Whether `signature`, as a JWS has it (RFC 7518), is this key's of `text`.
  bool Verifies(std::string_view text, std::string_view signature) const;

 private:
  Algorithm algorithm_;
  std::shared_ptr<evp_pkey_st> key_;
  std::string thumbprint_;
};

class KeySet {
 public:
  // Keys that are not for signatures, of other kinds, or too weak, are left out. INVALID_ARGUMENT for what is
  // no key set, for two keys with one id, and for one in which no key is left.
  static absl::StatusOr<KeySet> Parse(std::string_view json);

  // Null when there is none.
  const VerificationKey* Find(std::string_view kid) const;
  bool HasThumbprint(std::string_view thumbprint) const;
  size_t size() const { return keys_.size(); }
  size_t left_out() const { return left_out_; }

 private:
  std::map<std::string, VerificationKey, std::less<>> keys_;  // by id
  size_t left_out_ = 0;
};

// The bytes of canonical base64url without padding (RFC 7515): INVALID_ARGUMENT for any other text.
absl::StatusOr<std::string> DecodeBase64Url(std::string_view text);

}  // namespace curator::auth
