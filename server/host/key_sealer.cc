#include "host/key_sealer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/status_macros.h"
#include "host/entropy.h"

namespace curator::host {
namespace {

constexpr char kVersion = 1;
constexpr size_t kSaltSize = 32;
constexpr size_t kTagSize = 16;
constexpr size_t kSealedSize = 1 + kSaltSize + dp::DrawKey::kSize + kTagSize;
// The key of each seal is used once, so its nonce may be constant.
constexpr std::array<unsigned char, 12> kNonce{};

struct CipherDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, CipherDeleter>;

[[noreturn]] void DieOfOpenssl() {
  std::fputs("curator: AES-256-GCM failed\n", stderr);
  std::abort();
}

void Require(int openssl_result) {
  if (openssl_result != 1) DieOfOpenssl();
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

Cipher NewCipher() {
  Cipher cipher(EVP_CIPHER_CTX_new());
  if (cipher == nullptr) DieOfOpenssl();
  return cipher;
}

}  // namespace

absl::StatusOr<KeySealer> KeySealer::OpenOrCreate(const std::string& path) {
  ASSIGN_OR_RETURN(const ServerKey server_key, ServerKey::OpenOrCreate(path));
  return KeySealer(server_key);
}

KeySealer::KeySealer(const ServerKey& server_key)
    : sealing_key_(server_key.Derive("seal draw keys, version 1")) {}

std::string KeySealer::Seal(const dp::DrawKey& key, std::string_view context) const {
  std::array<uint8_t, kSaltSize> salt;
  FillWithEntropy(salt);
  std::string sealed(1, kVersion);
  sealed.append(reinterpret_cast<const char*>(salt.data()), salt.size());
  const Secret seal_key = Derive(sealing_key_, std::string_view(sealed).substr(1, kSaltSize));
  sealed.resize(kSealedSize);

  const Cipher cipher = NewCipher();
  unsigned char* const ciphertext = Bytes(sealed) + 1 + kSaltSize;
  int written = 0;
  Require(
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, seal_key.bytes().data(), kNonce.data()));
  Require(
      EVP_EncryptUpdate(cipher.get(), nullptr, &written, Bytes(context), static_cast<int>(context.size())));
  Require(EVP_EncryptUpdate(cipher.get(), ciphertext, &written, key.bytes().data(), dp::DrawKey::kSize));
  Require(EVP_EncryptFinal_ex(cipher.get(), ciphertext + written, &written));
  Require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagSize, ciphertext + dp::DrawKey::kSize));
  return sealed;
}

absl::StatusOr<dp::DrawKey> KeySealer::Unseal(std::string_view sealed, std::string_view context) const {
  const absl::Status bad_seal = absl::DataLossError("a sealed draw key cannot be opened");
  if (sealed.size() != kSealedSize || sealed[0] != kVersion) return bad_seal;
  const Secret seal_key = Derive(sealing_key_, sealed.substr(1, kSaltSize));

  const Cipher cipher = NewCipher();
  const unsigned char* const ciphertext = Bytes(sealed) + 1 + kSaltSize;
  std::string tag(sealed.substr(kSealedSize - kTagSize));
  dp::DrawKey::Bytes opened;
  int written = 0;
  Require(
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, seal_key.bytes().data(), kNonce.data()));
  Require(
      EVP_DecryptUpdate(cipher.get(), nullptr, &written, Bytes(context), static_cast<int>(context.size())));
  Require(EVP_DecryptUpdate(cipher.get(), opened.data(), &written, ciphertext, dp::DrawKey::kSize));
  Require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagSize, tag.data()));
  const bool authentic = EVP_DecryptFinal_ex(cipher.get(), opened.data() + written, &written) == 1;
  const dp::DrawKey key(opened);
  OPENSSL_cleanse(opened.data(), opened.size());
  if (!authentic) return bad_seal;
  return key;
}

}  // namespace curator::host
