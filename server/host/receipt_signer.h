// Signs receipts, and checks what was signed: Ed25519 (RFC 8032) by OpenSSL.
//
// The key is derived from the server's secret, so there is no further file to keep, and servers that share a
// secret sign alike. Whoever has the secret can forge receipts; the public key is for everybody.
#pragma once

#include <string>
#include <string_view>

#include "host/server_key.h"

namespace curator::host {

// Immutable and thread-safe.
class ReceiptSigner {
 public:
  explicit ReceiptSigner(const ServerKey& server_key);

  // 64 bytes; the same for the same text.
  std::string Sign(std::string_view text) const;

  // 32 bytes.
  const std::string& public_key() const { return public_key_; }

 private:
  Secret seed_;
  std::string public_key_;
};

// Whether `signature` of `text` was made with the private half of `public_key`. False for malformed ones.
bool IsSignedBy(std::string_view public_key, std::string_view text, std::string_view signature);

}  // namespace curator::host
