// Followers of something that grows, such as a history: one thread looks from time to time what is new for
// each. A follower gets its next items when it has sent the last ones to its client, so a slow one delays no
// other.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/periodic.h"

namespace curator {

class Followers {
 public:
  // Called at each look for a follower that has taken all that it got: finds what is new and hands it over.
  // Returns whether it handed something over; then it is not called again before Took(). One call at a time.
  // May still be called once while the follower is being removed, so it holds what it needs.
  using OnLook = std::function<bool()>;
  // Called by Close(); must not block.
  using OnClose = std::function<void()>;

  // `before_look` is called before the calls of OnLook of one look, when there are any.
  explicit Followers(
      std::chrono::milliseconds between_looks, std::function<void()> before_look = [] {});
  ~Followers() = default;
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  // Returns the follower's number.
  uint64_t Follow(OnLook on_look, OnClose on_close);
  // The follower has taken all that it got.
  void Took(uint64_t follower);
  void Remove(uint64_t follower);

  // The server is stopping: calls OnClose of all followers, and of those who come later at once.
  void Close();

  // Looks now.
  void Look();

 private:
  struct Follower {
    OnLook on_look;
    OnClose on_close;
    bool has_taken = true;  // guarded by mutex_
  };

  std::vector<std::shared_ptr<Follower>> Ready();
  void SetTaken(Follower& follower, bool has_taken);

  const std::function<void()> before_look_;
  absl::Mutex looking_;  // one look at a time; before mutex_
  absl::Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Follower>> followers_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  Periodic looks_;  // the last member: it uses the others
};

}  // namespace curator
