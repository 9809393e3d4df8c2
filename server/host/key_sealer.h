// Seals draw keys for storage in the ledger, so that a crashed draw can be repeated by this server and by
// nobody who holds the ledger alone.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/noise/bit_source.h"
#include "host/server_key.h"

namespace curator::host {

// Immutable and thread-safe.
//
// AES-256-GCM. Each seal uses a key of its own, derived from a random 32-byte salt that is stored with it, so
// that there is no bound on the number of seals as there would be for random 96-bit nonces under one key.
class KeySealer {
 public:
  // Errors: those of ServerKey::OpenOrCreate().
  static absl::StatusOr<KeySealer> OpenOrCreate(const std::string& path);

  explicit KeySealer(const ServerKey& server_key);

  // The sealed form: version, salt, ciphertext, tag (81 bytes, binary). `context` (the charge's fingerprint)
  // is authenticated, not stored.
  std::string Seal(const dp::DrawKey& key, std::string_view context) const;

  // The key that was sealed. Errors: DATA_LOSS when `sealed` was made by another server key or for another
  // context, or was altered; nothing more is said about which.
  absl::StatusOr<dp::DrawKey> Unseal(std::string_view sealed, std::string_view context) const;

 private:
  Secret sealing_key_;
};

}  // namespace curator::host
