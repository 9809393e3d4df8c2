#include "service/request_locks.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::service {

RequestLocks::Holder::Holder(Holder&& other) noexcept
    : locks_(std::exchange(other.locks_, nullptr)), key_(std::move(other.key_)) {}

RequestLocks::Holder::~Holder() {
  if (locks_ != nullptr) locks_->Release(key_);
}

absl::StatusOr<RequestLocks::Holder> RequestLocks::Hold(const Principal& principal,
                                                        const std::string& request_id,
                                                        std::stop_token client_left) {
  std::string key = absl::StrCat(principal.name(), "/", request_id);
  // Locking the mutex makes the waiter evaluate its condition again. Declared before the lock: its destructor
  // waits for a callback that is running.
  const std::stop_callback wake(client_left, [this] { const absl::MutexLock lock(&mutex_); });
  const absl::MutexLock lock(&mutex_);
  const auto found = requests_.try_emplace(key).first;
  Request& request = found->second;
  if (request.is_held && request.waiters >= kMostWaiters) {
    return Overloaded(
        "this request is being answered, and other calls with the same request id wait for it already: ask "
        "again later");
  }
  const auto may_end = [&] { return !request.is_held || client_left.stop_requested(); };
  ++request.waiters;
  mutex_.Await(absl::Condition(&may_end));
  --request.waiters;
  if (client_left.stop_requested()) {
    if (!request.is_held && request.waiters == 0) requests_.erase(found);
    return absl::CancelledError("the client left before the request was charged");
  }
  request.is_held = true;
  return Holder(*this, std::move(key));
}

int RequestLocks::waiting() const {
  const absl::MutexLock lock(&mutex_);
  int waiting = 0;
  for (const auto& [key, request] : requests_) waiting += request.waiters;
  return waiting;
}

void RequestLocks::Release(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = requests_.find(key);
  found->second.is_held = false;
  if (found->second.waiters == 0) requests_.erase(found);
}

}  // namespace curator::service
