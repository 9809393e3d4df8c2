#include "service/charges/daily_charges.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::service {
namespace {

int64_t DayOf(absl::Time time) {
  return absl::ToUnixSeconds(time) / absl::ToInt64Seconds(absl::Hours(24));
}

}  // namespace

int64_t DailyCharges::CountOf(const std::string& name) const {
  if (day_ != DayOf(clock_())) return 0;
  const auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second;
}

absl::Status DailyCharges::CheckRoomFor(const Principal& principal, int64_t charges) const {
  const absl::MutexLock lock(&mutex_);
  if (charges <= most_ - CountOf(principal.name())) return absl::OkStatus();
  const absl::Time now = clock_();
  const absl::Time midnight = absl::UnixEpoch() + (DayOf(now) + 1) * absl::Hours(24);
  return OverQuota(
      absl::StrCat(
          "you may make ", most_, " new charges a day, extensions included, and have made ",
          CountOf(principal.name()),
          " today (UTC); what was charged before is still answered, started, committed or cancelled"),
      absl::ToChronoMilliseconds(midnight - now));
}

absl::Status DailyCharges::CheckRoomForNew(ledger::Ledger& ledger, const Principal& principal,
                                           std::string_view request_id) const {
  const absl::Status room = CheckRoomFor(principal, 1);
  if (room.ok()) return room;
  // Found, or an error that does not say whether it is there.
  const absl::Status earlier = ledger.FindCharge(principal, request_id).status();
  return absl::IsNotFound(earlier) ? room : earlier;
}

int64_t DailyCharges::MadeBy(const std::string& name) const {
  const absl::MutexLock lock(&mutex_);
  return CountOf(name);
}

void DailyCharges::Add(const Principal& principal, int64_t charges) {
  const absl::MutexLock lock(&mutex_);
  if (const int64_t today = DayOf(clock_()); day_ != today) {
    day_ = today;
    counts_.clear();
  }
  counts_[principal.name()] += charges;
}

}  // namespace curator::service
