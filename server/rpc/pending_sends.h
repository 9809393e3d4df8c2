// Small streams on their way to clients after their handlers have ended, so that no thread waits for a
// client that is slow to take them. A bounded number of each principal (CallKind::kSend, rpc/admission.h),
// each for a bounded time.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rpc/admission.h"

namespace curator::rpc {

class PendingSends {
 public:
  // A send has `patience` until it is cancelled, and up to a quarter of it more. `admission` must outlive it.
  PendingSends(Admission& admission, absl::Duration patience);
  // All sends must have ended.
  ~PendingSends();
  PendingSends(const PendingSends&) = delete;
  PendingSends& operator=(const PendingSends&) = delete;

 private:
  struct Entry {
    std::chrono::steady_clock::time_point deadline;
    std::function<void()> cancel;
    bool is_cancelled = false;
  };
  using Entries = std::list<Entry>;

 public:
  // Destroyed when the send has ended. Must not outlive its PendingSends.
  class Send {
   public:
    Send(PendingSends& sends, Admission::Place place, Entries::iterator entry)
        : sends_(sends), place_(std::move(place)), entry_(entry) {}
    // Waits for a `cancel` that another thread is calling, which may then still use what it captured.
    ~Send();
    Send(const Send&) = delete;
    Send& operator=(const Send&) = delete;

   private:
    PendingSends& sends_;
    const Admission::Place place_;
    const Entries::iterator entry_;
  };

  // Null when the principal, or all together, have as many sends as they may. `cancel` is called at most
  // once, on a thread of this object, and may destroy the Send.
  std::unique_ptr<Send> Begin(const std::string& principal, std::function<void()> cancel);

 private:
  void CancelLateOnes();

  Admission& admission_;
  const absl::Duration patience_;
  absl::Mutex mutex_;
  absl::CondVar wake_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  Entries entries_ ABSL_GUARDED_BY(mutex_);                         // by deadline
  const Entry* being_cancelled_ ABSL_GUARDED_BY(mutex_) = nullptr;  // by thread_
  std::thread thread_;
};

}  // namespace curator::rpc
