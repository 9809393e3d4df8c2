// The threads on which calls are handled. gRPC's own threads only receive and send, so they are always free
// for what needs no handling: refusals, health and news for watches.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace curator::rpc {

class CallThreads {
 public:
  using Loop = std::function<void()>;
  using StartThread = std::function<std::thread(Loop)>;  // throws std::system_error where it cannot

  // At most `most` threads, each started when a task finds no idle one.
  explicit CallThreads(
      int most, StartThread start = [](Loop loop) { return std::thread(std::move(loop)); })
      : most_(most), start_(std::move(start)) {
    threads_.reserve(static_cast<size_t>(most));  // so that a thread that was started is always kept
  }
  // Runs what is queued, then returns.
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // Runs `task` on one of the threads, after those that were queued before. The task must not throw.
  // Throws std::exception when there is no thread and none can be started, or memory runs out: the task is
  // then not run.
  void Run(std::function<void()> task);

 private:
  void RunTasks();
  // Without any thread the task that was queued last is taken back.
  void StartOneMore() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int most_;
  const StartThread start_;
  absl::Mutex mutex_;
  absl::CondVar has_task_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::rpc
