#include "rpc/call_rate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::rpc {
namespace {

constexpr size_t kFewKept = 1024;

}  // namespace

CallRate::CallRate(int64_t per_second, int64_t burst, std::function<Steady::time_point()> now)
    : per_second_(per_second),
      burst_(burst),
      interval_(std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second),
      now_(std::move(now)),
      most_kept_(kFewKept) {}

absl::Status CallRate::Count(const std::string& principal) {
  const Steady::time_point now = now_();
  const absl::MutexLock lock(&mutex_);
  if (due_.size() >= most_kept_) ForgetIdle(now);
  const auto found = due_.find(principal);
  const Steady::time_point due = found == due_.end() ? now : std::max(found->second, now);
  const auto early = due - now - (burst_ - 1) * interval_;
  if (early > Steady::duration::zero()) {
    return OverQuota(absl::StrCat("one principal makes at most ", per_second_, " calls a second, and ",
                                  burst_, " at once after a pause"),
                     std::chrono::ceil<std::chrono::milliseconds>(early));
  }
  due_[principal] = due + interval_;
  return absl::OkStatus();
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
