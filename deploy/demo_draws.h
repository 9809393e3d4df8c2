// The draws of the demonstration's tables: the same numbers on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

namespace curator::demo {

// Integer draws from a generator whose output the standard fixes. One draw a statement: C++ does not order
// the draws inside an expression.
class Draws {
 public:
  explicit Draws(uint64_t seed) : bits_(seed) {}

  // Uniform on 0 .. bound-1, exactly: values above the largest multiple of `bound` are drawn again.
  int Below(int bound) {
    const uint64_t range = static_cast<uint64_t>(bound);
    const uint64_t end = UINT64_MAX - UINT64_MAX % range;
    uint64_t value = bits_();
    while (value >= end) value = bits_();
    return static_cast<int>(value % range);
  }

  int Between(int low, int high) { return low + Below(high - low + 1); }

  // True in `per_thousand` of a thousand cases.
  bool Happens(int per_thousand) { return Below(1000) < per_thousand; }

  // An index, with probability proportional to its weight.
  template <size_t n>
  int Weighted(const std::array<int, n>& weights) {
    int total = 0;
    for (const int weight : weights) total += weight;
    int left = Below(total);
    int index = 0;
    while (left >= weights[static_cast<size_t>(index)]) left -= weights[static_cast<size_t>(index++)];
    return index;
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace curator::demo
