#include "host/scheduling.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace curator::host {
namespace {

// struct sched_attr of the kernel (sched_setattr(2)), which the C library does not declare.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t niceness = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;  // of an ordinary thread: the length of a time slice; 0 is the system's
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

void SetTimeSlice(uint64_t nanoseconds) {
  constexpr pid_t kThisThread = 0;
  Attributes attributes;
  if (syscall(SYS_sched_getattr, kThisThread, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
  attributes.runtime_ns = nanoseconds;
  // A request: where it is not granted, everything works as before.
  static_cast<void>(syscall(SYS_sched_setattr, kThisThread, &attributes, 0));
}

}  // namespace

FreeCores::FreeCores() : FreeCores(static_cast<int>(std::thread::hardware_concurrency())) {}

int FreeCores::Borrow(int wanted) {
  int free = free_.load();
  while (!free_.compare_exchange_weak(free, free - std::min(free, wanted))) {
  }
  return std::min(free, wanted);
}

void FreeCores::RunOnFreeCores(int most, const std::function<void(int)>& work) {
  const int borrowed = Borrow(std::max(0, most - 1));
  {
    std::vector<std::jthread> threads;
    try {
      for (int i = 1; i <= borrowed; ++i) {
        threads.emplace_back([&work, i] {
          RequestDefaultTimeSlice();
          work(i);
        });
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run do the work.
    }
    work(0);
  }
  free_.fetch_add(borrowed);
}

void RequestShortTimeSlice() {
  constexpr uint64_t kShortNs = 100'000;
  SetTimeSlice(kShortNs);
}

void RequestDefaultTimeSlice() {
  SetTimeSlice(0);
}

}  // namespace curator::host
