// The random bit generator of one release: AES-256 in counter mode (the core of CTR_DRBG of NIST SP 800-90A,
// without reseeding, so that a release's draws are a function of its key).
//
// The SAME key gives the SAME words, on every machine: a draw that a crash interrupted is repeated bit for
// bit from its stored key. Under the assumption that AES-256 is a pseudorandom permutation, 2^b blocks can
// be distinguished from uniform bits with advantage at most 2^(2b - 128), so the guarantee of what is drawn
// from it is computational.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dp/noise/bit_source.h"

namespace curator::dp {

// Not thread-safe. After fork() the child's copy aborts the process at its first Fill() rather than repeat
// the parent's bits: the buffer lies in pages that the kernel wipes in a child (MADV_WIPEONFORK), and the
// process id is compared too, for kernels without it. Buffer and cipher state are zeroised on destruction and
// kept out of core dumps where possible. A few zeroised pages are kept for later generators.
class Drbg : public BitSource {
 public:
  explicit Drbg(const DrawKey& key);
  ~Drbg() override;
  Drbg(const Drbg&) = delete;
  Drbg& operator=(const Drbg&) = delete;

  void Fill(std::span<uint64_t> words) override;

 private:
  struct State;
  struct StateWiper {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, StateWiper> state_;
};

}  // namespace curator::dp
