// A cache of the chain heads and counters that the last changes left behind, so that the next batch of
// changes need not read them first.
//
// Cached values may be stale, because another server may have written meanwhile. A batch that starts from
// them is optimistic: the statements that move a head or a counter compare it with the cached value
// (WriteSet::Flush()), and the whole batch fails when one differs. So the outcome rests on the store alone,
// in one round trip instead of two. With an unchanged head and revision nothing about the dataset or the
// accounts of its lineage has changed: what changes them appends an entry, and gives each dataset that it
// concerns a new revision.
//
// After a miss the next batch with these lineages is decided under locks, and shows whose heads had moved:
// for that lineage alone attempts become exponentially rarer until one hits again, as when servers write in
// turns.
//
// The lineages that were used longest ago are forgotten beyond the bounds.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
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
  struct Bounds {
    size_t datasets = 1000;
    size_t counters = 100'000;
  };
  HeadCache() = default;
  explicit HeadCache(const Bounds& bounds) : bounds_(bounds) {}

  // The cached state of all these datasets and accounts; none when one of them is not cached, or while misses
  // of one make attempts rare.
  std::optional<CachedHeads> Find(const std::set<std::string>& dataset_ids,
                                  const std::set<int64_t>& account_ids);

  // After `change` is durable: caches what it has locked if it changed only charges; else evicts it.
  void Update(const WriteSet& change);

  void RecordHit(const std::set<std::string>& dataset_ids);
  void RecordMiss(const std::set<std::string>& dataset_ids);

  // How many are cached.
  size_t datasets() const;
  size_t counters() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Lineage {
    std::map<std::string, std::optional<LockedDataset>> datasets;  // none: forgotten
    std::map<CounterKey, LockedCounter> counters;
    bool is_doubted = false;  // a batch with it missed: the next change that locks it decides whose fault
    int to_be_skipped = 0;
    int penalty = 1;
    uint64_t used = 0;
  };

  static int64_t TicksUs() {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
  }
  // The lineage of a dataset that is cached or was forgotten; null when it is unknown.
  Lineage* LineageWith(const std::string& dataset_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False when a change that committed later was noted earlier.
  bool UpdateDataset(const WriteSet& change, const LockedDataset& dataset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetCounter(const CounterKey& key, const LockedCounter& counter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetContents(Lineage& lineage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Evict(const std::string& lineage_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EvictBeyondBounds() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Bounds bounds_ = {};
  mutable std::mutex mutex_;
  std::map<std::string, Lineage> lineages_ ABSL_GUARDED_BY(mutex_);        // by their ids
  std::map<std::string, std::string> lineage_of_ ABSL_GUARDED_BY(mutex_);  // their datasets
  size_t counters_ ABSL_GUARDED_BY(mutex_) = 0;                            // of all of them
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t ahead_us_ ABSL_GUARDED_BY(mutex_) = 0;  // the database's clock minus our ticks
};

}  // namespace curator::ledger::sql
