#include "service/release_once.h"

#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "host/entropy.h"

namespace curator::service {

namespace {

// Says nothing about the cause: an error after data access could depend on a record.
absl::Status OpaqueFailure() {
  return absl::InternalError(
      "the request failed after it had been charged; the charge stands and no answer will be given");
}

absl::StatusOr<ledger::Attempt> Begin(ledger::Ledger& ledger, const host::KeySealer& sealer,
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

// The charge of the same request, when its draw runs in this process.
absl::StatusOr<std::optional<std::string>> FindRunning(const RunningOperations& running,
                                                       ledger::Ledger& ledger, const ChargeOrder& order) {
  const absl::StatusOr<ledger::Charge> charge = ledger.FindCharge(order.principal, order.request_id);
  if (absl::IsNotFound(charge.status())) return std::nullopt;
  RETURN_IF_ERROR(charge.status());
  if (!running.ShareDone(charge->id)) return std::nullopt;
  if (charge->fingerprint != order.fingerprint) {
    return absl::AlreadyExistsError("another request was made under this request id: use a new one");
  }
  return charge->id;
}

}  // namespace

absl::StatusOr<ReleasedOnce> ReleaseOnce(RequestLocks& locks, ledger::Ledger& ledger,
                                         const host::KeySealer& sealer, ChargeOrder order, const Draw& draw) {
  ASSIGN_OR_RETURN(const RequestLocks::Holder lock,
                   locks.Hold(order.principal, order.request_id, order.client_left));
  ASSIGN_OR_RETURN(ledger::Attempt attempt, Begin(ledger, sealer, std::move(order)));
  if (attempt.release) return ReleasedOnce{*std::move(attempt.release), true};
  ASSIGN_OR_RETURN(ledger::Release release,
                   FinishOnce(ledger, sealer, attempt, draw, [] { return Failure::kForfeit; }));
  return ReleasedOnce{std::move(release), false};
}

absl::StatusOr<std::string> BeginOnce(RequestLocks& locks, const RunningOperations& running,
                                      ledger::Ledger& ledger, const host::KeySealer& sealer,
                                      ChargeOrder order, const BackgroundDraw& draw) {
  ASSIGN_OR_RETURN(const RequestLocks::Holder lock,
                   locks.Hold(order.principal, order.request_id, order.client_left));
  ASSIGN_OR_RETURN(const std::optional<std::string> found, FindRunning(running, ledger, order));
  if (found) return *found;
  RETURN_IF_ERROR(draw.reserve());
  ASSIGN_OR_RETURN(ledger::Attempt attempt, Begin(ledger, sealer, std::move(order)));
  std::string charge_id = attempt.charge.id;
  if (!attempt.release) draw.start(std::move(attempt));
  return charge_id;
}

absl::StatusOr<ledger::Release> FinishOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                           const ledger::Attempt& attempt, const Draw& draw,
                                           const std::function<Failure()>& on_failure) {
  // No data has been accessed yet, so this error may be reported. The charge stays for a process that holds
  // the right server key.
  ASSIGN_OR_RETURN(const dp::DrawKey key, sealer.Unseal(attempt.sealed_key, attempt.charge.fingerprint));
  const absl::StatusOr<Drawn> drawn = draw(key);
  if (drawn.ok()) return ledger.Store(attempt, drawn->payload, drawn->measures);
  if (on_failure() == Failure::kForfeit) RETURN_IF_ERROR(ledger.Forfeit(attempt, "failed after the look"));
  return OpaqueFailure();
}

absl::Status ForfeitUnfinished(ledger::Ledger& ledger, const ledger::Charge& charge) {
  ASSIGN_OR_RETURN(const ledger::Attempt attempt,
                   ledger.Begin({.dataset_id = charge.dataset_id,
                                 .dataset_version = charge.dataset_version,
                                 .principal = Principal::OfStoredRow(charge.principal),
                                 .request_id = charge.request_id,
                                 .fingerprint = charge.fingerprint,
                                 .kind = charge.kind,
                                 .event = charge.event,
                                 .label = charge.label,
                                 .postings = charge.postings}));
  if (attempt.release) return absl::OkStatus();
  return ledger.Forfeit(attempt, "cancelled");
}

}  // namespace curator::service
