#include "rpc/call_rate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::rpc {
namespace {

constexpr size_t kFewKept = 1024;

std::chrono::nanoseconds IntervalOf(const CallsAllowed& allowed) {
  return std::chrono::nanoseconds(std::chrono::seconds(1)) / allowed.per_second;
}

}  // namespace

CallRate::CallRate(std::function<Steady::time_point()> now) : now_(std::move(now)), most_kept_(kFewKept) {}

absl::Status CallRate::Count(const std::string& principal, const CallsAllowed& allowed) {
  const std::chrono::nanoseconds interval = IntervalOf(allowed);
  const Steady::time_point now = now_();
  const absl::MutexLock lock(&mutex_);
  if (due_.size() >= most_kept_) ForgetIdle(now);
  const auto found = due_.find(principal);
  const Steady::time_point due = found == due_.end() ? now : std::max(found->second, now);
  const auto early = due - now - (allowed.burst - 1) * interval;
  if (early > Steady::duration::zero()) {
    return OverQuota(absl::StrCat("one principal makes at most ", allowed.per_second, " calls a second, and ",
                                  allowed.burst, " at once after a pause"),
                     std::chrono::ceil<std::chrono::milliseconds>(early));
  }
  due_[principal] = due + interval;
  return absl::OkStatus();
}

int64_t CallRate::Used(const std::string& principal, const CallsAllowed& allowed) const {
  const Steady::time_point now = now_();
  const absl::MutexLock lock(&mutex_);
  const auto found = due_.find(principal);
  if (found == due_.end() || found->second <= now) return 0;
  const std::chrono::nanoseconds interval = IntervalOf(allowed);
  return std::min<int64_t>(allowed.burst,
                           (found->second - now + interval - std::chrono::nanoseconds(1)) / interval);
}

size_t CallRate::principals() const {
  const absl::MutexLock lock(&mutex_);
  return due_.size();
}

void CallRate::ForgetIdle(Steady::time_point now) {
  std::erase_if(due_, [&](const auto& each) { return each.second <= now; });
  most_kept_ = std::max(kFewKept, 2 * due_.size());
}

}  // namespace curator::rpc
