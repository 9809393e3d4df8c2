// An issuer's keys in a test: made by OpenSSL, published as a key set, and used to sign tokens, right ones
// and forged ones.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;

namespace curator::auth {

class TestKey {
 public:
  // "RSA 2048", "RSA 1024", "P-256", "P-384", "Ed25519". `algorithm` is what it signs by, and what its JWK
  // says.
  TestKey(std::string_view type, std::string kid, std::string algorithm);

  const std::string& kid() const { return kid_; }
  // Its public half, as a member of a key set.
  nlohmann::json Jwk() const;
  // As a JWS has it.
  std::string Sign(std::string_view text) const;
  // The PEM of the public half: what a confused verifier would take for an HMAC key.
  std::string PublicPem() const;
  // The compact form of `claims`, with this key's header but for the members of `header`; null removes one.
  std::string Token(const nlohmann::json& claims,
                    const nlohmann::json& header = nlohmann::json::object()) const;

 private:
  std::string kid_;
  std::string algorithm_;
  std::shared_ptr<evp_pkey_st> key_;
};

// The text of a key set of these.
std::string JwksOf(const std::vector<nlohmann::json>& keys);

// base64url of the bytes.
std::string Base64Url(std::string_view bytes);

}  // namespace curator::auth
