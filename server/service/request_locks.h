// The requests that are being charged or answered in this process: one call at a time for each (principal,
// request id), so that a retry waits for its first attempt instead of taking over its token.
//
// Waiting is bounded: a call gives up when its client has gone, and beyond kMostWaiters a repetition is
// refused, so that repeating a slow request does not fill the server's places for calls.
//
// Thread-safe.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/principal.h"

namespace curator::service {

class RequestLocks {
 public:
  static constexpr int kMostWaiters = 4;  // of one request, besides the call that holds it

  // The right to charge or answer one request, until it is destroyed. Movable. The locks must outlive it.
  class Holder {
   public:
    Holder(Holder&& other) noexcept;
    Holder& operator=(Holder&&) = delete;
    ~Holder();

   private:
    friend class RequestLocks;
    Holder(RequestLocks& locks, std::string key) : locks_(&locks), key_(std::move(key)) {}
    RequestLocks* locks_;
    std::string key_;
  };

  // Waits until no other call holds the request. Errors: CANCELLED when `client_left` is signalled first, and
  // UNAVAILABLE (Overloaded(), base/errors.h) at once when kMostWaiters wait already. Nothing was charged for
  // a call that gets an error.
  absl::StatusOr<Holder> Hold(const Principal& principal, const std::string& request_id,
                              std::stop_token client_left);

  // The number of calls that wait.
  int waiting() const;

 private:
  struct Request {
    bool is_held = false;
    int waiters = 0;
  };

  void Release(const std::string& key);

  mutable absl::Mutex mutex_;
  std::map<std::string, Request> requests_ ABSL_GUARDED_BY(mutex_);  // held or waited for
};

}  // namespace curator::service
