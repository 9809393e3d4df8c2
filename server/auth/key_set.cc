#include "auth/key_set.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "auth/openssl_pointers.h"
#include "auth/strict_json.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::auth {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kMostKeys = 100;
constexpr int kLeastRsaBits = 2048;
constexpr int kMostRsaBits = 8192;  // a larger one takes too long
constexpr size_t kEcBytes = 32;

struct NamedAlgorithm {
  std::string_view name;
  Algorithm algorithm;
};
constexpr std::array kAlgorithms = {
    NamedAlgorithm{"RS256", Algorithm::kRs256}, NamedAlgorithm{"PS256", Algorithm::kPs256},
    NamedAlgorithm{"ES256", Algorithm::kEs256}, NamedAlgorithm{"EdDSA", Algorithm::kEdDsa}};

using Builder = OpensslPointer<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Params = OpensslPointer<OSSL_PARAM, OSSL_PARAM_free>;
using KeyContext = OpensslPointer<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using DigestContext = OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free>;
using Number = OpensslPointer<BIGNUM, BN_free>;
using EcdsaSignature = OpensslPointer<ECDSA_SIG, ECDSA_SIG_free>;
using Key = std::shared_ptr<EVP_PKEY>;

Number NumberOf(std::string_view bytes) {
  return Number(BN_bin2bn(OpensslBytes(bytes), static_cast<int>(bytes.size()), nullptr));
}

// The text of a member; empty when it is missing or no text.
std::string TextOf(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The bytes of a member in base64url; empty when they are missing or malformed.
std::string BytesOf(const nlohmann::json& object, const char* member) {
  return DecodeBase64Url(TextOf(object, member)).value_or(std::string());
}

// A public key that OpenSSL accepts; null otherwise.
Key KeyFrom(const char* type, OSSL_PARAM* params) {
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* raw = nullptr;
  if (params == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &raw, EVP_PKEY_PUBLIC_KEY, params) != 1) {
    return nullptr;
  }
  Key key(raw, EVP_PKEY_free);
  const KeyContext check(EVP_PKEY_CTX_new_from_pkey(nullptr, raw, nullptr));
  return check != nullptr && EVP_PKEY_public_check(check.get()) == 1 ? key : nullptr;
}

Key RsaKey(const nlohmann::json& jwk) {
  const std::string n = BytesOf(jwk, "n");
  const std::string e = BytesOf(jwk, "e");
  if (n.empty() || e.empty() || n.size() > kMostRsaBits / 8) return nullptr;
  const Number modulus = NumberOf(n);
  const Number exponent = NumberOf(e);
  if (BN_num_bits(modulus.get()) < kLeastRsaBits) return nullptr;
  const Builder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  return KeyFrom("RSA", Params(OSSL_PARAM_BLD_to_param(builder.get())).get());
}

Key EcKey(const nlohmann::json& jwk) {
  const std::string x = BytesOf(jwk, "x");
  const std::string y = BytesOf(jwk, "y");
  if (TextOf(jwk, "crv") != "P-256" || x.size() != kEcBytes || y.size() != kEcBytes) return nullptr;
  const std::string point = absl::StrCat("\x04", x, y);
  const Builder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  return KeyFrom("EC", Params(OSSL_PARAM_BLD_to_param(builder.get())).get());
}

Key Ed25519Key(const nlohmann::json& jwk) {
  const std::string x = BytesOf(jwk, "x");
  if (TextOf(jwk, "crv") != "Ed25519" || x.size() != 32) return nullptr;
  return {EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, OpensslBytes(x), x.size()), EVP_PKEY_free};
}

std::string ThumbprintOf(EVP_PKEY& key, Algorithm algorithm) {
  unsigned char* der = nullptr;
  const int length = i2d_PUBKEY(&key, &der);
  const std::string bytes(reinterpret_cast<const char*>(der), static_cast<size_t>(std::max(0, length)));
  OPENSSL_free(der);
  return Sha256(absl::StrCat(std::string(NameOf(algorithm)), " ", bytes));
}

// The key of one member of a set; none for one that is not used here.
std::optional<VerificationKey> KeyOf(const nlohmann::json& jwk) {
  const std::string use = TextOf(jwk, "use");
  if (!use.empty() && use != "sig") return std::nullopt;
  const std::string type = TextOf(jwk, "kty");
  const std::string named = TextOf(jwk, "alg");
  Key key;
  std::string algorithm;
  if (type == "RSA") {
    algorithm = named.empty() ? "RS256" : named;
    if (algorithm != "RS256" && algorithm != "PS256") return std::nullopt;
    key = RsaKey(jwk);
  } else if (type == "EC") {
    algorithm = "ES256";
    key = EcKey(jwk);
  } else if (type == "OKP") {
    algorithm = "EdDSA";
    key = Ed25519Key(jwk);
  }
  if (key == nullptr || (!named.empty() && named != algorithm)) return std::nullopt;
  const Algorithm found = *FindAlgorithm(algorithm);
  std::string thumbprint = ThumbprintOf(*key, found);
  return VerificationKey(found, std::move(key), std::move(thumbprint));
}

// A JWS has r and s as 32 bytes each, OpenSSL wants them as DER. Empty for any other length.
std::string DerOf(std::string_view signature) {
  if (signature.size() != 2 * kEcBytes) return {};
  const EcdsaSignature pair(ECDSA_SIG_new());
  Number r = NumberOf(signature.substr(0, kEcBytes));
  Number s = NumberOf(signature.substr(kEcBytes));
  if (ECDSA_SIG_set0(pair.get(), r.release(), s.release()) != 1) return {};
  unsigned char* der = nullptr;
  const int length = i2d_ECDSA_SIG(pair.get(), &der);
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<size_t>(std::max(0, length)));
  OPENSSL_free(der);
  return bytes;
}

bool SetPss(EVP_PKEY_CTX* context) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

std::string_view NameOf(Algorithm algorithm) {
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm == algorithm) return named.name;
  }
  return "";
}

const Algorithm* FindAlgorithm(std::string_view name) {
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.name == name) return &named.algorithm;
  }
  return nullptr;
}

bool VerificationKey::Verifies(std::string_view text, std::string_view signature) const {
  const DigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* key_context = nullptr;  // the digest context's own
  const EVP_MD* const digest = algorithm_ == Algorithm::kEdDsa ? nullptr : EVP_sha256();
  if (EVP_DigestVerifyInit(context.get(), &key_context, digest, nullptr, key_.get()) != 1) return false;
  if (algorithm_ == Algorithm::kPs256 && !SetPss(key_context)) return false;
  const std::string der = algorithm_ == Algorithm::kEs256 ? DerOf(signature) : std::string();
  const std::string_view signed_by = algorithm_ == Algorithm::kEs256 ? std::string_view(der) : signature;
  if (signed_by.empty()) return false;
  return EVP_DigestVerify(context.get(), OpensslBytes(signed_by), signed_by.size(), OpensslBytes(text),
                          text.size()) == 1;
}

absl::StatusOr<KeySet> KeySet::Parse(std::string_view json) {
  if (json.size() > kMostBytes) return absl::InvalidArgumentError("the key set has more than 1 MiB");
  ASSIGN_OR_RETURN(const nlohmann::json document, ParseStrictJson(json));
  const auto keys = document.is_object() ? document.find("keys") : document.end();
  if (keys == document.end() || !keys->is_array() || keys->size() > kMostKeys) {
    return absl::InvalidArgumentError("a key set is an object with the array \"keys\" of at most 100 keys");
  }
  KeySet set;
  for (const nlohmann::json& jwk : *keys) {
    const std::string kid = jwk.is_object() ? TextOf(jwk, "kid") : std::string();
    std::optional<VerificationKey> key = kid.empty() ? std::nullopt : KeyOf(jwk);
    if (!key.has_value()) {
      ++set.left_out_;
      continue;
    }
    if (!set.keys_.emplace(kid, *std::move(key)).second) {
      return absl::InvalidArgumentError(absl::StrCat("two keys have the id \"", kid, "\""));
    }
  }
  if (!set.keys_.empty()) return set;
  return absl::InvalidArgumentError(
      "no key can be used: wanted are keys with an id, of RSA (2048 to 8192 bits), P-256 or Ed25519");
}

const VerificationKey* KeySet::Find(std::string_view kid) const {
  const auto found = keys_.find(kid);
  return found == keys_.end() ? nullptr : &found->second;
}

bool KeySet::HasThumbprint(std::string_view thumbprint) const {
  return std::ranges::any_of(keys_, [&](const auto& each) { return each.second.thumbprint() == thumbprint; });
}

absl::StatusOr<std::string> DecodeBase64Url(std::string_view text) {
  std::string bytes;
  const bool is_decoded = absl::WebSafeBase64Unescape(std::string(text), &bytes);
  // Abseil accepts padding, blanks and trailing bits.
  if (is_decoded && absl::WebSafeBase64Escape(bytes) == text) return bytes;
  return absl::InvalidArgumentError("not canonical base64url");
}

}  // namespace curator::auth
