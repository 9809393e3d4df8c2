// Memory that can be made unreachable: pages of their own, readable only while somebody says so.
//
// A stray pointer, a use after free or an overlong read elsewhere in the process then ends in a fault instead
// of in a leak. The pages are left out of core dumps.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

namespace curator::dp {

// Of the pages that Linux maps where large ones are asked for.
inline constexpr size_t kLargePageBytes = size_t{1} << 21;

// Thread-safe after Seal(). Cannot be moved or copied: its owner holds it by pointer.
class ProtectedPages {
 public:
  // Writable pages for at least `bytes` bytes, zeroed. RESOURCE_EXHAUSTED when the system gives none.
  static absl::StatusOr<std::unique_ptr<ProtectedPages>> Allocate(size_t bytes);
  ~ProtectedPages();
  ProtectedPages(const ProtectedPages&) = delete;
  ProtectedPages& operator=(const ProtectedPages&) = delete;

  // To be filled before Seal().
  std::span<std::byte> bytes() { return {start_, size_}; }
  std::span<const std::byte> bytes() const { return {start_, size_}; }

  // From here on the pages can be neither read nor written, except between AllowReading() and
  // ForbidReading(), which may nest and overlap on several threads. All three end the process when the system
  // refuses.
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
