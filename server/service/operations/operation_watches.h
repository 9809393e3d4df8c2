// Who waits for news of operations. One thread serves all of them: it reads an operation once for all who
// watch it, when something has changed, and holds nothing for those who wait.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "service/operations/operations.h"
#include "service/services.h"

namespace curator::service {

class OperationWatches {
 public:
  // Called on the one thread, in order; must not block. `is_last` with the state of an operation that has
  // ended or whose deadline has passed, and with an error (those of GetOperation()).
  using OnState = std::function<void(const absl::StatusOr<OperationView>& state, bool is_last)>;

  // Listens to `services.operations`, which must outlive it, as must what else it reads.
  explicit OperationWatches(Services& services);
  // No call of an OnState follows.
  ~OperationWatches();
  OperationWatches(const OperationWatches&) = delete;
  OperationWatches& operator=(const OperationWatches&) = delete;

  // Calls `on_state` with the operation's state as it is, and again whenever it changes, until its end or
  // `deadline`; then with the last one. Returns a number for Unwatch().
  uint64_t Watch(const Principal& principal, std::string id, absl::Time deadline, OnState on_state);

  // Forgets a watch, also one that has ended. A call of its OnState that runs may still be running.
  void Unwatch(uint64_t watch);

 private:
  using Key = std::pair<std::string, std::string>;  // the operation's id, the principal's name
  struct Watcher {
    absl::Time deadline;
    OnState on_state;
    bool is_due = true;  // is new, or its deadline has passed
  };
  // Those of one principal who watch one operation: what another may read is another topic.
  struct Topic {
    Principal principal;
    std::map<uint64_t, Watcher> watchers;  // not empty
    std::optional<OperationView> last;
    bool has_changed = true;  // since `last` was read
  };
  // What is read for one topic, at one time.
  struct Due {
    Key key;
    Principal principal;
    std::optional<OperationView> last;
    bool has_changed = true;
  };

  void OperationChanged(std::string_view id);
  // Whether there may be more. What could not be delivered for lack of memory is due again.
  bool DeliverNext();
  void NoteAgain(const Key& key);
  void Loop();
  // Makes the topics due whose watchers' deadlines have passed.
  void NoteDeadlines(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One of the topics with news, which then has none; none when the watches end. Blocks.
  std::optional<Due> AwaitDue();
  absl::StatusOr<OperationView> Read(const Due& due) const;
  void Deliver(const Due& due, const absl::StatusOr<OperationView>& state);
  void Forget(uint64_t watch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Services& services_;
  absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t watches_made_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Key, Topic> topics_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Key> keys_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<absl::Time, uint64_t>> deadlines_ ABSL_GUARDED_BY(mutex_);
  std::set<Key> due_ ABSL_GUARDED_BY(mutex_);  // topics with news for a watcher
  std::thread thread_;
};

}  // namespace curator::service
