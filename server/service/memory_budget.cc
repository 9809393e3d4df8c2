#include "service/memory_budget.h"

#include "absl/strings/str_cat.h"

namespace curator::service {
namespace {

constexpr int64_t kBytesPerMegabyte = 1'000'000;

int64_t MegabytesOf(int64_t bytes) {
  return (bytes + kBytesPerMegabyte - 1) / kBytesPerMegabyte;
}

}  // namespace

MemoryBudget::Lease& MemoryBudget::Lease::operator=(Lease&& other) noexcept {
  if (budget_ != nullptr) budget_->GiveBack(principal_, bytes_);
  budget_ = std::exchange(other.budget_, nullptr);
  principal_ = std::move(other.principal_);
  bytes_ = other.bytes_;
  return *this;
}

MemoryBudget::Lease::~Lease() {
  if (budget_ != nullptr) budget_->GiveBack(principal_, bytes_);
}

absl::StatusOr<MemoryBudget::Lease> MemoryBudget::Take(const Principal& principal, int64_t bytes) {
  if (bytes > bytes_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the request would take up to ", MegabytesOf(bytes), " MB of memory; this server gives its requests ",
        MegabytesOf(bytes_), " MB together: ask for less at once"));
  }
  Lease lease(nullptr, principal.name(), bytes);
  Waiter mine{.principal = principal.name(), .bytes = bytes};
  const absl::MutexLock guard(&mutex_);
  held_.try_emplace(principal.name(), 0);  // everything that could fail comes before the request is admitted
  const auto place = waiting_.insert(waiting_.end(), &mine);
  AdmitWaiting();
  mutex_.AwaitWithTimeout(absl::Condition(&mine.is_admitted), longest_wait_);
  if (mine.is_admitted) {
    lease.budget_ = this;
    return lease;
  }
  waiting_.erase(place);
  AdmitWaiting();  // those that waited behind this one
  ForgetIfIdle(principal.name());
  return absl::UnavailableError(
      absl::StrCat("other requests hold the memory that this one would take (up to ", MegabytesOf(bytes),
                   " MB); nothing was charged; ask again"));
}

int64_t MemoryBudget::taken() const {
  const absl::MutexLock guard(&mutex_);
  return bytes_ - free_;
}

int64_t MemoryBudget::waiting() const {
  const absl::MutexLock guard(&mutex_);
  return static_cast<int64_t>(waiting_.size());
}

bool MemoryBudget::IsWithinShare(const Waiter& waiter) const {
  const auto found = held_.find(waiter.principal);
  const int64_t held = found == held_.end() ? 0 : found->second;
  return held == 0 || held + waiter.bytes <= bytes_ / 2;
}

void MemoryBudget::AdmitWaiting() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    Waiter& waiter = **each;
    if (!IsWithinShare(waiter)) {
      ++each;
      continue;
    }
    if (waiter.bytes > free_) return;  // what becomes free is kept for it
    free_ -= waiter.bytes;
    held_.find(waiter.principal)->second += waiter.bytes;
    waiter.is_admitted = true;
    each = waiting_.erase(each);
  }
}

void MemoryBudget::GiveBack(const std::string& principal, int64_t bytes) {
  const absl::MutexLock guard(&mutex_);
  free_ += bytes;
  held_.find(principal)->second -= bytes;
  AdmitWaiting();
  ForgetIfIdle(principal);
}

void MemoryBudget::ForgetIfIdle(const std::string& principal) {
  const auto found = held_.find(principal);
  if (waiting_.empty() && found->second == 0) held_.erase(found);
}

}  // namespace curator::service
