// Bits that tests choose. The product has nothing of this kind: its keys come from the operating system alone
// (tests/no_seed_symbol.sh looks for this namespace in the server's binary).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/noise/bit_source.h"
#include "dp/noise/drbg.h"

namespace curator::seeded {

// A key made from a number: the same for ever.
dp::DrawKey SeededKey(uint64_t seed);

// The stream of SeededKey(seed).
class SeededBits : public dp::BitSource {
 public:
  explicit SeededBits(uint64_t seed) : drbg_(SeededKey(seed)) {}

  void Fill(std::span<uint64_t> words) override { drbg_.Fill(words); }

 private:
  dp::Drbg drbg_;
};

// The given words first, then the stream of SeededKey(0). Counts what is taken.
class ScriptedBits : public dp::BitSource {
 public:
  explicit ScriptedBits(std::vector<uint64_t> script) : script_(std::move(script)) {}

  void Fill(std::span<uint64_t> words) override;

  size_t taken() const { return taken_; }

 private:
  std::vector<uint64_t> script_;
  SeededBits rest_{0};
  size_t taken_ = 0;
};

}  // namespace curator::seeded
