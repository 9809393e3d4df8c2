#include "audit/audit_followers.h"

#include <utility>

#include "absl/status/statusor.h"

namespace curator::audit {

AuditFollowers::AuditFollowers(AuditStore& store, std::chrono::milliseconds between_looks)
    : store_(store), looks_(between_looks, [this] { Look(); }) {}

uint64_t AuditFollowers::Follow(std::optional<int64_t> after_id, OnLook on_look, OnClose on_close) {
  auto follower = std::make_shared<Follower>();
  follower->after_id = after_id;
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

void AuditFollowers::Close() {
  std::map<uint64_t, std::shared_ptr<Follower>> followers;
  {
    const absl::MutexLock lock(&mutex_);
    is_closed_ = true;
    followers.swap(followers_);
  }
  for (const auto& [number, follower] : followers) follower->on_close();
}

void AuditFollowers::Took(uint64_t follower) {
  const absl::MutexLock lock(&mutex_);
  const auto found = followers_.find(follower);
  if (found != followers_.end()) found->second->has_taken = true;
}

void AuditFollowers::Remove(uint64_t follower) {
  const absl::MutexLock lock(&mutex_);
  followers_.erase(follower);
}

std::vector<std::shared_ptr<AuditFollowers::Follower>> AuditFollowers::Ready() {
  std::vector<std::shared_ptr<Follower>> ready;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [number, follower] : followers_) {
    if (follower->has_taken) ready.push_back(follower);
  }
  return ready;
}

void AuditFollowers::Look() {
  const absl::MutexLock looking(&looking_);
  const std::vector<std::shared_ptr<Follower>> ready = Ready();
  if (ready.empty()) return;
  // While the store is away there is nothing to show; the next look may find it back.
  const absl::StatusOr<int64_t> newest = store_.NewestId();
  for (const std::shared_ptr<Follower>& follower : ready) Show(*follower, newest);
}

void AuditFollowers::Show(Follower& follower, const absl::StatusOr<int64_t>& newest) {
  std::vector<AuditRecord> records;
  if (newest.ok()) {
    if (!follower.after_id.has_value()) follower.after_id = *newest;
    records = NewOf(follower, *newest);
  }
  if (!records.empty()) {
    follower.after_id = records.back().id;
    const absl::MutexLock lock(&mutex_);
    follower.has_taken = false;
  }
  follower.on_look(records);
}

std::vector<AuditRecord> AuditFollowers::NewOf(const Follower& follower, int64_t newest) {
  if (*follower.after_id >= newest) return {};
  return store_.ReadAfter(*follower.after_id, kMostAtOnce).value_or(std::vector<AuditRecord>());
}

}  // namespace curator::audit
