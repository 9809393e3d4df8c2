#include "host/receipt_signer.h"

#include <openssl/evp.h>

#include <cstdlib>
#include <iostream>
#include <memory>

namespace curator::host {
namespace {

constexpr std::string_view kPurpose = "receipt signature";
constexpr size_t kPublicKeySize = 32;
constexpr size_t kSignatureSize = 64;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// The library fails here only without memory; a receipt that is not signed must not leave.
void RequireOpenSsl(bool done) {
  if (done) return;
  std::cerr << "curatord: the library cannot sign a receipt\n";
  std::abort();
}

Key PrivateKey(const Secret& seed) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.bytes().data(), seed.bytes().size()));
  RequireOpenSsl(key != nullptr);
  return key;
}

}  // namespace

ReceiptSigner::ReceiptSigner(const ServerKey& server_key)
    : seed_(server_key.Derive(kPurpose)), public_key_(kPublicKeySize, '\0') {
  size_t size = public_key_.size();
  RequireOpenSsl(EVP_PKEY_get_raw_public_key(PrivateKey(seed_).get(),
                                             reinterpret_cast<unsigned char*>(public_key_.data()),
                                             &size) == 1);
}

std::string ReceiptSigner::Sign(std::string_view text) const {
  const Key key = PrivateKey(seed_);
  const Context context(EVP_MD_CTX_new());
  std::string signature(kSignatureSize, '\0');
  size_t size = signature.size();
  RequireOpenSsl(context != nullptr);
  RequireOpenSsl(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  RequireOpenSsl(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                BytesOf(text), text.size()) == 1);
  return signature;
}

bool IsSignedBy(std::string_view public_key, std::string_view text, std::string_view signature) {
  if (public_key.size() != kPublicKeySize || signature.size() != kSignatureSize) return false;
  const Key key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, BytesOf(public_key), public_key.size()));
  const Context context(EVP_MD_CTX_new());
  if (key == nullptr || context == nullptr) return false;
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), BytesOf(signature), signature.size(), BytesOf(text), text.size()) ==
             1;
}

}  // namespace curator::host
