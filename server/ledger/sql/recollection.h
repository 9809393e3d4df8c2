// What the store looked like after the last change, so that the next batch of charges need not ask it.
//
// It is a guess: another server may have written meanwhile. A batch that is decided on it has the store
// compare every head and every counter that it moves with what was remembered (Change::Flush()), in the
// statements that move them, and fails as a whole when one differs. So what is written rests on the store's
// word alone, in one round trip instead of two. A head that is the same says that nothing about its dataset
// has changed, because every change appends an entry; that holds for the first dataset of a lineage, in whose
// history accounts are opened, and no other is remembered, nor one whose analysts have accounts of their own.
//
// Where guesses fail, as when servers take turns, fewer and fewer are made, until one holds again.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "ledger/sql/change.h"

namespace curator::ledger::sql {

class Recollection {
 public:
  // What is remembered of all these datasets and accounts; none when something is missing, or when the last
  // guess failed not long ago.
  std::optional<Remembered> Recall(const std::set<std::string>& dataset_ids,
                                   const std::set<int64_t>& account_ids);

  // `change` is durable. What it knew is remembered when it has changed charges only; else what it touched is
  // forgotten.
  void Learn(const Change& change);

  void GuessHeld();
  void GuessFailed();

 private:
  using Clock = std::chrono::steady_clock;

  static int64_t TicksUs() {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
  }

  std::mutex mutex_;
  std::map<std::string, LockedDataset> datasets_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, std::map<std::string, LockedCounter>> accounts_ ABSL_GUARDED_BY(mutex_);
  int64_t ahead_us_ ABSL_GUARDED_BY(mutex_) = 0;  // the database's clock minus our ticks
  int to_be_skipped_ ABSL_GUARDED_BY(mutex_) = 0;
  int penalty_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace curator::ledger::sql
