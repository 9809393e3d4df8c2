#include "service/operations/operation_watches.h"

#include <new>
#include <vector>

#include "absl/time/clock.h"

namespace curator::service {

OperationWatches::OperationWatches(Services& services) : services_(services), thread_([this] { Loop(); }) {
  services_.operations.SetListener([this](std::string_view id) { OperationChanged(id); });
}

OperationWatches::~OperationWatches() {
  services_.operations.SetListener(nullptr);
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  thread_.join();
}

uint64_t OperationWatches::Watch(const Principal& principal, std::string id, absl::Time deadline,
                                 OnState on_state) {
  Key key(std::move(id), principal.name());
  const absl::MutexLock lock(&mutex_);
  const uint64_t watch = ++watches_made_;
  Topic& topic = topics_.try_emplace(key, Topic{.principal = principal}).first->second;
  topic.watchers.emplace(watch, Watcher{.deadline = deadline, .on_state = std::move(on_state)});
  deadlines_.emplace(deadline, watch);
  due_.insert(key);
  keys_.emplace(watch, std::move(key));
  return watch;
}

void OperationWatches::Unwatch(uint64_t watch) {
  const absl::MutexLock lock(&mutex_);
  Forget(watch);
}

void OperationWatches::Forget(uint64_t watch) {
  const auto key = keys_.find(watch);
  if (key == keys_.end()) return;
  const auto topic = topics_.find(key->second);
  const auto watcher = topic->second.watchers.find(watch);
  deadlines_.erase({watcher->second.deadline, watch});
  topic->second.watchers.erase(watcher);
  if (topic->second.watchers.empty()) {
    due_.erase(key->second);
    topics_.erase(topic);
  }
  keys_.erase(key);
}

void OperationWatches::OperationChanged(std::string_view id) {
  const absl::MutexLock lock(&mutex_);
  for (auto topic = topics_.lower_bound({std::string(id), ""});
       topic != topics_.end() && topic->first.first == id; ++topic) {
    topic->second.has_changed = true;
    due_.insert(topic->first);
  }
}

void OperationWatches::NoteDeadlines(absl::Time now) {
  for (auto next = deadlines_.begin(); next != deadlines_.end() && next->first <= now; ++next) {
    const Key& key = keys_.at(next->second);
    topics_.at(key).watchers.at(next->second).is_due = true;
    due_.insert(key);
  }
}

std::optional<OperationWatches::Due> OperationWatches::AwaitDue() {
  const absl::MutexLock lock(&mutex_);
  while (true) {
    if (ending_) return std::nullopt;
    NoteDeadlines(absl::Now());
    if (!due_.empty()) break;
    const absl::Time next = deadlines_.empty() ? absl::InfiniteFuture() : deadlines_.begin()->first;
    const auto has_news = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return ending_ || !due_.empty() || (!deadlines_.empty() && deadlines_.begin()->first < next);
    };
    mutex_.AwaitWithDeadline(absl::Condition(&has_news), next);
  }
  const Key key = *due_.begin();
  due_.erase(due_.begin());
  Topic& topic = topics_.at(key);
  Due due{.key = key, .principal = topic.principal, .last = topic.last, .has_changed = topic.has_changed};
  topic.has_changed = false;
  return due;
}

absl::StatusOr<OperationView> OperationWatches::Read(const Due& due) const {
  if (due.last && !due.has_changed) return *due.last;
  if (due.last && due.last->state == OperationState::kRunning) {
    if (const std::optional<double> share = services_.operations.ShareDone(due.key.first)) {
      OperationView view = *due.last;
      view.share_done = *share;
      return view;
    }
  }
  if (due.last && due.last->state == OperationState::kQueued) {
    if (const std::optional<int64_t> position = services_.work.PositionOf(due.key.first)) {
      OperationView view = *due.last;
      view.queue_position = *position;
      return view;
    }
  }
  return GetOperation(services_, due.principal, due.key.first);
}

void OperationWatches::Deliver(const Due& due, const absl::StatusOr<OperationView>& state) {
  const absl::Time now = absl::Now();
  const bool has_ended = !state.ok() || HasEnded(state->state);
  std::vector<std::pair<OnState, bool>> calls;
  {
    const absl::MutexLock lock(&mutex_);
    const auto topic = topics_.find(due.key);
    if (topic == topics_.end()) return;
    if (state.ok()) topic->second.last = *state;
    std::vector<uint64_t> ended;
    for (auto& [watch, watcher] : topic->second.watchers) {
      if (!due.has_changed && !watcher.is_due) continue;
      watcher.is_due = false;
      const bool is_last = has_ended || watcher.deadline <= now;
      calls.emplace_back(watcher.on_state, is_last);
      if (is_last) ended.push_back(watch);
    }
    for (const uint64_t watch : ended) Forget(watch);
  }
  for (const auto& [on_state, is_last] : calls) on_state(state, is_last);
}

void OperationWatches::NoteAgain(const Key& key) {
  const absl::MutexLock lock(&mutex_);
  const auto topic = topics_.find(key);
  if (topic == topics_.end()) return;
  topic->second.has_changed = true;
  due_.insert(key);
}

bool OperationWatches::DeliverNext() {
  std::optional<Due> due;
  try {
    due = AwaitDue();
    if (due) Deliver(*due, Read(*due));
    return due.has_value();
  } catch (const std::bad_alloc&) {
  }
  try {
    if (due) NoteAgain(due->key);
  } catch (const std::bad_alloc&) {  // its watchers get the next change
  }
  return true;
}

void OperationWatches::Loop() {
  while (DeliverNext()) {
  }
}

}  // namespace curator::service
