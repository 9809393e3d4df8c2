#include "ledger/sql/head_cache.h"

#include <algorithm>
#include <utility>

namespace curator::ledger::sql {
namespace {

constexpr int kMostSkipped = 64;

}  // namespace

HeadCache::Lineage* HeadCache::LineageWith(const std::string& dataset_id) {
  const auto found = lineage_of_.find(dataset_id);
  return found == lineage_of_.end() ? nullptr : &lineages_.at(found->second);
}

std::optional<CachedHeads> HeadCache::Find(const std::set<std::string>& dataset_ids,
                                           const std::set<int64_t>& account_ids) {
  const std::scoped_lock lock(mutex_);
  CachedHeads cached;
  std::set<Lineage*> lineages;
  bool is_complete = true;
  for (const std::string& id : dataset_ids) {
    Lineage* const lineage = LineageWith(id);
    if (lineage == nullptr) return std::nullopt;
    const std::optional<LockedDataset>& dataset = lineage->datasets.at(id);
    is_complete = is_complete && dataset.has_value();
    if (dataset.has_value()) cached.datasets.emplace(id, *dataset);
    lineages.insert(lineage);
  }
  for (Lineage* const lineage : lineages) {
    lineage->used = ++uses_;
    is_complete = is_complete && !lineage->is_doubted;
    // Each of the batch's lineages counts this batch as skipped.
    if (lineage->to_be_skipped > 0) {
      --lineage->to_be_skipped;
      is_complete = false;
    }
    for (const int64_t account : account_ids) {
      for (auto counter = lineage->counters.lower_bound({account, ""});
           counter != lineage->counters.end() && counter->first.first == account; ++counter) {
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
  std::set<std::string, std::less<>> outrun;
  for (const auto& [id, dataset] : change.datasets()) {
    if (!UpdateDataset(change, dataset)) outrun.insert(dataset.lineage_id);
  }
  for (const auto& [key, counter] : change.counters()) {
    if (!outrun.contains(counter.lineage_id)) SetCounter(key, counter);
  }
  EvictBeyondBounds();
  // An optimistic change has derived its time from this cache; a change that locked nothing has read none.
  if (!change.is_optimistic() && change.now_us() > 0) ahead_us_ = change.now_us() - TicksUs();
}

bool HeadCache::UpdateDataset(const WriteSet& change, const LockedDataset& dataset) {
  if (!change.is_charges_only()) {
    if (const auto known = lineage_of_.find(dataset.id); known != lineage_of_.end())
      Evict(std::string(known->second));
    return true;
  }
  Lineage& lineage = lineages_[dataset.lineage_id];
  std::optional<LockedDataset>& cached = lineage.datasets[dataset.id];
  lineage_of_[dataset.id] = dataset.lineage_id;
  if (std::exchange(lineage.is_doubted, false)) {
    const ChainHead* const first = change.FirstHeadOf(dataset.id);
    const bool had_moved = !cached || first == nullptr || !(*first == cached->head);
    if (had_moved) {
      ForgetContents(lineage);
      lineage.to_be_skipped = lineage.penalty;
      lineage.penalty = std::min(2 * lineage.penalty, kMostSkipped);
    }
  }
  if (cached && cached->head.seq > dataset.head.seq) return false;
  std::shared_ptr<const RequiredAccounts> required = dataset.required_accounts;
  const bool is_known = cached && cached->revision == dataset.revision;
  if (required == nullptr && is_known) required = cached->required_accounts;
  cached = dataset;
  cached->required_accounts = std::move(required);
  lineage.used = ++uses_;
  return true;
}

void HeadCache::SetCounter(const CounterKey& key, const LockedCounter& counter) {
  // Counters are cached only with a dataset of their lineage.
  const auto found = lineages_.find(counter.lineage_id);
  if (found == lineages_.end()) return;
  const auto [known, is_new] = found->second.counters.insert_or_assign(key, counter);
  known->second.spent_added = 0;
  known->second.held_added = 0;
  if (is_new) ++counters_;
}

void HeadCache::ForgetContents(Lineage& lineage) {
  counters_ -= lineage.counters.size();
  lineage.counters.clear();
  for (auto& [id, dataset] : lineage.datasets) dataset.reset();
}

void HeadCache::Evict(const std::string& lineage_id) {
  const auto evicted = lineages_.find(lineage_id);
  counters_ -= evicted->second.counters.size();
  for (const auto& [id, dataset] : evicted->second.datasets) lineage_of_.erase(id);
  lineages_.erase(evicted);
}

void HeadCache::EvictBeyondBounds() {
  while (lineage_of_.size() > bounds_.datasets || counters_ > bounds_.counters) {
    const auto oldest =
        std::min_element(lineages_.begin(), lineages_.end(),
                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    Evict(std::string(oldest->first));
  }
}

void HeadCache::RecordHit(const std::set<std::string>& dataset_ids) {
  const std::scoped_lock lock(mutex_);
  for (const std::string& id : dataset_ids) {
    if (Lineage* const lineage = LineageWith(id)) lineage->penalty = 1;
  }
}

void HeadCache::RecordMiss(const std::set<std::string>& dataset_ids) {
  const std::scoped_lock lock(mutex_);
  for (const std::string& id : dataset_ids) {
    if (Lineage* const lineage = LineageWith(id)) lineage->is_doubted = true;
  }
}

size_t HeadCache::datasets() const {
  const std::scoped_lock lock(mutex_);
  return lineage_of_.size();
}

size_t HeadCache::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

}  // namespace curator::ledger::sql
