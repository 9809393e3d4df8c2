#include "service/accounts/comparison_cache.h"

namespace curator::service {

std::optional<ComparisonCache::Rows> ComparisonCache::Find(std::string_view key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  kept_.splice(kept_.begin(), kept_, found->second);
  return kept_.front().second;
}

void ComparisonCache::Keep(std::string_view key, Rows rows) {
  std::list<Kept> added;
  added.emplace_back(std::string(key), std::move(rows));
  const absl::MutexLock lock(&mutex_);
  const auto [place, is_new] = by_key_.try_emplace(std::string(key), added.begin());
  if (!is_new) return;  // another call computed the same meanwhile
  kept_.splice(kept_.begin(), added);
  if (kept_.size() <= most_) return;
  by_key_.erase(kept_.back().first);
  kept_.pop_back();
}

}  // namespace curator::service
