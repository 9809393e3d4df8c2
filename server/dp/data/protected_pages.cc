#include "dp/data/protected_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>

namespace curator::dp {
namespace {

// Changing the protection of pages takes time for each of them, and each draw does it twice: so all but the
// smallest tables lie in large pages, even if they do not fill one.
constexpr size_t kSmallPageBytes = size_t{1} << 12;
constexpr size_t kMostInSmallPages = size_t{1} << 16;

size_t RoundedUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::byte* Map(size_t size) {
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start);
}

// Maps more than needed and unmaps the parts outside of whole large pages.
std::byte* MapAligned(size_t size, size_t alignment) {
  std::byte* const mapped = Map(size + alignment);
  if (mapped == nullptr) return nullptr;
  const size_t past = reinterpret_cast<uintptr_t>(mapped) % alignment;
  const size_t before = past == 0 ? 0 : alignment - past;
  if (before > 0) munmap(mapped, before);
  if (before < alignment) munmap(mapped + before + size, alignment - before);
  return mapped + before;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProtectedPages>> ProtectedPages::Allocate(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2)
    return absl::ResourceExhaustedError("a table too large for memory");
  const bool large = bytes > kMostInSmallPages;
  const size_t size = RoundedUp(bytes == 0 ? 1 : bytes, large ? kLargePageBytes : kSmallPageBytes);
  std::byte* const start = large ? MapAligned(size, kLargePageBytes) : Map(size);
  if (start == nullptr) return absl::ResourceExhaustedError("no memory for a table");
  // Both are hints that the system may ignore.
  madvise(start, size, MADV_DONTDUMP);
  if (large) madvise(start, size, MADV_HUGEPAGE);
  return std::unique_ptr<ProtectedPages>(new ProtectedPages(start, size));
}

ProtectedPages::~ProtectedPages() {
  munmap(start_, size_);
}

void ProtectedPages::Seal() {
  const std::lock_guard lock(mutex_);
  if (readers_ == 0) Protect(PROT_NONE);
}

void ProtectedPages::AllowReading() {
  const std::lock_guard lock(mutex_);
  if (readers_++ == 0) Protect(PROT_READ);
}

void ProtectedPages::ForbidReading() {
  const std::lock_guard lock(mutex_);
  if (--readers_ == 0) Protect(PROT_NONE);
}

void ProtectedPages::Protect(int protection) {
  if (mprotect(start_, size_, protection) != 0) std::abort();
}

}  // namespace curator::dp
