#include "service/testing/table_reads.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

namespace curator {
namespace {

std::atomic<int64_t> table_reads = 0;

}  // namespace

int64_t TableReads() {
  return table_reads;
}

}  // namespace curator

extern "C" int mprotect(void* start, size_t size, int protection) noexcept {
  if (protection == PROT_READ) ++curator::table_reads;
  return static_cast<int>(syscall(SYS_mprotect, start, size, protection));
}
