// Arrays of zeros, large ones in large pages where the system has them: for counters, which are read and
// written all over the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace curator::dp {

// Not thread-safe; numbers handed out are valid while it lives.
class ZeroedNumbers {
 public:
  // Throws std::bad_alloc, as a vector of so many numbers would.
  explicit ZeroedNumbers(size_t count);
  ~ZeroedNumbers();
  ZeroedNumbers(ZeroedNumbers&& other) noexcept;
  ZeroedNumbers& operator=(ZeroedNumbers&& other) = delete;

  std::span<uint32_t> numbers() { return {start_, count_}; }

 private:
  size_t count_;
  size_t mapped_bytes_;  // 0 where they come from the heap
  void* memory_;
  uint32_t* start_;
};

}  // namespace curator::dp
