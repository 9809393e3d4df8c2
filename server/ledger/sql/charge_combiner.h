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
  absl::StatusOr<Attempt> Charge(const WantedCharge& wanted);

  // How many charges have come and are not decided.
  size_t waiting();

 private:
  struct Waiting {
    WantedCharge wanted;
    std::condition_variable turn;
    absl::StatusOr<Attempt> result = absl::UnknownError("undecided");
    bool is_taken = false;  // by a batch that is under way
    bool is_decided = false;
  };

  std::vector<Waiting*> TakeBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lead(std::unique_lock<std::mutex>& lock);
  // Lets the next batch go.
  void StepDown() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Bounds bounds_;
  const Decide decide_;
  std::mutex mutex_;
  bool is_led_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::deque<Waiting*>> queues_ ABSL_GUARDED_BY(mutex_);  // by dataset
  std::string last_served_ ABSL_GUARDED_BY(mutex_);  // the dataset that began the last batch
};

}  // namespace curator::ledger::sql
