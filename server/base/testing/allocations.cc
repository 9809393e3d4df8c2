#include "base/testing/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace curator {
namespace {

thread_local int64_t allocations_left = -1;  // until the one that fails; negative when none does
thread_local bool has_failed = false;

std::atomic<int64_t> held = 0;
std::atomic<int64_t> most_held = 0;
std::atomic<int64_t> held_at_start = 0;

void Count(const void* memory) {
  const int64_t now = held += static_cast<int64_t>(malloc_usable_size(const_cast<void*>(memory)));
  int64_t most = most_held;
  while (now > most && !most_held.compare_exchange_weak(most, now)) {
  }
}

void Free(void* memory) {
  held -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

void* AllocateOrFail(size_t bytes, size_t alignment) {
  if (allocations_left >= 0 && allocations_left-- == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  const size_t whole = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  Count(memory);
  return memory;
}

}  // namespace

void FailAllocation(int64_t at) {
  has_failed = false;
  allocations_left = at;
}

bool StopFailing() {
  allocations_left = -1;
  return has_failed;
}

void StartCounting() {
  held_at_start = held.load();
  most_held = held.load();
}

int64_t MostHeld() {
  return most_held - held_at_start;
}

}  // namespace curator

void* operator new(size_t bytes) {
  return curator::AllocateOrFail(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return curator::AllocateOrFail(bytes, static_cast<size_t>(alignment));
}
// Replaced as well because a sanitizer would bring its own.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return curator::AllocateOrFail(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept {
  curator::Free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  curator::Free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  curator::Free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  curator::Free(memory);
}
