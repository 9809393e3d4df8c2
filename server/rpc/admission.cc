#include "rpc/admission.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::rpc {
namespace {

constexpr std::array<const char*, kCallKinds> kNouns = {"calls", "streams from clients", "watches",
                                                        "answers to be taken"};

constexpr std::chrono::milliseconds kRetryWhenShareIsTaken(500);

// A kind without a quota is bounded by what the server can bear.
int64_t QuotaOf(CallKind kind, const Quotas& quotas) {
  switch (kind) {
    case CallKind::kCall:
      return quotas.concurrent_calls;
    case CallKind::kStream:
      return quotas.concurrent_imports;
    case CallKind::kWatch:
      return quotas.watches;
    case CallKind::kSend:
      break;
  }
  return std::numeric_limits<int64_t>::max();
}

CallsAllowed CallsAllowedBy(const Quotas& quotas) {
  return {.per_second = quotas.calls_per_second, .burst = quotas.calls_after_a_pause};
}

}  // namespace

Admission::Admission(std::optional<QuotaTable> quotas) : quotas_(std::move(quotas)) {}

int Admission::MostOf(CallKind kind, const std::string& principal) const {
  const int most = kPlaces[static_cast<size_t>(kind)].of_one;
  if (!quotas_ || principal.empty()) return most;
  return static_cast<int>(std::min<int64_t>(most, QuotaOf(kind, quotas_->Of(principal))));
}

Admission::InUse Admission::UsedBy(const std::string& principal) const {
  InUse used;
  if (quotas_) used.calls_after_a_pause = rate_.Used(principal, CallsAllowedBy(quotas_->Of(principal)));
  const absl::MutexLock lock(&mutex_);
  for (size_t kind = 0; kind < taken_.size(); ++kind) {
    const auto own = taken_[kind].by_principal.find(principal);
    if (own != taken_[kind].by_principal.end()) used.places[kind] = own->second;
  }
  return used;
}

Admission::Place::Place(Place&& other) noexcept
    : admission_(std::exchange(other.admission_, nullptr)),
      kind_(other.kind_),
      principal_(std::move(other.principal_)) {}

Admission::Place::~Place() {
  if (admission_ != nullptr) admission_->Free(kind_, principal_);
}

absl::StatusOr<Admission::Place> Admission::Admit(CallKind kind, const std::string& principal) {
  const auto index = static_cast<size_t>(kind);
  const bool counts = quotas_ && !principal.empty() && kind != CallKind::kSend;
  if (counts) RETURN_IF_ERROR(rate_.Count(principal, CallsAllowedBy(quotas_->Of(principal))));
  const int of_one = MostOf(kind, principal);
  const absl::MutexLock lock(&mutex_);
  if (closed_) {
    return absl::UnavailableError("the server is shutting down: ask again later with the same request id");
  }
  Taken& taken = taken_[index];
  const auto own = taken.by_principal.find(principal);
  if (own != taken.by_principal.end() && own->second >= of_one) {
    const std::string whose = principal.empty() ? "callers without a principal" : "one principal";
    const std::string message = absl::StrCat("the server handles at most ", of_one, " ", kNouns[index],
                                             " of ", whose, " at a time: ask again when one has ended");
    return principal.empty() ? Overloaded(message) : OverQuota(message, kRetryWhenShareIsTaken);
  }
  if (taken.in_all >= kPlaces[index].in_all) {
    return Overloaded(absl::StrCat("the server handles as many ", kNouns[index],
                                   " as it can at a time: ask again later with the same request id"));
  }
  ++taken.in_all;
  ++taken.by_principal[principal];
  return Place(*this, kind, principal);
}

void Admission::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

void Admission::Free(CallKind kind, const std::string& principal) {
  const absl::MutexLock lock(&mutex_);
  Taken& taken = taken_[static_cast<size_t>(kind)];
  --taken.in_all;
  const auto own = taken.by_principal.find(principal);
  if (--own->second == 0) taken.by_principal.erase(own);
}

}  // namespace curator::rpc
