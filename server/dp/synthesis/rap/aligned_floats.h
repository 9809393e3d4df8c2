// Floats that start at a cache line, for loops that load whole vectors of them.
//
// A value type: copies copy. Not thread-safe while written to.
#pragma once

#include <cstddef>
#include <vector>

namespace curator::dp {

class AlignedFloats {
 public:
  static constexpr size_t kLine = 16;  // floats in a cache line

  AlignedFloats() = default;

  // `size` zeros, and room for more up to the end of the last line.
  explicit AlignedFloats(size_t size) : size_(size), lines_((size + kLine - 1) / kLine) {}

  size_t size() const { return size_; }
  float* data() { return reinterpret_cast<float*>(lines_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(lines_.data()); }
  float& operator[](size_t i) { return data()[i]; }
  float operator[](size_t i) const { return data()[i]; }

 private:
  struct alignas(kLine * sizeof(float)) Line {
    float floats[kLine] = {};
  };

  size_t size_ = 0;
  std::vector<Line> lines_;
};

}  // namespace curator::dp
