// Where random bits come from. Injected: the server passes a Drbg keyed for one release, tests pass what they
// like.
#pragma once

#include <cstdint>
#include <span>

namespace curator::dp {

// Not thread-safe: one release, one thread, one source.
class BitSource {
 public:
  virtual ~BitSource() = default;

  // Fills `words` with independent uniform 64-bit words. Cannot fail: a source that can no longer give good
  // bits ends the process rather than give bad ones.
  virtual void Fill(std::span<uint64_t> words) = 0;
};

}  // namespace curator::dp
