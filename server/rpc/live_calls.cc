#include "rpc/live_calls.h"

#include <utility>
#include <vector>

namespace curator::rpc {

LiveCalls::LiveCalls(std::chrono::milliseconds between_checks)
    : checks_(between_checks, [this] { Check(); }) {}

std::unique_ptr<LiveCalls::Entry> LiveCalls::Add(Authenticator& authenticator, Caller caller,
                                                 OnRevoked on_revoked) {
  const absl::MutexLock lock(&mutex_);
  std::unique_ptr<Entry> entry(new Entry(*this, next_));
  calls_.emplace(next_++,
                 std::make_shared<Live>(Live{authenticator, std::move(caller), std::move(on_revoked)}));
  return entry;
}

LiveCalls::Entry::~Entry() {
  const absl::MutexLock lock(&calls_.mutex_);
  calls_.calls_.erase(number_);
}

void LiveCalls::Check() {
  const absl::MutexLock checking(&checking_);
  std::vector<std::shared_ptr<Live>> calls;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [number, live] : calls_) calls.push_back(live);
  }
  for (const std::shared_ptr<Live>& live : calls) {
    if (live->is_revoked) continue;
    const absl::Status still = live->authenticator.CheckStill(live->caller);
    // While the directory is unavailable, calls that were authenticated go on.
    if (still.ok() || absl::IsUnavailable(still)) continue;
    live->is_revoked = true;
    live->on_revoked(still);
  }
}

}  // namespace curator::rpc
