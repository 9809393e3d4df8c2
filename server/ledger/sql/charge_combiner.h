// Group commit: charges that arrive at the same time share one transaction, and so its commit and its anchor.
//
// Each charge belongs to a lane. A batch has charges of one lane, and a lane has one batch in the store at a
// time; several lanes commit side by side, so that one whose rows another server has locked delays no other.
//
// No batching delay: if its lane is idle, a charge commits immediately on its own thread. Charges that arrive
// while it is busy queue up; worker threads commit them in batches for as long as there are any. The first
// charge of a batch is its leader: on its own thread, beside the next batch in the store, it waits for the
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
#include "ledger/sql/charge_batch.h"

namespace curator::ledger::sql {

class ChargeCombiner {
 public:
  using Results = std::vector<absl::StatusOr<Attempt>>;
  // The outcome of a batch in the store: one result per charge, and the anchor point (AnchorDirectory::Add())
  // that must be durable before any of them is reported; or the error of all charges.
  struct BatchResult {
    Results results;
    absl::StatusOr<int64_t> anchor_point = 0;
  };
  // Commits one batch in the store. Called concurrently for different lanes.
  using CommitBatch = std::function<BatchResult(std::vector<ProposedCharge>& batch)>;
  // Returns once the anchor point is durable. Called concurrently with itself and with CommitBatch.
  using AwaitAnchor = std::function<absl::Status(int64_t anchor_point)>;

  // Bytes as BytesOf() counts them. A charge that alone exceeds a bound on bytes is accepted when no other
  // waits, and is a batch of its own.
  struct Bounds {
    size_t most_in_store = 1;  // batches
    size_t most_waiting = 4096;
    size_t most_bytes_waiting = size_t{256} << 20;
    // Of one batch. PostgreSQL takes less than 1 GiB in one value, which is an array of all events of a
    // batch, or of all its entries, which contain them.
    size_t most_at_once = 256;
    size_t most_bytes_at_once = size_t{16} << 20;
  };

  ChargeCombiner(const Bounds& bounds, CommitBatch commit_batch, AwaitAnchor await_anchor)
      : bounds_(bounds), commit_batch_(std::move(commit_batch)), await_anchor_(std::move(await_anchor)) {}
  ~ChargeCombiner();
  ChargeCombiner(const ChargeCombiner&) = delete;
  ChargeCombiner& operator=(const ChargeCombiner&) = delete;

  // Blocks until the charge is decided and anchored. UNAVAILABLE at once when too many are waiting; else the
  // charge's result.
  absl::StatusOr<Attempt> Charge(std::string_view lane, ProposedCharge proposed);

  // The number of calls of Charge() that have not been decided.
  size_t waiting();

 private:
  class PendingCharge;
  struct Batch {
    std::vector<PendingCharge*> members;  // the first one leads
    BatchResult result;
  };

  // A call of Charge(). Each has a mutex of its own, so that followers woken together do not contend.
  class PendingCharge {
   public:
    enum class Signal { kNone, kLead, kDone };
    explicit PendingCharge(ProposedCharge charge)
        : proposed(std::move(charge)), bytes(BytesOf(*proposed.request)) {}

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

    ProposedCharge proposed;  // until a batch takes it
    const size_t bytes;
    std::unique_ptr<Batch> batch_to_lead;                              // before kLead
    absl::StatusOr<Attempt> result = absl::UnknownError("undecided");  // before kDone

   private:
    std::mutex mutex_;
    std::condition_variable signalled_;
    Signal signal_ ABSL_GUARDED_BY(mutex_) = Signal::kNone;
  };

  // A lane with a batch in the store, or with charges that wait for one.
  struct Lane {
    std::map<std::string, std::deque<PendingCharge*>> queues;  // by dataset
    std::string last_served;                                   // the dataset whose charge led the last batch
  };
  using Lanes = std::map<std::string, Lane, std::less<>>;

  // The lane of a charge that is alone in it and has got a place in the store; none for a charge that queues.
  std::optional<Lanes::iterator> EnterStoreOrQueue(std::string_view lane, PendingCharge& mine)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<PendingCharge*> BuildBatch(Lane& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The next four functions are noexcept: an exception would leave a lane marked busy and block every waiter.
  // On bad_alloc, or when not one thread can be started, the process aborts instead; clients ask again with
  // the same request id and find out what became of the charge.
  void CommitInStore(Batch& batch) noexcept;
  // On the leader's thread: waits for the anchor, sets all results and notifies the followers.
  void FinishBatch(Batch batch, const PendingCharge& leader) noexcept;
  // After a batch of this lane: its next charges wait for their turn, or it is idle.
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
  // The lanes with charges that wait and no batch in the store, the longest wait first.
  std::deque<Lanes::iterator> ready_ ABSL_GUARDED_BY(mutex_);
  size_t idle_workers_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> workers_ ABSL_GUARDED_BY(mutex_);  // started when first needed
};

}  // namespace curator::ledger::sql
