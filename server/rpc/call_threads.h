// The threads on which calls are handled. gRPC's own threads only receive and send, so they are always free
// for what needs no handling: refusals, health and news for watches.
//
// Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace curator::rpc {

class CallThreads {
 public:
  // At most `most` threads, each started when a task finds no idle one.
  explicit CallThreads(int most) : most_(most) {}
  // Runs what is queued, then returns.
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // Runs `task` on one of the threads, after those that were queued before. The task must not throw.
  void Run(std::function<void()> task);

 private:
  void Loop();

  const int most_;
  absl::Mutex mutex_;
  absl::CondVar has_task_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::rpc
