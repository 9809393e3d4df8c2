#include "ledger/sql/head_cache.h"

#include <algorithm>
#include <utility>

namespace curator::ledger::sql {
namespace {

constexpr int kMostSkipped = 64;

bool IsCacheable(const LockedDataset& dataset) {
  return dataset.id == dataset.lineage_id && !dataset.has_analyst_accounts;
}

}  // namespace

std::optional<CachedHeads> HeadCache::Find(const std::set<std::string>& dataset_ids,
                                           const std::set<int64_t>& account_ids) {
  const std::scoped_lock lock(mutex_);
  CachedHeads cached;
  bool is_complete = true;
  for (const std::string& id : dataset_ids) {
    const auto found = lineages_.find(id);
    if (found == lineages_.end()) return std::nullopt;
    Lineage& lineage = found->second;
    lineage.used = ++uses_;
    // Each of the batch's lineages counts this batch as skipped.
    if (lineage.to_be_skipped > 0) {
      --lineage.to_be_skipped;
      is_complete = false;
    }
    is_complete = is_complete && lineage.dataset.has_value() && !lineage.is_doubted;
    if (!is_complete) continue;
    cached.datasets.emplace(id, *lineage.dataset);
    for (const int64_t account : account_ids) {
      for (auto counter = lineage.counters.lower_bound({account, ""});
           counter != lineage.counters.end() && counter->first.first == account; ++counter) {
        cached.counters.insert(*counter);
      }
    }
  }
  for (const int64_t account : account_ids) {
    const auto counter = cached.counters.lower_bound({account, ""});
    is_complete = is_complete && counter != cached.counters.end() && counter->first.first == account;
  }
  if (!is_complete) return std::nullopt;
  cached.now_us = TicksUs() + ahead_us_;
  return cached;
}

void HeadCache::Update(const WriteSet& change) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, dataset] : change.datasets()) UpdateDataset(change, dataset);
  for (const auto& [key, counter] : change.counters()) SetCounter(key, counter);
  EvictBeyondBounds();
  // An optimistic change has derived its time from this cache; a change that locked nothing has read none.
  if (!change.is_optimistic() && change.now_us() > 0) ahead_us_ = change.now_us() - TicksUs();
}

void HeadCache::UpdateDataset(const WriteSet& change, const LockedDataset& dataset) {
  const bool may_be_cached = change.is_charges_only() && IsCacheable(dataset);
  const auto found = lineages_.find(dataset.id);
  if (!may_be_cached) {
    if (found == lineages_.end()) return;
    counters_ -= found->second.counters.size();
    lineages_.erase(found);
    return;
  }
  Lineage& lineage = lineages_[dataset.id];
  if (std::exchange(lineage.is_doubted, false)) {
    const ChainHead* const first = change.FirstHeadOf(dataset.id);
    const bool had_moved = !lineage.dataset || first == nullptr || !(*first == lineage.dataset->head);
    if (had_moved) {
      ForgetContents(lineage);
      lineage.to_be_skipped = lineage.penalty;
      lineage.penalty = std::min(2 * lineage.penalty, kMostSkipped);
    }
  }
  lineage.dataset = dataset;
  lineage.used = ++uses_;
}

void HeadCache::SetCounter(const CounterKey& key, const LockedCounter& counter) {
  // Nothing is learnt about a lineage whose first dataset is not cached.
  const auto found = lineages_.find(counter.lineage_id);
  if (found == lineages_.end() || !found->second.dataset) return;
  const auto [known, is_new] = found->second.counters.insert_or_assign(key, counter);
  known->second.spent_added = 0;
  known->second.held_added = 0;
  if (is_new) ++counters_;
}

void HeadCache::ForgetContents(Lineage& lineage) {
  counters_ -= lineage.counters.size();
  lineage.counters.clear();
  lineage.dataset.reset();
}

void HeadCache::EvictBeyondBounds() {
  while (lineages_.size() > bounds_.lineages || counters_ > bounds_.counters) {
    const auto oldest =
        std::min_element(lineages_.begin(), lineages_.end(),
                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    counters_ -= oldest->second.counters.size();
    lineages_.erase(oldest);
  }
}

void HeadCache::RecordHit(const std::set<std::string>& dataset_ids) {
  const std::scoped_lock lock(mutex_);
  for (const std::string& id : dataset_ids) {
    if (const auto found = lineages_.find(id); found != lineages_.end()) found->second.penalty = 1;
  }
}

void HeadCache::RecordMiss(const std::set<std::string>& dataset_ids) {
  const std::scoped_lock lock(mutex_);
  for (const std::string& id : dataset_ids) {
    if (const auto found = lineages_.find(id); found != lineages_.end()) found->second.is_doubted = true;
  }
}

size_t HeadCache::lineages() const {
  const std::scoped_lock lock(mutex_);
  return lineages_.size();
}

size_t HeadCache::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

}  // namespace curator::ledger::sql
