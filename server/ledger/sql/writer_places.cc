#include "ledger/sql/writer_places.h"

namespace curator::ledger::sql {

std::optional<WriterPlaces::Place> WriterPlaces::Enter(std::string_view lineage,
                                                       std::chrono::milliseconds longest_wait) {
  std::unique_lock lock(mutex_);
  const Lineages::iterator own = lineages_.try_emplace(std::string(lineage)).first;
  if (!TryTake(own->second)) {
    const auto mine = waiting_.emplace(waiting_.end());
    ++own->second.waiting;
    mine->lineage = &own->second;
    const bool has_entered = mine->entered.wait_for(lock, longest_wait, [&] { return mine->has_entered; });
    waiting_.erase(mine);
    --own->second.waiting;
    if (!has_entered) {
      ForgetIfUnused(own);
      return std::nullopt;
    }
  }
  return Place(*this, own);
}

bool WriterPlaces::TryTake(Lineage& lineage) {
  if (in_all_ >= most_in_all_ || lineage.taken >= most_of_one_) return false;
  ++lineage.taken;
  ++in_all_;
  return true;
}

void WriterPlaces::ForgetIfUnused(Lineages::iterator lineage) {
  if (lineage->second.taken == 0 && lineage->second.waiting == 0) lineages_.erase(lineage);
}

void WriterPlaces::Leave(Lineages::iterator lineage) {
  const std::scoped_lock lock(mutex_);
  --lineage->second.taken;
  --in_all_;
  // The place goes to the next caller at once; it is not free in between.
  for (Waiter& waiter : waiting_) {
    if (waiter.has_entered || !TryTake(*waiter.lineage)) continue;
    waiter.has_entered = true;
    waiter.entered.notify_one();  // under the lock: once the waiter has entered, it may destroy this
    break;
  }
  ForgetIfUnused(lineage);
}

}  // namespace curator::ledger::sql
