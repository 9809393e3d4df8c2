#include "rpc/admission.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::rpc {
namespace {

constexpr std::array<const char*, kCallKinds> kNouns = {"calls", "streams from clients", "watches",
                                                        "answers to be taken"};

constexpr std::chrono::milliseconds kRetryWhenShareIsTaken(500);

std::array<Places, kCallKinds> PlacesUnder(const std::optional<config::Quotas>& quotas) {
  std::array<Places, kCallKinds> places = kPlaces;
  if (!quotas) return places;
  const auto bound = [&](CallKind kind, int64_t most) {
    Places& each = places[static_cast<size_t>(kind)];
    each.of_one = static_cast<int>(std::min<int64_t>(each.of_one, most));
  };
  bound(CallKind::kCall, quotas->concurrent_calls);
  bound(CallKind::kStream, quotas->concurrent_imports);
  bound(CallKind::kWatch, quotas->watches);
  return places;
}

}  // namespace

Admission::Admission(const std::optional<config::Quotas>& quotas) : places_(PlacesUnder(quotas)) {
  if (quotas) rate_.emplace(quotas->calls_per_second, quotas->calls_after_a_pause);
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
  const Places& places = places_[index];
  const bool counts = rate_ && !principal.empty() && kind != CallKind::kSend;
  if (counts) RETURN_IF_ERROR(rate_->Count(principal));
  const int of_one = principal.empty() ? kPlaces[index].of_one : places.of_one;
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
  if (taken.in_all >= places.in_all) {
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
