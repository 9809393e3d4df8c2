#include "audit/refusal_bound.h"

#include <cstddef>
#include <utility>

namespace curator::audit {
namespace {

constexpr int64_t kDayUs = int64_t{86'400} * 1'000'000;
// In development mode there may be any number of names. Those beyond share the bound of unidentified callers.
constexpr size_t kMostPrincipals = 100'000;

}  // namespace

bool RefusalBound::Admit(const std::string& principal, int64_t now_us) {
  if (const int64_t today = now_us / kDayUs; today != day_) {
    day_ = today;
    recorded_.clear();
  }
  const bool has_place = recorded_.size() < kMostPrincipals || recorded_.contains(principal);
  const std::string& whose = has_place ? principal : std::string();
  int64_t& recorded = recorded_[whose];
  if (recorded < a_day_) {
    ++recorded;
    return true;
  }
  Count& count = counted_[whose];
  if (count.count++ == 0) count.since_us = now_us;
  return false;
}

std::vector<RefusalBound::Count> RefusalBound::TakeCounts() {
  std::vector<Count> taken;
  for (auto& [principal, count] : std::exchange(counted_, {})) {
    count.principal = principal;
    taken.push_back(std::move(count));
  }
  return taken;
}

}  // namespace curator::audit
