// Uniform and normal doubles for the draws of synthetic groups.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dp/noise/bit_source.h"

namespace curator::dp {

// Doubles, uniform in [0, 1), from blocks of words. Not thread-safe.
class UniformDoubles {
 public:
  explicit UniformDoubles(BitSource& bits) : bits_(bits) {}
  double Next();
  double NextNormal();  // of mean 0 and variance 1
  size_t Below(size_t count) {
    return std::min(count - 1, static_cast<size_t>(Next() * static_cast<double>(count)));
  }

 private:
  BitSource& bits_;
  std::array<uint64_t, 256> words_{};
  size_t next_ = words_.size();
};

}  // namespace curator::dp
