#include "ledger/sql/turns.h"

namespace curator::ledger::sql {

Turns::Turn Turns::Take() {
  std::unique_lock lock(mutex_);
  const auto place = waiting_.insert(waiting_.end(), Place());
  ended_.wait(lock, [&] { return !is_taken_ && waiting_.begin() == place; });
  waiting_.erase(place);
  is_taken_ = true;
  return Turn(*this);
}

std::optional<Turns::Turn> Turns::TakeWithin(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  const auto place = waiting_.insert(waiting_.end(), Place());
  const bool has_come =
      ended_.wait_for(lock, longest, [&] { return !is_taken_ && waiting_.begin() == place; });
  waiting_.erase(place);
  // The one behind may be the first now.
  if (!has_come) ended_.notify_all();
  if (!has_come) return std::nullopt;
  is_taken_ = true;
  return std::optional<Turn>(std::in_place, *this);
}

int64_t Turns::waiting() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int64_t>(waiting_.size());
}

void Turns::End() {
  const std::scoped_lock lock(mutex_);
  is_taken_ = false;
  ended_.notify_all();
}

}  // namespace curator::ledger::sql
