// Ends calls on connections to servers that have gone silent: a host that vanished, a partition, a stopped
// process. The calls block in a library that has no deadlines; shutting down the socket makes them fail.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/base/thread_annotations.h"

namespace curator::ledger::postgres {

class SilenceWatch {
 public:
  using Clock = std::chrono::steady_clock;
  // Sockets are looked at once in each `interval`, by a thread of the watch.
  explicit SilenceWatch(std::chrono::milliseconds interval = std::chrono::seconds(1));
  // No call may be watched.
  ~SilenceWatch();
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;

  // While it lives, `socket` (which its owner closes only when it is broken) is shut down once no data has
  // passed over it in either direction for `longest_silence`, and at most an interval more. Data that is sent
  // again because it was not acknowledged counts: TCP_USER_TIMEOUT ends that. On a socket that is not TCP
  // nothing is known of data, so the whole call must end within that time.
  class Call {
   public:
    Call(SilenceWatch& watch, int socket, std::chrono::milliseconds longest_silence);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    friend class SilenceWatch;
    SilenceWatch& watch_;
    const int socket_;
    const std::chrono::milliseconds longest_silence_;
    const Clock::time_point begin_;
    Call* next_ = nullptr;  // guarded by watch_.mutex_
    Call* previous_ = nullptr;
  };

 private:
  void Watch();
  void Look(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Call* first_ ABSL_GUARDED_BY(mutex_) = nullptr;  // of a linked list: adding to it allocates nothing
  std::thread thread_;
};

}  // namespace curator::ledger::postgres
