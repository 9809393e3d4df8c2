#include "auth/testing/test_keys.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace curator::auth {
namespace {

std::shared_ptr<EVP_PKEY> NewKey(std::string_view type) {
  EVP_PKEY* key = nullptr;
  if (type == "RSA 2048") key = EVP_RSA_gen(2048);
  if (type == "RSA 1024") key = EVP_RSA_gen(1024);
  if (type == "P-256" || type == "P-384") key = EVP_EC_gen(std::string(type).c_str());
  if (type == "Ed25519") key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  if (key == nullptr) std::abort();
  return {key, EVP_PKEY_free};
}

std::string NumberOf(EVP_PKEY& key, const char* name, int bytes) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(&key, name, &number) != 1) std::abort();
  std::string text(static_cast<size_t>(bytes == 0 ? BN_num_bytes(number) : bytes), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(text.data()), static_cast<int>(text.size()));
  BN_free(number);
  return text;
}

// r and s, of 32 bytes each.
std::string RawSignature(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* const pair = d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size()));
  std::string raw(64, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(raw.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(pair), out, 32);
  BN_bn2binpad(ECDSA_SIG_get0_s(pair), out + 32, 32);
  ECDSA_SIG_free(pair);
  return raw;
}

}  // namespace

std::string Base64Url(std::string_view bytes) {
  return absl::WebSafeBase64Escape(std::string(bytes));
}

TestKey::TestKey(std::string_view type, std::string kid, std::string algorithm)
    : kid_(std::move(kid)), algorithm_(std::move(algorithm)), key_(NewKey(type)) {}

nlohmann::json TestKey::Jwk() const {
  nlohmann::json jwk = {{"kid", kid_}, {"alg", algorithm_}, {"use", "sig"}};
  EVP_PKEY& key = *key_;
  if (EVP_PKEY_is_a(&key, "RSA") == 1) {
    jwk["kty"] = "RSA";
    jwk["n"] = Base64Url(NumberOf(key, OSSL_PKEY_PARAM_RSA_N, 0));
    jwk["e"] = Base64Url(NumberOf(key, OSSL_PKEY_PARAM_RSA_E, 0));
  } else if (EVP_PKEY_is_a(&key, "EC") == 1) {
    const bool is_p256 = EVP_PKEY_get_bits(&key) == 256;
    jwk["kty"] = "EC";
    jwk["crv"] = is_p256 ? "P-256" : "P-384";
    jwk["x"] = Base64Url(NumberOf(key, OSSL_PKEY_PARAM_EC_PUB_X, is_p256 ? 32 : 48));
    jwk["y"] = Base64Url(NumberOf(key, OSSL_PKEY_PARAM_EC_PUB_Y, is_p256 ? 32 : 48));
  } else {
    std::string raw(32, '\0');
    size_t length = raw.size();
    EVP_PKEY_get_raw_public_key(&key, reinterpret_cast<unsigned char*>(raw.data()), &length);
    jwk["kty"] = "OKP";
    jwk["crv"] = "Ed25519";
    jwk["x"] = Base64Url(raw);
  }
  return jwk;
}

std::string TestKey::Sign(std::string_view text) const {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  EVP_PKEY_CTX* key_context = nullptr;
  const bool is_ed25519 = EVP_PKEY_is_a(key_.get(), "ED25519") == 1;
  EVP_DigestSignInit(context, &key_context, is_ed25519 ? nullptr : EVP_sha256(), nullptr, key_.get());
  if (algorithm_ == "PS256") {
    EVP_PKEY_CTX_set_rsa_padding(key_context, RSA_PKCS1_PSS_PADDING);
    EVP_PKEY_CTX_set_rsa_pss_saltlen(key_context, RSA_PSS_SALTLEN_DIGEST);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t length = 0;
  EVP_DigestSign(context, nullptr, &length, bytes, text.size());
  std::string signature(length, '\0');
  if (EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &length, bytes,
                     text.size()) != 1) {
    std::abort();
  }
  signature.resize(length);
  EVP_MD_CTX_free(context);
  return EVP_PKEY_is_a(key_.get(), "EC") == 1 ? RawSignature(signature) : signature;
}

std::string TestKey::PublicPem() const {
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PUBKEY(bio, key_.get());
  char* text = nullptr;
  const long length = BIO_get_mem_data(bio, &text);
  std::string pem(text, static_cast<size_t>(length));
  BIO_free(bio);
  return pem;
}

std::string TestKey::Token(const nlohmann::json& claims, const nlohmann::json& header) const {
  nlohmann::json whole = {{"alg", algorithm_}, {"kid", kid_}, {"typ", "JWT"}};
  whole.merge_patch(header);
  const std::string text = absl::StrCat(Base64Url(whole.dump()), ".", Base64Url(claims.dump()));
  return absl::StrCat(text, ".", Base64Url(Sign(text)));
}

std::string JwksOf(const std::vector<nlohmann::json>& keys) {
  return nlohmann::json{{"keys", keys}}.dump();
}

}  // namespace curator::auth
