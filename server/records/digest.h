// SHA-256 of bytes that come piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace curator::records {

inline constexpr size_t kDigestBytes = 32;

// Not thread-safe. Ends the process when the library has no SHA-256 or no memory.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;

  void Add(std::span<const std::byte> bytes);
  void Add(std::string_view bytes) { Add(std::as_bytes(std::span(bytes))); }

  // The digest of everything added, kDigestBytes long. Nothing may be added afterwards.
  std::string Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace curator::records
