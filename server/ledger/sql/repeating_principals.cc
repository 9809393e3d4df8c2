#include "ledger/sql/repeating_principals.h"

#include <cstddef>

namespace curator::ledger::sql {
namespace {

constexpr std::chrono::minutes kRemembered{1};
constexpr size_t kMostPrincipals = 10'000;

}  // namespace

bool RepeatingPrincipals::Contains(const std::string& principal, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  const auto found = until_.find(principal);
  return found != until_.end() && now < found->second;
}

void RepeatingPrincipals::Add(const std::string& principal, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (until_.size() >= kMostPrincipals) {
    std::erase_if(until_, [now](const auto& remembered) { return remembered.second <= now; });
    if (until_.size() >= kMostPrincipals) until_.clear();
  }
  until_[principal] = now + kRemembered;
}

}  // namespace curator::ledger::sql
