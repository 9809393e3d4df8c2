// The calls that are being answered, so that one whose caller is disabled, or whose proof is withdrawn, ends
// soon: the callers of all of them are checked again every half second.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/periodic.h"
#include "rpc/authenticator.h"

namespace curator::rpc {

class LiveCalls {
 public:
  static constexpr std::chrono::milliseconds kBetweenChecks = std::chrono::milliseconds(500);

  explicit LiveCalls(std::chrono::milliseconds between_checks = kBetweenChecks);
  ~LiveCalls() = default;
  LiveCalls(const LiveCalls&) = delete;
  LiveCalls& operator=(const LiveCalls&) = delete;

  // A call, from when this is made until it is destroyed.
  class Entry;
  // Called once at most, with the error that ends the call; must not block. It may still run when its entry
  // is being destroyed, so it holds what it needs.
  using OnRevoked = std::function<void(const absl::Status& status)>;
  // `authenticator` identified the caller, and must outlive this object: a check may still use it when the
  // entry has been destroyed.
  std::unique_ptr<Entry> Add(Authenticator& authenticator, Caller caller, OnRevoked on_revoked);

  // Checks all callers now.
  void Check();

 private:
  struct Live {
    Authenticator& authenticator;
    Caller caller;
    OnRevoked on_revoked;
    bool is_revoked = false;  // guarded by checking_
  };

  absl::Mutex checking_;  // one check at a time; before mutex_
  absl::Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Live>> calls_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  Periodic checks_;  // the last member: it uses the others
};

class LiveCalls::Entry {
 public:
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  friend class LiveCalls;
  Entry(LiveCalls& calls, uint64_t number) : calls_(calls), number_(number) {}

  LiveCalls& calls_;
  const uint64_t number_;
};

}  // namespace curator::rpc
