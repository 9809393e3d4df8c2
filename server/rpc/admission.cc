#include "rpc/admission.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::rpc {
namespace {

constexpr std::array<const char*, kCallKinds> kNouns = {"calls", "streams from clients", "watches",
                                                        "answers to be taken"};

constexpr std::chrono::milliseconds kRetryWhenShareIsTaken(500);

}  // namespace

Admission::Place::Place(Place&& other) noexcept
    : admission_(std::exchange(other.admission_, nullptr)),
      kind_(other.kind_),
      principal_(std::move(other.principal_)) {}

Admission::Place::~Place() {
  if (admission_ != nullptr) admission_->Free(kind_, principal_);
}

absl::StatusOr<Admission::Place> Admission::Admit(CallKind kind, const std::string& principal) {
  const auto index = static_cast<size_t>(kind);
  const Places& places = kPlaces[index];
  const absl::MutexLock lock(&mutex_);
  if (closed_) {
    return absl::UnavailableError("the server is shutting down: ask again later with the same request id");
  }
  Taken& taken = taken_[index];
  const auto own = taken.by_principal.find(principal);
  if (own != taken.by_principal.end() && own->second >= places.of_one) {
    const std::string whose = principal.empty() ? "callers without a principal" : "one principal";
    const std::string message = absl::StrCat("the server handles at most ", places.of_one, " ", kNouns[index],
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
