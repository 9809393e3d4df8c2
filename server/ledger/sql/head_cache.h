// A cache of the chain heads and counters that the last changes left behind, so that the next batch of
// charges need not read them first.
//
// Cached values may be stale, because another server may have written meanwhile. A batch that starts from
// them is optimistic: the statements that move a head or a counter compare it with the cached value
// (WriteSet::Flush()), and the whole batch fails when one differs. So the outcome rests on the store alone,
// in one round trip instead of two. An unchanged head implies that nothing about its dataset has changed,
// because every change appends an entry. That holds for the first dataset of a lineage, in whose history
// accounts are opened; no other dataset is cached, nor one whose analysts have accounts of their own.
//
// After a miss, as when servers write in turns, attempts become exponentially rarer until one hits again.
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
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {

class HeadCache {
 public:
  // The cached state of all these datasets and accounts; none when one of them is not cached, or while misses
  // make attempts rare.
  std::optional<CachedHeads> Find(const std::set<std::string>& dataset_ids,
                                  const std::set<int64_t>& account_ids);

  // After `change` is durable: caches what it has locked if it changed only charges; else evicts it.
  void Update(const WriteSet& change);

  void RecordHit();
  void RecordMiss();

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
