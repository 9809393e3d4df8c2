#include "ledger/sql/clock_watch.h"

#include <cstdlib>

namespace curator::ledger::sql {
namespace {

constexpr int64_t kMinuteUs = int64_t{60} * 1'000'000;
constexpr int64_t kHourUs = 60 * kMinuteUs;

}  // namespace

ClockWatch::Verdict ClockWatch::Judge(int64_t database_us, int64_t steady_us) {
  const Reading reading{database_us, steady_us};
  const bool is_jump = last_trusted_ && AheadUs(reading, *last_trusted_) > kHourUs;
  if (is_jump) {
    const bool is_new = !jump_ || std::abs(AheadUs(reading, *jump_)) > kHourUs;
    if (is_new) {
      jump_ = reading;
      return Verdict::kJumped;
    }
    if (steady_us - jump_->steady_us < kMinuteUs) return Verdict::kUnconfirmed;
  }
  jump_.reset();
  last_trusted_ = reading;
  return Verdict::kTrusted;
}

}  // namespace curator::ledger::sql
