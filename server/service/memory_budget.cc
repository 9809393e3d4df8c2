#include "service/memory_budget.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::service {
namespace {

constexpr int64_t kBytesPerMegabyte = 1'000'000;

int64_t MegabytesOf(int64_t bytes) {
  return (bytes + kBytesPerMegabyte - 1) / kBytesPerMegabyte;
}

const std::string kWork;  // no principal has this name

absl::Status HeldByOthers(int64_t bytes) {
  return absl::UnavailableError(
      absl::StrCat("other requests hold the memory that this one would take (up to ", MegabytesOf(bytes),
                   " MB); nothing was charged; ask again"));
}

}  // namespace

absl::Status TakesTooMuch(std::string_view field, std::string_view for_what, int64_t bytes, int64_t most,
                          std::string_view remedy) {
  return InvalidField(std::string(field),
                      absl::StrCat("would take up to ", MegabytesOf(bytes), " MB of memory ",
                                   std::string(for_what), "; at most ", most / kBytesPerMegabyte,
                                   " MB are given to one request: ", std::string(remedy)));
}

MemoryBudget::Lease& MemoryBudget::Lease::operator=(Lease&& other) noexcept {
  if (budget_ != nullptr) budget_->GiveBack(holder_, bytes_);
  budget_ = std::exchange(other.budget_, nullptr);
  holder_ = std::move(other.holder_);
  bytes_ = other.bytes_;
  return *this;
}

MemoryBudget::Lease::~Lease() {
  if (budget_ != nullptr) budget_->GiveBack(holder_, bytes_);
}

absl::StatusOr<MemoryBudget::Lease> MemoryBudget::Take(const Principal& principal, int64_t bytes,
                                                       const std::stop_token& client_left) {
  absl::StatusOr<Lease> lease = TakeFor(principal.name(), bytes, 0, longest_wait_, client_left);
  if (!absl::IsDeadlineExceeded(lease.status())) return lease;
  return HeldByOthers(bytes);
}

absl::Status MemoryBudget::Grow(Lease& lease, int64_t bytes, const std::stop_token& client_left) {
  absl::StatusOr<Lease> more = TakeFor(lease.holder_, bytes, lease.bytes_, longest_wait_, client_left);
  if (absl::IsDeadlineExceeded(more.status())) return HeldByOthers(lease.bytes_ + bytes);
  RETURN_IF_ERROR(more.status());
  lease.bytes_ += std::exchange(more->bytes_, 0);
  return absl::OkStatus();
}

void MemoryBudget::Shrink(Lease& lease, int64_t bytes) {
  if (lease.bytes_ <= bytes) return;
  GiveBack(lease.holder_, lease.bytes_ - bytes);
  lease.bytes_ = bytes;
}

absl::StatusOr<MemoryBudget::Lease> MemoryBudget::AwaitForWork(int64_t bytes, std::stop_token stop) {
  return TakeFor(kWork, bytes, 0, absl::InfiniteDuration(), stop);
}

absl::StatusOr<MemoryBudget::Lease> MemoryBudget::TakeFor(const std::string& holder, int64_t bytes,
                                                          int64_t held_before, absl::Duration longest,
                                                          const std::stop_token& stop) {
  if (bytes > bytes_ - held_before) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request would take up to ", MegabytesOf(held_before + bytes),
                     " MB of memory; this server gives its requests ", MegabytesOf(bytes_),
                     " MB together: ask for less at once"));
  }
  Lease lease(nullptr, holder, bytes);
  Waiter mine{.holder = holder, .bytes = bytes, .held_before = held_before};
  const std::stop_callback wake(stop, [&] {
    const absl::MutexLock guard(&mutex_);
    mine.is_stopped = true;
  });
  const absl::MutexLock guard(&mutex_);
  held_.try_emplace(holder, 0);  // everything that could fail comes before the request is admitted
  const auto first_new = std::ranges::find(waiting_, 0, &Waiter::held_before);
  const auto place = waiting_.insert(held_before > 0 ? first_new : waiting_.end(), &mine);
  AdmitWaiting();
  const auto is_decided = [&mine] { return mine.is_admitted || mine.is_stopped; };
  mutex_.AwaitWithTimeout(absl::Condition(&is_decided), longest);
  if (mine.is_admitted) {
    lease.budget_ = this;
    return lease;
  }
  waiting_.erase(place);
  AdmitWaiting();  // those that waited behind this one
  ForgetIfIdle(holder);
  return mine.is_stopped ? absl::CancelledError("stopped while it waited for memory")
                         : absl::DeadlineExceededError("");
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
  const auto found = held_.find(waiter.holder);
  const int64_t held = found == held_.end() ? 0 : found->second;
  if (held + waiter.bytes <= bytes_ / 2) return true;
  // One request may take more. Of several that grow it is the first, when all that their principal holds is
  // theirs: otherwise each would wait for the others.
  int64_t of_those_that_grow = 0;
  const Waiter* first = nullptr;
  for (const Waiter* const other : waiting_) {
    if (other->held_before == 0 || other->holder != waiter.holder) continue;
    if (first == nullptr) first = other;
    of_those_that_grow += other->held_before;
  }
  return waiter.held_before == 0 ? held == 0 : held == of_those_that_grow && first == &waiter;
}

bool MemoryBudget::AnotherGrows(const Waiter& waiter) const {
  return std::ranges::any_of(waiting_,
                             [&](const Waiter* other) { return other->held_before > 0 && other != &waiter; });
}

void MemoryBudget::AdmitWaiting() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    Waiter& waiter = **each;
    if (!IsWithinShare(waiter)) {
      ++each;
      continue;
    }
    if (waiter.bytes > free_) {
      // What becomes free is kept for a request, whose wait is short, unless it waits for another request
      // that waits, too.
      const bool is_stuck = waiter.held_before > 0 && AnotherGrows(waiter);
      if (!is_stuck && waiter.holder != kWork) return;
      ++each;
      continue;
    }
    free_ -= waiter.bytes;
    held_.find(waiter.holder)->second += waiter.bytes;
    waiter.is_admitted = true;
    each = waiting_.erase(each);
  }
}

void MemoryBudget::GiveBack(const std::string& holder, int64_t bytes) {
  const absl::MutexLock guard(&mutex_);
  free_ += bytes;
  // A lease of nothing may outlive what is known of its holder.
  const auto found = held_.find(holder);
  if (found != held_.end()) found->second -= bytes;
  AdmitWaiting();
  ForgetIfIdle(holder);
}

void MemoryBudget::ForgetIfIdle(const std::string& holder) {
  const auto found = held_.find(holder);
  if (found == held_.end() || found->second != 0) return;
  const bool is_waiting =
      std::ranges::any_of(waiting_, [&](const Waiter* each) { return each->holder == holder; });
  if (!is_waiting) held_.erase(found);
}

absl::Status RequestMemory::Add(int64_t bytes) {
  if (budget_ != nullptr && bytes_ == 0) {
    ASSIGN_OR_RETURN(lease_, budget_->Take(*principal_, bytes, client_left_));
  } else if (budget_ != nullptr) {
    RETURN_IF_ERROR(budget_->Grow(lease_, bytes, client_left_));
  }
  bytes_ += bytes;
  most_bytes_ = std::max(most_bytes_, bytes_);
  return absl::OkStatus();
}

absl::Status RequestMemory::AddUpToAll(int64_t bytes) {
  if (budget_ != nullptr) bytes = std::min(bytes, budget_->total() - bytes_);
  return bytes > 0 ? Add(bytes) : absl::OkStatus();
}

void RequestMemory::ShrinkTo(int64_t bytes) {
  if (budget_ != nullptr) budget_->Shrink(lease_, bytes);
  bytes_ = std::min(bytes_, bytes);
}

}  // namespace curator::service
