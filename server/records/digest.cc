#include "records/digest.h"

#include <openssl/evp.h>

#include <cstdlib>

namespace curator::records {

struct Digest::Context {
  EVP_MD_CTX* state = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(state); }
};

Digest::Digest() : context_(std::make_unique<Context>()) {
  if (context_->state == nullptr || EVP_DigestInit_ex(context_->state, EVP_sha256(), nullptr) != 1)
    std::abort();
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;

void Digest::Add(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(context_->state, bytes.data(), bytes.size()) != 1) std::abort();
}

std::string Digest::Finish() {
  std::string digest(kDigestBytes, '\0');
  if (EVP_DigestFinal_ex(context_->state, reinterpret_cast<unsigned char*>(digest.data()), nullptr) != 1)
    std::abort();
  return digest;
}

}  // namespace curator::records
