#include "host/keyed_hash.h"

#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace curator::host {
namespace {

void Require(bool done) {
  if (done) return;
  std::fputs("curator: HMAC-SHA-256 failed\n", stderr);
  std::abort();
}

}  // namespace

struct KeyedHash::Context {
  Context() : algorithm(EVP_MAC_fetch(nullptr, "HMAC", nullptr)), mac(EVP_MAC_CTX_new(algorithm)) {}
  ~Context() {
    EVP_MAC_CTX_free(mac);
    EVP_MAC_free(algorithm);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  EVP_MAC* algorithm;
  EVP_MAC_CTX* mac;
};

KeyedHash::KeyedHash(const ServerKey& server_key, std::string_view purpose)
    : context_(std::make_unique<Context>()) {
  const Secret key = server_key.Derive("keyed hash, version 1: " + std::string(purpose));
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                   OSSL_PARAM_construct_end()};
  Require(context_->mac != nullptr &&
          EVP_MAC_init(context_->mac, key.bytes().data(), key.bytes().size(), parameters) == 1);
}

KeyedHash::~KeyedHash() = default;
KeyedHash::KeyedHash(KeyedHash&&) noexcept = default;
KeyedHash& KeyedHash::operator=(KeyedHash&&) noexcept = default;

void KeyedHash::Update(std::span<const uint8_t> bytes) {
  Require(EVP_MAC_update(context_->mac, bytes.data(), bytes.size()) == 1);
}

void KeyedHash::Update(std::string_view bytes) {
  Update(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

HashBytes KeyedHash::Finish() {
  HashBytes hash;
  size_t size = 0;
  Require(EVP_MAC_final(context_->mac, hash.data(), &size, hash.size()) == 1 && size == hash.size());
  return hash;
}

}  // namespace curator::host
