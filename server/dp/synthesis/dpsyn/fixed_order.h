// A fixed sequence that looks arbitrary: breaks ties and shuffles public things, the same way on every
// machine. It protects nothing, and nothing about privacy rests on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/int128.h"
#include "dp/noise/bit_source.h"

namespace curator::dp {

// Steele, Lea, Flood 2014 (SplitMix64). Not thread-safe.
class FixedOrder : public BitSource {
 public:
  explicit FixedOrder(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
  }

  // From 0 to count - 1, count >= 1.
  size_t Below(size_t count) { return static_cast<size_t>(static_cast<Uint128>(Next()) * count >> 64); }

  // For what asks for bits and needs none that are private: records drawn from public views.
  void Fill(std::span<uint64_t> words) override {
    for (uint64_t& word : words) word = Next();
  }

  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace curator::dp
