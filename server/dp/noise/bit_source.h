// Random bits: the source that is injected into every sampler (the server passes a Drbg keyed for one
// release, tests pass a source of their own), the key of a release, and buffered reading of words and bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/int128.h"

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

// Random words read from a BitSource in blocks and returned one by one, as words, bits or bounded integers:
// for the samplers of dp/noise. Made for one call of a sampler. Not thread-safe. Unused words are discarded;
// the destructor wipes all words.
class BitBuffer {
 public:
  // `source` must outlive the buffer. `expected_words`: roughly how many words the caller will need; sets the
  // size of a block and nothing else.
  BitBuffer(BitSource& source, size_t expected_words)
      : source_(source), block_(std::clamp<size_t>(expected_words, 1, kMaxBlock)) {}
  ~BitBuffer();
  BitBuffer(const BitBuffer&) = delete;
  BitBuffer& operator=(const BitBuffer&) = delete;

  uint64_t NextWord() {
    if (next_ == end_) Refill();
    return words_[next_++];
  }

  // 0 or 1; one word supplies 64 bits.
  uint64_t NextBit() {
    if (bits_left_ == 0) {
      bits_ = NextWord();
      bits_left_ = 64;
    }
    const uint64_t bit = bits_ & 1;
    bits_ >>= 1;
    --bits_left_;
    return bit;
  }

  // Uniform over 0..bound - 1, exactly, for bound >= 1: multiply and reject (Lemire 2019, "Fast Random
  // Integer Generation in an Interval", algorithm 5). The high half of word * bound takes each value for
  // equally many words once the words whose low half is below 2^64 mod bound are rejected.
  uint64_t NextBelow(uint64_t bound) {
    auto product = static_cast<Uint128>(NextWord()) * bound;
    if (static_cast<uint64_t>(product) < bound) {
      const uint64_t rejected = (0 - bound) % bound;
      while (static_cast<uint64_t>(product) < rejected) {
        product = static_cast<Uint128>(NextWord()) * bound;
      }
    }
    return static_cast<uint64_t>(product >> 64);
  }

 private:
  static constexpr size_t kMaxBlock = 512;

  void Refill();

  BitSource& source_;
  size_t block_;
  size_t next_ = 0;
  size_t end_ = 0;
  uint64_t bits_ = 0;
  int bits_left_ = 0;
  std::array<uint64_t, kMaxBlock> words_;
};

}  // namespace curator::dp
