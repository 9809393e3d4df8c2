// How the threads of this process share the machine's cores: idle cores are lent to long computations, and
// threads that serve requests get short time slices.
//
// Thread-safe.
#pragma once

#include <atomic>

#include "base/executor.h"

namespace curator::host {

// Lends cores, first come, first served. In all, at most as many threads run at once as there are cores
// beside one; a caller that finds every core lent works alone and does not wait.
class FreeCores final : public Executor {
 public:
  // Of `cores` cores, one is the caller's own.
  explicit FreeCores(int cores) : free_(cores > 0 ? cores - 1 : 0) {}

  // As many as this process may run on.
  FreeCores();

  void RunOnFreeCores(int most, const std::function<void(int)>& work) override;

 private:
  int Borrow(int wanted);

  std::atomic<int> free_;
};

// Requests time slices of 100 microseconds for the calling thread and those that it starts later.
//
// A charge is many short steps, each after a wait for the store or the disk. Beside threads that compute
// without pause each step would wait for one of them to use up its slice: milliseconds. A thread with short
// slices is scheduled first when it wakes, and gets no larger share of a processor for it.
//
// Changes nothing where the kernel (Linux before 6.12) or the thread's scheduling class has no such request.
void RequestShortTimeSlice();
// Restores the system's default: for threads that compute.
void RequestDefaultTimeSlice();

}  // namespace curator::host
