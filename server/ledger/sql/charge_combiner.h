// Gathers charges that come at the same time into one transaction, so that they share its commit and its
// anchor.
//
// There is no thread of its own and no waiting for company: a charge that finds nobody at work goes at once
// and alone, so latency when idle is that of one transaction. Those that come while it is in the store are
// taken together by the first of them as soon as the store is free. Datasets take turns, so a busy one does
// not keep a quiet one waiting.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "ledger/sql/charge_batch.h"

namespace curator::ledger::sql {

class ChargeCombiner {
 public:
  using Results = std::vector<absl::StatusOr<Attempt>>;
  // Decides a batch: one result for each. Calls `committed` as soon as the store is free for the next batch.
  using Decide =
      std::function<Results(const std::vector<WantedCharge>& batch, const std::function<void()>& committed)>;

  struct Bounds {
    size_t most_waiting = 4096;
    size_t most_at_once = 256;
  };

  ChargeCombiner(const Bounds& bounds, Decide decide) : bounds_(bounds), decide_(std::move(decide)) {}

  // UNAVAILABLE at once when too many are waiting already.
  absl::StatusOr<Attempt> Charge(WantedCharge wanted);

  // How many charges have come and are not decided.
  size_t waiting();

 private:
  // Each waits at a lock of its own, so that those who are woken together do not queue once more.
  class Waiting {
   public:
    enum class News { kNone, kLead, kDecided };
    explicit Waiting(WantedCharge charge) : wanted(std::move(charge)) {}

    News Wait() {
      std::unique_lock lock(mutex_);
      told_.wait(lock, [this] { return news_ != News::kNone; });
      return std::exchange(news_, News::kNone);
    }
    // Under the lock: once its owner has read the news, the condition variable may be gone.
    void Tell(News news) {
      const std::scoped_lock lock(mutex_);
      news_ = news;
      told_.notify_one();
    }

    WantedCharge wanted;  // until a batch takes it
    absl::StatusOr<Attempt> result = absl::UnknownError("undecided");

   private:
    std::mutex mutex_;
    std::condition_variable told_;
    News news_ ABSL_GUARDED_BY(mutex_) = News::kNone;
  };

  std::vector<Waiting*> TakeBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Decides one batch and tells everybody in it but `leader`: whether it was decided, too, is returned.
  Waiting::News Lead(const Waiting& leader);
  // Lets the next batch go.
  void StepDown();

  const Bounds bounds_;
  const Decide decide_;
  std::mutex mutex_;
  bool is_led_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::deque<Waiting*>> queues_ ABSL_GUARDED_BY(mutex_);  // by dataset
  std::string last_served_ ABSL_GUARDED_BY(mutex_);  // the dataset that began the last batch
};

}  // namespace curator::ledger::sql
