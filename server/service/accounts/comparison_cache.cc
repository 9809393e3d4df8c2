#include "service/accounts/comparison_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace curator::service {

std::list<ComparisonCache::Kept>::iterator ComparisonCache::Position(const Principal& caller,
                                                                     std::string_view key) {
  return std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.key == key && kept.caller == caller.name(); });
}

std::optional<ComparisonCache::Rows> ComparisonCache::Find(const Principal& caller, std::string_view key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = Position(caller, key);
  if (found == kept_.end()) return std::nullopt;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().rows;
}

void ComparisonCache::Keep(const Principal& caller, std::string_view key, Rows rows) {
  const absl::MutexLock lock(&mutex_);
  if (Position(caller, key) != kept_.end()) return;  // another call computed the same meanwhile
  kept_.push_front({caller.name(), std::string(key), std::move(rows)});
  const auto is_callers = [&](const Kept& kept) { return kept.caller == caller.name(); };
  if (static_cast<size_t>(std::ranges::count_if(kept_, is_callers)) > most_of_one_) {
    kept_.erase(std::prev(std::find_if(kept_.rbegin(), kept_.rend(), is_callers).base()));
  } else if (kept_.size() > most_) {
    kept_.pop_back();
  }
}

}  // namespace curator::service
