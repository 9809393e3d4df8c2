#include "dp/data/zeroed_numbers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "dp/data/protected_pages.h"

namespace curator::dp {

ZeroedNumbers::ZeroedNumbers(size_t count)
    : count_(count), mapped_bytes_(0), memory_(nullptr), start_(nullptr) {
  const size_t bytes = count * sizeof(uint32_t);
  if (bytes < kLargePageBytes / 2) {
    memory_ = std::calloc(std::max(count, size_t{1}), sizeof(uint32_t));
    if (memory_ == nullptr) throw std::bad_alloc();
    start_ = static_cast<uint32_t*>(memory_);
    return;
  }
  // What lies before the first whole large page, and behind the last number, is never touched.
  mapped_bytes_ = bytes + 2 * kLargePageBytes;
  memory_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  madvise(memory_, mapped_bytes_, MADV_HUGEPAGE);  // where the system cannot, small pages do
  const size_t before = kLargePageBytes - reinterpret_cast<uintptr_t>(memory_) % kLargePageBytes;
  start_ = reinterpret_cast<uint32_t*>(static_cast<std::byte*>(memory_) + before);
}

ZeroedNumbers::~ZeroedNumbers() {
  if (mapped_bytes_ > 0) {
    munmap(memory_, mapped_bytes_);
  } else {
    std::free(memory_);
  }
}

ZeroedNumbers::ZeroedNumbers(ZeroedNumbers&& other) noexcept
    : count_(std::exchange(other.count_, 0)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      memory_(std::exchange(other.memory_, nullptr)),
      start_(std::exchange(other.start_, nullptr)) {}

}  // namespace curator::dp
