#include "service/quotas/period_use.h"

#include <utility>

namespace curator::service {

PeriodUse::PeriodUse(absl::Duration length, Clock clock)
    : seconds_(absl::ToInt64Seconds(length)), clock_(std::move(clock)) {}

bool PeriodUse::Add(const std::string& principal, int64_t amount, int64_t most) {
  const int64_t now = PeriodNow();
  const absl::MutexLock lock(&mutex_);
  if (period_ != now) {
    period_ = now;
    used_.clear();
  }
  const auto found = used_.find(principal);
  const int64_t used = found == used_.end() ? 0 : found->second;
  if (amount > most - used) return false;
  used_[principal] = used + amount;
  return true;
}

int64_t PeriodUse::UsedBy(const std::string& principal) const {
  const int64_t now = PeriodNow();
  const absl::MutexLock lock(&mutex_);
  const auto found = used_.find(principal);
  return period_ != now || found == used_.end() ? 0 : found->second;
}

absl::Duration PeriodUse::Left() const {
  const absl::Time now = clock_();
  return absl::FromUnixSeconds((absl::ToUnixSeconds(now) / seconds_ + 1) * seconds_) - now;
}

int64_t PeriodUse::PeriodNow() const {
  return absl::ToUnixSeconds(clock_()) / seconds_;
}

}  // namespace curator::service
