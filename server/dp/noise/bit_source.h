// The source of random bits, injected into every sampler: the server passes a Drbg keyed for one release,
// tests pass a source of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace curator::dp {

// Not thread-safe: one release, one thread, one source.
class BitSource {
 public:
  virtual ~BitSource() = default;

  // Fills `words` with independent uniform 64-bit words. Cannot fail: a source that cannot supply good
  // bits aborts the process rather than return bad ones.
  virtual void Fill(std::span<uint64_t> words) = 0;
};

// The secret that determines every draw of one release (see drbg.h). Fresh from the operating system for
// each release (host/entropy.h), stored only sealed (host/key_sealer.h), wiped when destroyed.
class DrawKey {
 public:
  static constexpr size_t kSize = 32;
  using Bytes = std::array<uint8_t, kSize>;

  explicit DrawKey(const Bytes& bytes) : bytes_(bytes) {}
  DrawKey(const DrawKey&) = default;
  DrawKey& operator=(const DrawKey&) = default;
  ~DrawKey();

  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace curator::dp
