// Gathers charges that come at the same time into one transaction, so that they share its commit and its
// anchor.
//
// There is no waiting for company: a charge that finds nobody at work goes at once, alone and in its own
// thread, so latency when idle is that of one transaction. Those that come while it is in the store are taken
// together as soon as the store is free, and so on, by a thread that does nothing else: while there is work
// the store waits for nobody to wake up. What is left to do for a batch, its anchor and telling everyone, is
// done beside the next one by the first charge of the batch. Datasets take turns, so a busy one does not keep
// a quiet one waiting.
//
// Thread-safe. Outlives its calls.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
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
  // What became of a batch in the store: one result for each and the point of the anchor that has to be
  // reached before anyone is told; or the error that everyone is told.
  struct Decided {
    Results results;
    absl::StatusOr<int64_t> point = 0;
  };
  // Decides one batch in the store. Called for one batch at a time.
  using Decide = std::function<Decided(std::vector<WantedCharge>& batch)>;
  // Returns once the anchor has reached the point. Called beside Decide, and for several batches at a time.
  using Confirm = std::function<absl::Status(int64_t point)>;

  // Bytes as BytesOf() counts them. A charge that is larger than they allow goes when it is the only one.
  struct Bounds {
    size_t most_waiting = 4096;
    size_t most_bytes_waiting = size_t{256} << 20;
    // What a store takes in one statement: PostgreSQL less than 1 GiB in one value, which is an array of all
    // events of a batch, or of all entries, which contain them.
    size_t most_at_once = 256;
    size_t most_bytes_at_once = size_t{16} << 20;
  };

  ChargeCombiner(const Bounds& bounds, Decide decide, Confirm confirm)
      : bounds_(bounds), decide_(std::move(decide)), confirm_(std::move(confirm)) {}
  ~ChargeCombiner();
  ChargeCombiner(const ChargeCombiner&) = delete;
  ChargeCombiner& operator=(const ChargeCombiner&) = delete;

  // UNAVAILABLE at once when too many are waiting already.
  absl::StatusOr<Attempt> Charge(WantedCharge wanted);

  // How many charges have come and are not decided.
  size_t waiting();

 private:
  class Waiting;
  struct Batch {
    std::vector<Waiting*> members;
    Decided decided;
  };

  // Each waits at a lock of its own, so that those who are woken together do not queue once more.
  class Waiting {
   public:
    enum class News { kNone, kConfirm, kDecided };
    explicit Waiting(WantedCharge charge) : wanted(std::move(charge)), bytes(BytesOf(*wanted.request)) {}

    News Wait() {
      std::unique_lock lock(mutex_);
      told_.wait(lock, [this] { return news_ != News::kNone; });
      return news_;
    }
    // Under the lock: once its owner has read the news, the condition variable may be gone.
    void Tell(News news) {
      const std::scoped_lock lock(mutex_);
      news_ = news;
      told_.notify_one();
    }

    WantedCharge wanted;  // until a batch takes it
    const size_t bytes;
    std::unique_ptr<Batch> to_be_confirmed;
    absl::StatusOr<Attempt> result = absl::UnknownError("undecided");

   private:
    std::mutex mutex_;
    std::condition_variable told_;
    News news_ ABSL_GUARDED_BY(mutex_) = News::kNone;
  };

  std::vector<Waiting*> TakeMembers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // From the store's being taken until everyone is told nothing may be thrown past: the store would stay
  // taken and all who wait would wait for nobody. A process that ends instead, for want of memory or of a
  // thread, is started again, and whoever asks again learns what became of the charge.
  void DecideBatch(Batch& batch) noexcept;
  // Confirms a batch and tells everybody in it but `confirming`, whose thread this is.
  void ConfirmBatch(Batch batch, const Waiting& confirming) noexcept;
  // After a charge that went alone: has the thread take what has come meanwhile.
  void HandOver() noexcept;
  // The thread.
  void DecideAllThatComes();

  const Bounds bounds_;
  const Decide decide_;
  const Confirm confirm_;
  std::mutex mutex_;
  std::condition_variable handed_over_;
  bool is_store_taken_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_handed_over_ ABSL_GUARDED_BY(mutex_) = false;  // taken, by the thread
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t bytes_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::deque<Waiting*>> queues_ ABSL_GUARDED_BY(mutex_);  // by dataset
  std::string last_served_ ABSL_GUARDED_BY(mutex_);  // the dataset that began the last batch
  std::thread thread_ ABSL_GUARDED_BY(mutex_);       // started when first needed
};

}  // namespace curator::ledger::sql
