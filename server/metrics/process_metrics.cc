#include "metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace curator::metrics {
namespace {

// The columns of /proc/self/statm: pages.
struct Memory {
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

double RoundedUp(int64_t pages) {
  const int64_t bytes = pages * sysconf(_SC_PAGESIZE);
  return static_cast<double>((bytes + kMemoryStep - 1) / kMemoryStep * kMemoryStep);
}

Memory ReadMemory() {
  int64_t size = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return {.virtual_bytes = RoundedUp(size), .resident_bytes = RoundedUp(resident)};
}

double CountOf(const char* folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  return error ? 0 : static_cast<double>(std::distance(begin(entries), end(entries)));
}

double MostOpenFiles() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

void AddProcessMetrics(MetricSet& metrics) {
  const double began =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  metrics.Add("process_resident_memory_bytes", "Memory in use, in steps of 64 MiB.", Kind::kGauge,
              [] { return ReadMemory().resident_bytes; });
  metrics.Add("process_virtual_memory_bytes", "Virtual memory, in steps of 64 MiB.", Kind::kGauge,
              [] { return ReadMemory().virtual_bytes; });
  metrics.Add("process_open_fds", "Open file descriptors.", Kind::kGauge,
              [] { return CountOf("/proc/self/fd"); });
  metrics.Add("process_max_fds", "File descriptors that may be open.", Kind::kGauge, MostOpenFiles);
  metrics.Add("process_threads", "Threads.", Kind::kGauge, [] { return CountOf("/proc/self/task"); });
  metrics.Add("process_start_time_seconds", "When the process started, in seconds since 1970.", Kind::kGauge,
              [began] { return began; });
}

}  // namespace curator::metrics
