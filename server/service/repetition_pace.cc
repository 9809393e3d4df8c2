#include "service/repetition_pace.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::service {
namespace {

// From this many on, principals who have not repeated anything lately are forgotten.
constexpr size_t kManyPrincipals = 10'000;

constexpr std::chrono::minutes kLately{1};

// Several shares, so that a client's loop does not ask for each of them.
constexpr std::chrono::milliseconds kRetry{500};

}  // namespace

RepetitionPace::Place& RepetitionPace::Place::operator=(Place&& other) noexcept {
  std::swap(pace_, other.pace_);
  std::swap(principal_, other.principal_);
  return *this;
}

RepetitionPace::Place::~Place() {
  if (pace_ != nullptr) pace_->Free(principal_);
}

RepetitionPace::Repetitions& RepetitionPace::Of(const Principal& principal) {
  if (repetitions_.size() >= kManyPrincipals) {
    std::erase_if(repetitions_, [now = clock_()](const auto& each) {
      return each.second.running == 0 && each.second.used_up_to + kLately <= now;
    });
  }
  return repetitions_[principal.name()];
}

void RepetitionPace::Record(const Principal& principal) {
  const absl::MutexLock lock(&mutex_);
  UseShares(Of(principal), 0);
}

absl::StatusOr<RepetitionPace::Place> RepetitionPace::Take(const Principal& principal) {
  const absl::MutexLock lock(&mutex_);
  Repetitions& own = Of(principal);
  if (own.running >= kMostAtOnce) {
    return OverQuota(absl::StrCat("the server answers at most ", kMostAtOnce,
                                  " repetitions of stored requests of one principal at a time: ask again "
                                  "when one has ended"),
                     kRetry);
  }
  if (own.used_up_to >= clock_() + kSharesOfAPause * kShare) {
    return OverQuota(absl::StrCat("the server answers ", std::chrono::seconds(1) / kShare,
                                  " repetitions of stored requests of one principal in a second: ask again "
                                  "later with the same request id"),
                     kRetry);
  }
  Place place(this, principal.name());
  ++own.running;
  UseShares(own, 1);
  return place;
}

bool RepetitionPace::HasRepeatedLately(const Principal& principal) {
  const absl::MutexLock lock(&mutex_);
  const auto found = repetitions_.find(principal.name());
  return found != repetitions_.end() && clock_() < found->second.used_up_to + kLately;
}

void RepetitionPace::CountBytes(const Principal& principal, int64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  UseShares(repetitions_[principal.name()], bytes / kBytesOfAShare);
}

void RepetitionPace::UseShares(Repetitions& of, int64_t shares) const {
  of.used_up_to = std::max(of.used_up_to, clock_()) + shares * kShare;
}

void RepetitionPace::Free(const std::string& principal) {
  const absl::MutexLock lock(&mutex_);
  --repetitions_.at(principal).running;
}

}  // namespace curator::service
