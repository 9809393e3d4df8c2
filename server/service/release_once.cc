#include "service/release_once.h"

#include "base/status_macros.h"
#include "host/entropy.h"

namespace curator::service {
namespace {

// Says nothing about what happened: an error after the look could depend on a record.
absl::Status OpaqueFailure() {
  return absl::InternalError(
      "the request failed after it had been charged; the charge stands and no answer will be given");
}

}  // namespace

absl::StatusOr<ledger::Attempt> BeginOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                          ChargeOrder order) {
  std::string sealed_key = sealer.Seal(host::NewDrawKey(), order.fingerprint);
  return ledger.Begin({.dataset_id = std::move(order.dataset_id),
                       .dataset_version = order.dataset_version,
                       .principal = std::move(order.principal),
                       .request_id = std::move(order.request_id),
                       .fingerprint = std::move(order.fingerprint),
                       .kind = std::move(order.kind),
                       .event = std::move(order.event),
                       .label = std::move(order.label),
                       .sealed_key = std::move(sealed_key),
                       .postings = std::move(order.postings)});
}

absl::StatusOr<ledger::Release> FinishOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                           const ledger::Attempt& attempt, const Draw& draw,
                                           const std::function<Failure()>& on_failure) {
  // Nothing has been looked at yet, so this error may be told; the charge waits for whoever holds the right
  // server key.
  ASSIGN_OR_RETURN(const dp::DrawKey key, sealer.Unseal(attempt.sealed_key, attempt.charge.fingerprint));
  const absl::StatusOr<std::string> drawn = draw(key);
  if (drawn.ok()) return ledger.Store(attempt, *drawn);
  if (on_failure() == Failure::kForfeit) RETURN_IF_ERROR(ledger.Forfeit(attempt, "failed after the look"));
  return OpaqueFailure();
}

absl::StatusOr<ReleasedOnce> ReleaseOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                         ChargeOrder order, const Draw& draw) {
  ASSIGN_OR_RETURN(ledger::Attempt attempt, BeginOnce(ledger, sealer, std::move(order)));
  if (attempt.release) return ReleasedOnce{*std::move(attempt.release), true};
  ASSIGN_OR_RETURN(ledger::Release release,
                   FinishOnce(ledger, sealer, attempt, draw, [] { return Failure::kForfeit; }));
  return ReleasedOnce{std::move(release), false};
}

absl::Status ForfeitUnfinished(ledger::Ledger& ledger, const ledger::Charge& charge) {
  ASSIGN_OR_RETURN(const ledger::Attempt attempt, ledger.Begin({.dataset_id = charge.dataset_id,
                                                                .dataset_version = charge.dataset_version,
                                                                .principal = charge.principal,
                                                                .request_id = charge.request_id,
                                                                .fingerprint = charge.fingerprint,
                                                                .kind = charge.kind,
                                                                .event = charge.event,
                                                                .label = charge.label,
                                                                .sealed_key = {},
                                                                .postings = charge.postings}));
  if (attempt.release) return absl::OkStatus();
  return ledger.Forfeit(attempt, "cancelled");
}

KeyedLock::Holder::Holder(KeyedLock& lock, std::string key) : lock_(lock), key_(std::move(key)) {
  const absl::MutexLock guard(&lock_.mutex_);
  const auto is_free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock_.mutex_) {
    return !lock_.held_.contains(key_);
  };
  lock_.mutex_.Await(absl::Condition(&is_free));
  lock_.held_.insert(key_);
}

KeyedLock::Holder::~Holder() {
  const absl::MutexLock guard(&lock_.mutex_);
  lock_.held_.erase(key_);
}

}  // namespace curator::service
