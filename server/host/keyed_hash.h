// Hashes of private content that only this server can compute.
//
// A plain hash would let whoever knows all records but one confirm a guess of the last; this one is keyed,
// and is still never exported: it serves to recognise equal content inside the server.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "host/server_key.h"

namespace curator::host {

using HashBytes = std::array<uint8_t, 32>;

// One HMAC-SHA-256 being computed over content that arrives in pieces. Not thread-safe.
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

}  // namespace curator::host
