#include "service/late_endings.h"

#include <algorithm>
#include <list>
#include <new>
#include <utility>

#include "host/logging.h"

namespace curator::service {

bool IsFinalEnding(const absl::Status& status) {
  return status.ok() || absl::IsFailedPrecondition(status) || absl::IsNotFound(status) ||
         absl::IsInvalidArgument(status) || absl::IsAborted(status) || absl::IsDataLoss(status);
}

LateEndings::LateEndings(ledger::Ledger& ledger, absl::Duration pause)
    : ledger_(ledger), first_pause_(pause), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

LateEndings::~LateEndings() {
  thread_.request_stop();
  thread_.join();
}

bool LateEndings::Add(ledger::Attempt attempt, std::optional<Drawn> drawn, std::string reason) {
  Item item{std::move(attempt), std::move(drawn), std::move(reason)};
  const std::lock_guard lock(mutex_);
  if (items_.size() >= kMost || item.bytes() > kMostBytes - bytes_) return false;
  bytes_ += item.bytes();
  items_.push_back(std::move(item));
  changed_.notify_all();
  return true;
}

size_t LateEndings::waiting() const {
  const std::lock_guard lock(mutex_);
  return items_.size() + (is_ending_one_ ? 1 : 0);
}

bool LateEndings::AwaitNone(absl::Time deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, absl::ToChronoTime(deadline),
                             [this] { return items_.empty() && !is_ending_one_; });
}

void LateEndings::Run(const std::stop_token& stop) {
  absl::Duration pause = first_pause_;
  while (!stop.stop_requested()) {
    size_t left = 0;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !items_.empty(); })) return;
      changed_.wait_for(lock, stop, absl::ToChronoNanoseconds(pause), [] { return false; });
      left = items_.size();
    }
    bool any_ended = false;
    // Each of those that wait once, so that one that cannot end holds up no other.
    for (; left > 0 && !stop.stop_requested(); --left) {
      std::list<Item> one;
      std::unique_lock lock(mutex_);
      one.splice(one.begin(), items_, items_.begin());
      const Item& item = one.front();
      is_ending_one_ = true;
      lock.unlock();
      const bool has_ended = End(item);
      any_ended = any_ended || has_ended;
      lock.lock();
      is_ending_one_ = false;
      if (has_ended) {
        bytes_ -= item.bytes();
        changed_.notify_all();
      } else {
        items_.splice(items_.end(), one);
      }
    }
    pause = any_ended ? first_pause_ : std::min(2 * pause, kLongestPause);
  }
}

bool LateEndings::End(const Item& item) {
  try {
    return TryToEnd(item);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool LateEndings::TryToEnd(const Item& item) {
  const absl::Status ended =
      item.drawn ? ledger_.Store(item.attempt, item.drawn->payload, item.drawn->measures).status()
                 : ledger_.Forfeit(item.attempt, item.reason);
  if (!IsFinalEnding(ended)) return false;
  host::Log(host::LogLevel::kInfo, "late_ending",
            {{"charge", item.attempt.charge.id}, {"status", absl::StatusCodeToString(ended.code())}});
  return true;
}

}  // namespace curator::service
