// Work that blocks, or that waits for its time, away from the threads that serve.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
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
  // What was put off, and what comes later, is dropped.
  void End();
  // The same, and waits for what runs.
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

// Workers for each identity provider: those that wait for one keep nobody from another. Thread-safe.
class IssuerWorkers {
 public:
  // Work that has waited so long is too late: a browser has not that much patience.
  static constexpr absl::Duration kLongestWait = absl::Seconds(10);

  // For each alias so many threads, and so much work that waits.
  IssuerWorkers(const std::vector<std::string>& aliases, int threads, size_t most_waiting,
                absl::Duration longest_wait = kLongestWait);
  IssuerWorkers(const IssuerWorkers&) = delete;
  IssuerWorkers& operator=(const IssuerWorkers&) = delete;

  // Runs `work` on one of the issuer's threads, or `too_late` where none was free in time. False, and nothing
  // is done, for an alias that is not there, and when too much waits.
  bool Run(const std::string& alias, std::function<void()> work, std::function<void()> too_late);
  // As Workers::Stop().
  void Stop();

 private:
  const absl::Duration longest_wait_;
  std::map<std::string, std::unique_ptr<Workers>> workers_;  // by alias; constant
};

}  // namespace curator::gate
