// The server's own secret, 32 random bytes in a file outside the ledger, and the cryptography under it: keyed
// hashes of private content, sealed draw keys, signed receipts. Each use has a key of its own, derived from
// the secret.
//
// With this file and the ledger an attacker can repeat draws that have not been stored yet, test guesses of a
// private table against its content hash, and forge receipts: guard it like the data.
//
// Where OpenSSL fails, which it does here only without memory, the process aborts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/noise/bit_source.h"

struct evp_pkey_st;

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
  // Reads the key at `path`, or creates one there: mode 0600, durable before this returns, and never visible
  // in part (two servers that start together read the same key). Errors:
  //   FAILED_PRECONDITION  not a regular file, owned by another user, or accessible to its group or others
  //   DATA_LOSS            not the length of a key
  //   UNAVAILABLE          cannot be read or written
  static absl::StatusOr<ServerKey> OpenOrCreate(const std::string& path);

  // The server's key for one purpose.
  Secret Derive(std::string_view purpose) const { return host::Derive(secret_, purpose); }

 private:
  explicit ServerKey(const Secret& secret) : secret_(secret) {}

  Secret secret_;
};

// ---- Keyed hashes

// Anyone who knows all records but one could use a plain hash to confirm a guess of the last one. A keyed
// hash prevents that and is still never exported: it recognises equal content inside the server.

using HashBytes = std::array<uint8_t, 32>;

// HMAC-SHA-256 over content that arrives in pieces. Not thread-safe.
class KeyedHash {
 public:
  // `purpose` separates the hashes of different kinds of content ("table content").
  KeyedHash(const ServerKey& server_key, std::string_view purpose);
  ~KeyedHash();
  KeyedHash(KeyedHash&&) noexcept;
  KeyedHash& operator=(KeyedHash&&) noexcept;

  void Update(std::span<const uint8_t> bytes);
  void Update(std::string_view bytes);

  // The hash of everything so far. Call it once, last.
  HashBytes Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// ---- Sealed draw keys

// Seals draw keys for storage in the ledger, so that this server can repeat an interrupted draw and the
// ledger alone reveals no key. Immutable and thread-safe.
//
// AES-256-GCM. Each seal uses a key of its own, derived from a random 32-byte salt that is stored with it, so
// the number of seals is not bounded as it would be for random 96-bit nonces under one key.
class KeySealer {
 public:
  // Errors: those of ServerKey::OpenOrCreate().
  static absl::StatusOr<KeySealer> OpenOrCreate(const std::string& path);

  explicit KeySealer(const ServerKey& server_key);

  // The sealed form: version, salt, ciphertext, tag (81 bytes, binary). `context` (the draw's identity)
  // is authenticated, not stored.
  std::string Seal(const dp::DrawKey& key, std::string_view context) const;

  // The key that was sealed. Errors: DATA_LOSS when `sealed` was made under another server key or for another
  // context, or was altered; the message does not distinguish these.
  absl::StatusOr<dp::DrawKey> Unseal(std::string_view sealed, std::string_view context) const;

 private:
  Secret sealing_key_;
};

// The key of the draw's bits: HKDF-SHA-256 (RFC 5869) without salt of `key`, which was sealed into the
// charge, with `identity` (codec/draw_identity.h) as info. So draws of different identities have independent
// bits, even from one sealed key.
dp::DrawKey DeriveDrawKey(const dp::DrawKey& key, std::string_view identity);

// ---- Receipts

// Signs receipts by Ed25519 (RFC 8032). The key is derived from the server's secret, so it needs no further
// file, and servers that share a secret sign alike. Immutable and thread-safe.
class ReceiptSigner {
 public:
  explicit ReceiptSigner(const ServerKey& server_key);

  // 64 bytes; deterministic.
  std::string Sign(std::string_view text) const;

  // 32 bytes.
  const std::string& public_key() const { return public_key_; }

 private:
  // OpenSSL's, made once: that takes longer than a signature.
  std::shared_ptr<evp_pkey_st> key_;
  std::string public_key_;
};

// Whether `signature` of `text` was made with the private key of `public_key`. False for malformed arguments.
bool IsSignedBy(std::string_view public_key, std::string_view text, std::string_view signature);

}  // namespace curator::host
