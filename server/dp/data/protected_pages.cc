#include "dp/data/protected_pages.h"

#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <memory>

namespace curator::dp {
namespace {

// Of a large page, so that changing the protection of a large table touches few entries.
constexpr size_t kPageBytes = size_t{1} << 21;
constexpr size_t kSmallPageBytes = size_t{1} << 12;

size_t RoundedUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProtectedPages>> ProtectedPages::Allocate(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2)
    return absl::ResourceExhaustedError("a table too large for memory");
  const size_t size = RoundedUp(bytes == 0 ? 1 : bytes, bytes < kPageBytes ? kSmallPageBytes : kPageBytes);
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return absl::ResourceExhaustedError("no memory for a table");
  madvise(start, size, MADV_DONTDUMP);
  if (size >= kPageBytes) madvise(start, size, MADV_HUGEPAGE);
  return std::unique_ptr<ProtectedPages>(new ProtectedPages(static_cast<std::byte*>(start), size));
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
