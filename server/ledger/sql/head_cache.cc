#include "ledger/sql/head_cache.h"

#include <algorithm>

namespace curator::ledger::sql {
namespace {

constexpr int kMostSkipped = 64;
// Beyond it the cache is cleared; the next charges fill it again.
constexpr size_t kMostDatasets = 1000;

bool IsCacheable(const LockedDataset& dataset) {
  return dataset.id == dataset.lineage_id && !dataset.has_analyst_accounts;
}

}  // namespace

std::optional<CachedHeads> HeadCache::Find(const std::set<std::string>& dataset_ids,
                                           const std::set<int64_t>& account_ids) {
  const std::scoped_lock lock(mutex_);
  if (to_be_skipped_ > 0) {
    --to_be_skipped_;
    return std::nullopt;
  }
  CachedHeads cached;
  for (const std::string& id : dataset_ids) {
    const auto known = datasets_.find(id);
    if (known == datasets_.end()) return std::nullopt;
    cached.datasets.emplace(id, known->second);
  }
  for (const int64_t id : account_ids) {
    const auto known = accounts_.find(id);
    if (known == accounts_.end()) return std::nullopt;
    for (const auto& [name, counter] : known->second) cached.counters.emplace(CounterKey(id, name), counter);
  }
  cached.now_us = TicksUs() + ahead_us_;
  return cached;
}

void HeadCache::Update(const WriteSet& change) {
  const std::scoped_lock lock(mutex_);
  if (datasets_.size() > kMostDatasets) {
    datasets_.clear();
    accounts_.clear();
  }
  for (const auto& [id, dataset] : change.datasets()) {
    if (!change.is_charges_only() || !IsCacheable(dataset)) {
      datasets_.erase(id);
    } else {
      datasets_[id] = dataset;
    }
  }
  for (const auto& [key, counter] : change.counters()) {
    LockedCounter& known = accounts_[key.first][key.second];
    known = counter;
    known.spent_added = 0;
    known.held_added = 0;
  }
  // An optimistic change has derived its time from this cache; a change that locked nothing has read none.
  if (!change.is_optimistic() && change.now_us() > 0) ahead_us_ = change.now_us() - TicksUs();
}

void HeadCache::RecordHit() {
  const std::scoped_lock lock(mutex_);
  penalty_ = 1;
}

void HeadCache::RecordMiss() {
  const std::scoped_lock lock(mutex_);
  datasets_.clear();
  accounts_.clear();
  to_be_skipped_ = penalty_;
  penalty_ = std::min(2 * penalty_, kMostSkipped);
}

}  // namespace curator::ledger::sql
