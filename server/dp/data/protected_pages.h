// Memory whose pages can be made inaccessible, and readable again for a limited time.
//
// While they are inaccessible, a stray pointer, a use after free or an overlong read elsewhere in the process
// causes a fault instead of a leak. The pages are excluded from core dumps.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

namespace curator::dp {

// The size of a large (huge) page on Linux.
inline constexpr size_t kLargePageBytes = size_t{1} << 21;

// Thread-safe after Seal(). Neither movable nor copyable.
class ProtectedPages {
 public:
  // Writable, zeroed pages for at least `bytes` bytes. RESOURCE_EXHAUSTED when the system has no memory for
  // them.
  static absl::StatusOr<std::unique_ptr<ProtectedPages>> Allocate(size_t bytes);
  ~ProtectedPages();
  ProtectedPages(const ProtectedPages&) = delete;
  ProtectedPages& operator=(const ProtectedPages&) = delete;

  // To be written before Seal().
  std::span<std::byte> bytes() { return {start_, size_}; }
  std::span<const std::byte> bytes() const { return {start_, size_}; }

  // Afterwards the pages can be neither read nor written, except that they can be read between AllowReading()
  // and ForbidReading(), which may nest and overlap on several threads. All three abort the process when the
  // system call fails.
  void Seal();
  void AllowReading();
  void ForbidReading();

 private:
  ProtectedPages(std::byte* start, size_t size) : start_(start), size_(size) {}
  void Protect(int protection);  // with the mutex held

  std::byte* const start_;
  const size_t size_;
  std::mutex mutex_;
  int readers_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace curator::dp
