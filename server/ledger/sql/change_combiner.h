// Group commit: changes that arrive at the same time share one transaction, and so its commit and its anchor.
//
// Each change belongs to a lane. A batch has changes of one lane, and a lane has one batch in the store at a
// time; several lanes commit side by side, so that one whose rows another server has locked delays no other.
//
// No batching delay: if its lane is idle, a change commits immediately on its own thread. Changes that arrive
// while it is busy queue up; worker threads commit them in batches for as long as there are any. The first
// change of a batch is its leader: on its own thread, beside the next batch in the store, it waits for the
// anchor and notifies the followers. Lanes take turns, and within a lane its datasets, so that a busy one
// does not delay the others.
//
// Thread-safe. Must outlive its calls.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/combined_change.h"

namespace curator::ledger::sql {

class ChangeCombiner {
 public:
  using Results = std::vector<absl::Status>;
  // The outcome of a batch in the store: what each change was refused with, or OK, and the anchor point
  // (AnchorDirectory::Add()) that must be durable before any of them is reported; or the error of all.
  struct BatchResult {
    Results results;
    absl::StatusOr<int64_t> anchor_point = 0;
  };
  // Commits one batch in the store. Called concurrently for different lanes.
  using CommitBatch = std::function<BatchResult(const std::vector<CombinedChange*>& batch)>;
  // Returns once the anchor point is durable. Called concurrently with itself and with CommitBatch.
  using AwaitAnchor = std::function<absl::Status(int64_t anchor_point)>;

  // A change that alone exceeds a bound on bytes is accepted when no other waits, and is a batch of its own.
  struct Bounds {
    size_t most_in_store = 1;  // batches
    size_t most_waiting = 4096;
    size_t most_bytes_waiting = size_t{256} << 20;
    // Of one batch. PostgreSQL takes less than 1 GiB in one value, which is an array of all events of a
    // batch, or of all its entries, which contain them.
    size_t most_at_once = 256;
    size_t most_bytes_at_once = size_t{16} << 20;
  };

  ChangeCombiner(const Bounds& bounds, CommitBatch commit_batch, AwaitAnchor await_anchor)
      : bounds_(bounds), commit_batch_(std::move(commit_batch)), await_anchor_(std::move(await_anchor)) {}
  ~ChangeCombiner();
  ChangeCombiner(const ChangeCombiner&) = delete;
  ChangeCombiner& operator=(const ChangeCombiner&) = delete;

  // Blocks until the change is decided and anchored: `change` then has its result, unless it was refused.
  // UNAVAILABLE at once when too many are waiting.
  absl::Status Make(std::string_view lane, CombinedChange& change);

  // The number of calls of Make() that have not been decided.
  size_t waiting();

 private:
  class PendingChange;
  struct Batch {
    std::vector<PendingChange*> members;  // the first one leads
    BatchResult result;
  };

  // A call of Make(). Each has a mutex of its own, so that followers woken together do not contend.
  class PendingChange {
   public:
    enum class Signal { kNone, kLead, kDone };
    explicit PendingChange(CombinedChange& made) : change(made), bytes(made.bytes()) {}

    Signal Wait() {
      std::unique_lock lock(mutex_);
      signalled_.wait(lock, [this] { return signal_ != Signal::kNone; });
      return signal_;
    }
    // Notifies under the lock: once the waiter has read the signal, the condition variable may be destroyed.
    void Notify(Signal signal) {
      const std::scoped_lock lock(mutex_);
      signal_ = signal;
      signalled_.notify_one();
    }

    CombinedChange& change;
    const size_t bytes;
    std::unique_ptr<Batch> batch_to_lead;                   // before kLead
    absl::Status result = absl::UnknownError("undecided");  // before kDone

   private:
    std::mutex mutex_;
    std::condition_variable signalled_;
    Signal signal_ ABSL_GUARDED_BY(mutex_) = Signal::kNone;
  };

  // A lane with a batch in the store, or with changes that wait for one.
  struct Lane {
    std::map<std::string, std::deque<PendingChange*>> queues;  // by dataset
    std::string last_served;                                   // the dataset whose change led the last batch
  };
  using Lanes = std::map<std::string, Lane, std::less<>>;

  // The lane of a change that is alone in it and has got a place in the store; none for a change that queues.
  std::optional<Lanes::iterator> EnterStoreOrQueue(std::string_view lane, PendingChange& mine)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<PendingChange*> BuildBatch(Lane& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The next four functions are noexcept: an exception would leave a lane marked busy and block every waiter.
  // On bad_alloc, or when not one thread can be started, the process aborts instead; clients ask again with
  // the same request id and find out what became of the change.
  void CommitInStore(Batch& batch) noexcept;
  // On the leader's thread: waits for the anchor, sets all results and notifies the followers.
  void FinishBatch(Batch batch, const PendingChange& leader) noexcept;
  // After a batch of this lane: its next changes wait for their turn, or it is idle.
  void LeaveStore(Lanes::iterator lane) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Has a worker commit what is ready, beyond the first `spared` lanes.
  void WakeWorker(size_t spared) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs on the workers.
  void CommitBatches();
  bool CanCommit() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !ready_.empty() && in_store_ < bounds_.most_in_store;
  }

  const Bounds bounds_;
  const CommitBatch commit_batch_;
  const AwaitAnchor await_anchor_;
  std::mutex mutex_;
  std::condition_variable wake_worker_;
  bool is_shutting_down_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t bytes_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t in_store_ ABSL_GUARDED_BY(mutex_) = 0;  // batches
  Lanes lanes_ ABSL_GUARDED_BY(mutex_);
  // The lanes with changes that wait and no batch in the store, the longest wait first.
  std::deque<Lanes::iterator> ready_ ABSL_GUARDED_BY(mutex_);
  size_t idle_workers_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> workers_ ABSL_GUARDED_BY(mutex_);  // started when first needed
};

}  // namespace curator::ledger::sql
