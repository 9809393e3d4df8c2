// Work that blocks, or that waits for its time, away from the threads that serve.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace curator::gate {

class Workers {
 public:
  // At most `most_waiting` pieces of work wait.
  Workers(int threads, size_t most_waiting);
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs `work` on one of the threads after the delay. False, and nothing is done, when too much waits.
  bool Run(std::function<void()> work, absl::Duration delay = absl::ZeroDuration());
  // Waits for what runs; what was put off, and what comes later, is dropped.
  void Stop();

 private:
  struct Task {
    absl::Time time;
    std::function<void()> work;
  };

  void Loop();
  bool IsReady() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const size_t most_waiting_;
  absl::Mutex mutex_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mutex_);  // a heap: the earliest first
  uint64_t added_ ABSL_GUARDED_BY(mutex_) = 0;       // how many tasks, ever
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace curator::gate
