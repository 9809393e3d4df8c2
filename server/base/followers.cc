#include "base/followers.h"

#include <utility>

#include "absl/cleanup/cleanup.h"

namespace curator {

Followers::Followers(std::chrono::milliseconds between_looks, std::function<void()> before_look)
    : before_look_(std::move(before_look)), looks_(between_looks, [this] { Look(); }) {}

uint64_t Followers::Follow(OnLook on_look, OnClose on_close) {
  auto follower = std::make_shared<Follower>();
  follower->on_look = std::move(on_look);
  follower->on_close = std::move(on_close);
  uint64_t number = 0;
  bool is_closed = false;
  {
    const absl::MutexLock lock(&mutex_);
    number = next_++;
    is_closed = is_closed_;
    if (!is_closed) followers_[number] = follower;
  }
  if (is_closed) follower->on_close();
  return number;
}

void Followers::Close() {
  std::map<uint64_t, std::shared_ptr<Follower>> followers;
  {
    const absl::MutexLock lock(&mutex_);
    is_closed_ = true;
    followers.swap(followers_);
  }
  for (const auto& [number, follower] : followers) follower->on_close();
}

void Followers::Took(uint64_t follower) {
  const absl::MutexLock lock(&mutex_);
  const auto found = followers_.find(follower);
  if (found != followers_.end()) found->second->has_taken = true;
}

void Followers::Remove(uint64_t follower) {
  const absl::MutexLock lock(&mutex_);
  followers_.erase(follower);
}

std::vector<std::shared_ptr<Followers::Follower>> Followers::Ready() {
  std::vector<std::shared_ptr<Follower>> ready;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [number, follower] : followers_) {
    if (follower->has_taken) ready.push_back(follower);
  }
  return ready;
}

void Followers::SetTaken(Follower& follower, bool has_taken) {
  const absl::MutexLock lock(&mutex_);
  follower.has_taken = has_taken;
}

void Followers::Look() {
  const absl::MutexLock looking(&looking_);
  const std::vector<std::shared_ptr<Follower>> ready = Ready();
  if (ready.empty()) return;
  before_look_();
  for (const std::shared_ptr<Follower>& follower : ready) {
    // Before the call: Took() may come before it returns. An exception hands nothing over.
    SetTaken(*follower, false);
    bool hands_over = false;
    const absl::Cleanup nothing_handed_over = [&] {
      if (!hands_over) SetTaken(*follower, true);
    };
    hands_over = follower->on_look();
  }
}

}  // namespace curator
