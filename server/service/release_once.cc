#include "service/release_once.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "host/entropy.h"

namespace curator::service {

namespace {

constexpr absl::Duration kQueuedLifetime = absl::Hours(24 * 30);

constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
// How long a caller's thread waits for the store before it says that the answer is not stored yet.
constexpr absl::Duration kCallersPatience = absl::Seconds(1);

constexpr char kFailedReason[] = "failed after data access";
constexpr char kOtherDrawReason[] = "the program has changed what it draws for this request";

// Says nothing about the cause: an error after data access could depend on a record.
absl::Status OpaqueFailure() {
  return absl::InternalError(
      "the request failed after it had been charged; the charge stands and no answer will be given");
}

absl::Status NotStoredYet() {
  return absl::UnavailableError(
      "the request is charged and its answer is not stored yet: ask again with the same request id");
}

absl::Status AnotherRequest() {
  return absl::AlreadyExistsError("another request was made under this request id: use a new one");
}

ledger::ChargeRequest RequestOf(ChargeOrder order, std::string sealed_key) {
  return {.dataset_id = std::move(order.dataset_id),
          .dataset_version = order.dataset_version,
          .dataset_revision = order.dataset_revision,
          .refusal_rules_hash = order.refusal_rules_hash,
          .principal = std::move(order.principal),
          .request_id = std::move(order.request_id),
          .fingerprint = std::move(order.fingerprint),
          .earlier_fingerprint = std::move(order.earlier_fingerprint),
          .draw_identity = std::move(order.draw_identity),
          .kind = std::move(order.kind),
          .event = std::move(order.event),
          .label = std::move(order.label),
          .sealed_key = std::move(sealed_key),
          .postings = std::move(order.postings)};
}

// The charge of the same request, when its draw is queued or runs in this process.
absl::StatusOr<std::optional<std::string>> FindRunning(const RunningOperations& running,
                                                       ledger::Ledger& ledger,
                                                       const ledger::ChargeRequest& request) {
  const absl::StatusOr<ledger::Charge> charge = ledger.FindCharge(request.principal, request.request_id);
  if (absl::IsNotFound(charge.status())) return std::nullopt;
  RETURN_IF_ERROR(charge.status());
  // Its thread may still have it for a moment after the ledger says that it has ended.
  const bool has_failed =
      charge->state == ledger::ChargeState::kForfeited || charge->state == ledger::ChargeState::kCancelled;
  if (has_failed) return std::nullopt;
  const bool is_stored = charge->state == ledger::ChargeState::kCommitted && !charge->release_id.empty();
  if (!is_stored && !running.ShareDone(charge->id)) return std::nullopt;
  if (!ledger::IsSameRequest(*charge, request)) return AnotherRequest();
  return charge->id;
}

// What the sealed key of a charge belongs to.
const std::string& SealContext(const ledger::Charge& charge) {
  return charge.draw_identity.empty() ? charge.fingerprint : charge.draw_identity;
}

absl::StatusOr<dp::DrawKey> KeyOf(const host::KeySealer& sealer, const ledger::Attempt& attempt) {
  ASSIGN_OR_RETURN(const dp::DrawKey key, sealer.Unseal(attempt.sealed_key, SealContext(attempt.charge)));
  const std::string& identity = attempt.charge.draw_identity;
  return identity.empty() ? key : host::DeriveDrawKey(key, identity);
}

absl::Status DrawRanOutOfMemory() {
  return absl::UnavailableError(
      "the server ran out of memory; the request is charged, and the same request id repeats its draw");
}

// None when memory ran out. What a method holds is predicted from public facts. The copy of parts that are
// joined, and the groups that the nested method keeps, are not: they grow with the table (docs/PRIVACY.md).
std::optional<absl::StatusOr<Drawn>> DrawInMemory(const Draw& draw, const dp::DrawKey& key) {
  try {
    return draw(key);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

bool IsSameDraw(const ledger::Charge& charge, const std::string& draw_identity, bool draws_as_before) {
  return charge.draw_identity.empty() ? draws_as_before : charge.draw_identity == draw_identity;
}

absl::Status OtherDraw(std::string_view what_follows) {
  return absl::FailedPreconditionError(absl::StrCat(
      kOtherDrawReason, " since it was priced: ", std::string(what_follows), ". Use a new request id"));
}

// Ends a charge for which this program would draw something else than was priced.
absl::Status EndOtherDraw(ledger::Ledger& ledger, const ledger::Charge& charge) {
  if (ledger::IsQueuedDraw(charge)) {
    RETURN_IF_ERROR(CancelQueuedCharge(ledger, charge, kOtherDrawReason));
    return OtherDraw("nothing was read, and its cost is free again");
  }
  ASSIGN_OR_RETURN(const ledger::Attempt attempt, ledger.TakeOver(charge.id));
  if (!attempt.release) RETURN_IF_ERROR(ledger.Forfeit(attempt, kOtherDrawReason));
  return OtherDraw("it is not drawn again, and its charge stands");
}

// Calls until the outcome is known: with growing pauses while the store cannot be reached, as long as `wait`
// returns true. A transaction that lost a race looks like a stale token (ABORTED): it is tried again a few
// times.
absl::Status UntilKnown(const std::function<absl::Status()>& call,
                        const std::function<bool(absl::Duration)>& wait) {
  int aborted = 0;
  int defects = 0;  // which should not hold a thread for as long as an unreachable store may
  absl::Duration pause = kFirstPause;
  while (true) {
    const absl::Status status = call();
    const bool is_final = absl::IsAborted(status)    ? ++aborted > 3
                          : absl::IsInternal(status) ? ++defects > 20
                                                     : IsFinalEnding(status);
    if (is_final || !wait(pause)) return status;
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Waits on the caller's own thread, and not for long.
std::function<bool(absl::Duration)> CallersPatience() {
  return [left = kCallersPatience](absl::Duration pause) mutable {
    if (left <= absl::ZeroDuration()) return false;
    left -= pause;
    absl::SleepFor(pause);
    return true;
  };
}

}  // namespace

bool IsReleased(const ledger::Charge& charge, std::string_view fingerprint) {
  return !charge.release_id.empty() && charge.fingerprint == fingerprint;
}

absl::StatusOr<ReleasedOnce> ReleaseOnce(RequestLocks& locks, ledger::Ledger& ledger,
                                         const host::KeySealer& sealer, LateEndings& late, ChargeOrder order,
                                         const Draw& draw) {
  ASSIGN_OR_RETURN(const RequestLocks::Holder lock,
                   locks.Hold(order.principal, order.request_id, order.client_left));
  const std::string identity = order.draw_identity;
  const bool draws_as_before = order.draws_as_before;
  const bool is_expected_new = order.is_expected_new;
  const std::function<void()> on_new_charge = order.on_new_charge;
  std::string sealed_key = sealer.Seal(host::NewDrawKey(), identity);
  ASSIGN_OR_RETURN(ledger::Attempt attempt, ledger.Begin(RequestOf(std::move(order), std::move(sealed_key))));
  if (attempt.newly_charged && on_new_charge) on_new_charge();
  if (attempt.release) return ReleasedOnce{*std::move(attempt.release), true};
  if (is_expected_new && !attempt.newly_charged) return absl::AbortedError("this request was charged before");
  if (!IsSameDraw(attempt.charge, identity, draws_as_before)) return EndOtherDraw(ledger, attempt.charge);
  ASSIGN_OR_RETURN(ledger::Release release, FinishOnce(ledger, sealer, attempt, draw,
                                                       {.on_failure = [] { return Failure::kForfeit; },
                                                        .wait = CallersPatience(),
                                                        .hand_over =
                                                            [&](std::optional<Drawn> drawn) {
                                                              late.Add(attempt, std::move(drawn),
                                                                       kFailedReason);
                                                            }}));
  ReleasedOnce released{std::move(release), false};
  if (attempt.newly_charged) released.charged = std::move(attempt);
  return released;
}

absl::StatusOr<std::string> QueueOnce(RequestLocks& locks, const RunningOperations& running,
                                      ledger::Ledger& ledger, ChargeOrder order, const QueuedDraw& draw) {
  ASSIGN_OR_RETURN(const RequestLocks::Holder lock,
                   locks.Hold(order.principal, order.request_id, order.client_left));
  const bool draws_as_before = order.draws_as_before;
  const ledger::ChargeRequest request = RequestOf(std::move(order), "");
  ASSIGN_OR_RETURN(const std::optional<std::string> found, FindRunning(running, ledger, request));
  if (found) return *found;
  RETURN_IF_ERROR(draw.reserve());
  ASSIGN_OR_RETURN(ledger::Charge charge, ledger.Queue(request, absl::ToInt64Microseconds(kQueuedLifetime)));
  std::string charge_id = charge.id;
  if (charge.state == ledger::ChargeState::kCommitted) return charge_id;
  if (!IsSameDraw(charge, request.draw_identity, draws_as_before)) return EndOtherDraw(ledger, charge);
  draw.enqueue(std::move(charge));
  return charge_id;
}

absl::Status CancelQueuedCharge(ledger::Ledger& ledger, const ledger::Charge& charge,
                                std::string_view reason) {
  return ledger.CancelReserved(charge.id, reason, Principal::OfStoredRow(ledger::StoredPrincipal(charge)))
      .status();
}

absl::StatusOr<ledger::Attempt> StartOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                          const ledger::Charge& charge,
                                          const std::function<bool(absl::Duration)>& wait) {
  absl::StatusOr<ledger::Attempt> attempt;
  const bool is_queued = ledger::IsQueuedDraw(charge);
  const std::string sealed_key =
      is_queued ? sealer.Seal(host::NewDrawKey(), charge.draw_identity) : std::string();
  // One for all calls, so that a later one finds what an earlier one has started.
  const std::string token = host::NewUuid();
  const absl::Status started = UntilKnown(
      [&] {
        attempt = is_queued ? ledger.StartQueued(charge.id, sealed_key, token) : ledger.TakeOver(charge.id);
        return attempt.status();
      },
      wait);
  // What the store says of itself may pass, and the same request id asks again.
  const bool is_refused =
      (absl::IsFailedPrecondition(started) || absl::IsAborted(started)) && !PublicErrorOf(started);
  if (is_queued && is_refused) {
    CancelQueuedCharge(ledger, charge, PublicMessageOf(started)).IgnoreError();
  }
  return attempt;
}

absl::StatusOr<ledger::Release> FinishOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                           const ledger::Attempt& attempt, const Draw& draw,
                                           const EndPolicy& end) {
  // No data has been accessed yet, so this error may be reported. The charge stays for a process that holds
  // the right server key.
  ASSIGN_OR_RETURN(const dp::DrawKey key, KeyOf(sealer, attempt));
  std::optional<absl::StatusOr<Drawn>> attempted = DrawInMemory(draw, key);
  if (!attempted) return DrawRanOutOfMemory();
  absl::StatusOr<Drawn> drawn = *std::move(attempted);
  if (!drawn.ok()) {
    if (end.on_failure() == Failure::kAbandon) return NotStoredYet();
    const absl::Status forfeited =
        UntilKnown([&] { return ledger.Forfeit(attempt, kFailedReason); }, end.wait);
    if (!IsFinalEnding(forfeited) && end.hand_over) end.hand_over(std::nullopt);
    return absl::IsAborted(forfeited) ? forfeited : OpaqueFailure();
  }
  absl::StatusOr<ledger::Release> release;
  const absl::Status stored = UntilKnown(
      [&] {
        release = ledger.Store(attempt, drawn->payload, drawn->measures);
        return release.status();
      },
      end.wait);
  if (IsFinalEnding(stored)) return release;
  if (end.hand_over) end.hand_over(*std::move(drawn));
  return NotStoredYet();
}

absl::Status ForfeitUnfinished(ledger::Ledger& ledger, std::string_view charge_id, std::string_view reason) {
  ASSIGN_OR_RETURN(const ledger::Attempt attempt, ledger.TakeOver(charge_id));
  if (attempt.release) return absl::OkStatus();
  return ledger.Forfeit(attempt, reason);
}

}  // namespace curator::service
