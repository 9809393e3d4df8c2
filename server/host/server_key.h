// The server's own secret: 32 random bytes in a file outside the ledger, from which the keys for each purpose
// are derived.
//
// Whoever holds this file and the ledger can repeat draws that have not been stored yet, and can test guesses
// of a private table against its content hash: guard it like the data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::host {

inline constexpr size_t kSecretSize = 32;

// 32 secret bytes, wiped when destroyed.
class Secret {
 public:
  using Bytes = std::array<uint8_t, kSecretSize>;

  explicit Secret(const Bytes& bytes) : bytes_(bytes) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();

  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

// The key for one purpose: HMAC-SHA-256 of `purpose` under `key`. Keys of different purposes are independent.
Secret Derive(const Secret& key, std::string_view purpose);

// Immutable and thread-safe.
class ServerKey {
 public:
  // Reads the key at `path`, or makes a new one there: mode 0600, durable before this returns, and whole for
  // whoever else opens it meanwhile (of two servers that start together both read the same key). Errors:
  // FAILED_PRECONDITION when the file is no regular file, belongs to another user, or can be read or written
  // by its group or by others; DATA_LOSS when it has not the length of a key; UNAVAILABLE when it cannot be
  // read or written.
  static absl::StatusOr<ServerKey> OpenOrCreate(const std::string& path);

  // The server's key for one purpose.
  Secret Derive(std::string_view purpose) const { return host::Derive(secret_, purpose); }

 private:
  explicit ServerKey(const Secret& secret) : secret_(secret) {}

  Secret secret_;
};

}  // namespace curator::host
