// Queued draws: charges that are held until this server begins to draw, and attempts that are taken over.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/charge_steps.h"
#include "ledger/sql/held_charges.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/sql_ledger.h"
#include "ledger/sql/staged_releases.h"

namespace curator::ledger::sql {
namespace {

// The charge that exists under the key of `request`, if a draw may still come or came of it.
absl::Status CheckStandsFor(const Charge& charge, const ChargeRequest& request) {
  if (!IsSameRequest(charge, request)) {
    return absl::AlreadyExistsError(absl::StrCat(
        "request id ", request.request_id, " was used by another request of ", request.principal.name()));
  }
  if (charge.state == ChargeState::kForfeited || charge.state == ChargeState::kCancelled) {
    const bool is_forfeited = charge.state == ChargeState::kForfeited;
    return absl::FailedPreconditionError(absl::StrCat(
        "this request was ", is_forfeited ? "charged and forfeited (" : "cancelled (", charge.reason,
        "): it is not drawn", is_forfeited ? " again" : "", ". Use a new request id"));
  }
  return absl::OkStatus();
}

// What may have changed since the draw was priced.
absl::Status CheckMayStart(WriteSet& change, const Charge& charge) {
  const Principal principal = Principal::OfStoredRow(charge.principal);
  RETURN_IF_ERROR(CheckStillAdmissible(change, {.dataset_id = charge.dataset_id,
                                                .dataset_version = charge.dataset_version,
                                                .principal = principal,
                                                .request_id = charge.request_id,
                                                .fingerprint = charge.fingerprint,
                                                .kind = charge.kind,
                                                .event = charge.event,
                                                .label = charge.label,
                                                .sealed_key = {},
                                                .postings = charge.postings}));
  ASSIGN_OR_RETURN(
      const std::vector<Row> allowed,
      change.transaction().Execute(
          "SELECT d.name FROM datasets d WHERE d.id = $1 AND (d.owner = $2 OR EXISTS (SELECT 1 "
          "FROM grants g WHERE g.dataset_id = d.id AND g.grantee = $2 AND (g.roles & $3) <> 0 AND "
          "(g.expires_at_us = 0 OR g.expires_at_us > $4)))",
          {charge.dataset_id, charge.principal, kGrantedAnalyst, change.now_us()}));
  if (!allowed.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(charge.principal, " may not use the dataset of this request any more"));
}

}  // namespace

absl::StatusOr<Charge> SqlLedger::Queue(const ChargeRequest& request, int64_t lifetime_us) {
  RETURN_IF_ERROR(CheckChargeRequest(request));
  RETURN_IF_ERROR(CheckReservationLifetime(lifetime_us));
  if (request.draw_identity.empty()) return InvalidField("draw_identity", "is empty");
  if (!request.sealed_key.empty()) return InvalidField("sealed_key", "is stored when the draw is started");
  const std::vector<ChargeRequest> requests = {request};
  HeldCharges held(requests, {NewChargeId()}, lifetime_us,
                   [](const Charge&, const ChargeRequest&) { return absl::OkStatus(); });
  const absl::Status made = MakeCombined(held);
  NoteHeld(requests, made, held.TakeEffect());
  RETURN_IF_ERROR(made);
  ASSIGN_OR_RETURN(Charge charge, ExpiredIfOverdue(std::move(std::move(held).TakeCharges().front())));
  RETURN_IF_ERROR(CheckStandsFor(charge, request));
  return charge;
}

absl::StatusOr<Attempt> SqlLedger::StartQueued(std::string_view charge_id, std::string_view sealed_key,
                                               std::string_view token) {
  if (sealed_key.empty()) return InvalidField("sealed_key", "is empty");
  RETURN_IF_ERROR(CheckText("token", token));
  const auto start = [&](WriteSet& change, StoredCharge& stored) -> absl::Status {
    Charge& charge = stored.charge;
    // An earlier run of this body, or an earlier call of this attempt, has started it.
    if (charge.state == ChargeState::kStarted && stored.attempt_token == token) return absl::OkStatus();
    if (charge.state == ChargeState::kStarted)
      return absl::AbortedError("another attempt has started this draw: its outcome counts");
    if (!IsQueuedDraw(charge)) return WrongState(charge, "started");
    RETURN_IF_ERROR(CheckMayStart(change, charge));
    FreeHeld(change, charge.postings);
    SpendPostings(change, charge.postings);
    AppendChange(change, charge, kStarted, charge.principal, StartedAt(change, charge.postings));
    const StoredCharge held = stored;
    charge.state = ChargeState::kStarted;
    stored.attempt_token = token;
    stored.sealed_key = sealed_key;
    ChangeOpenCharge(change, held, stored);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(StoredCharge started,
                   ChangeReservation(charge_id, start, ReservationChange::Reads::kMore));
  return Attempt{.charge = std::move(started.charge),
                 .token = std::string(token),
                 .sealed_key = std::move(started.sealed_key),
                 .newly_charged = true,
                 .entry_seq = started.entry_seq};
}

absl::StatusOr<Attempt> SqlLedger::TakeOver(std::string_view charge_id) {
  ASSIGN_OR_RETURN(const StoredCharge found, ReadStoredCharge(charge_id));
  Attempt attempt;
  const std::string token = NewUuid();
  RETURN_IF_ERROR(Write(found.charge.dataset_id, [&](WriteSet& change) -> absl::Status {
    change.MarkChargesOnly();
    RETURN_IF_ERROR(change.LockChains({found.charge.dataset_id}));
    ASSIGN_OR_RETURN(const StoredCharge stored, ReadCharge(change.transaction(), charge_id));
    attempt = {.charge = stored.charge, .token = {}, .sealed_key = {}, .newly_charged = false};
    if (attempt.charge.state == ChargeState::kCommitted && !attempt.charge.release_id.empty())
      return absl::OkStatus();
    const bool is_draw = attempt.charge.state == ChargeState::kStarted && !stored.sealed_key.empty();
    if (!is_draw) return WrongState(attempt.charge, "taken over: it is not a draw that has started");
    RETURN_IF_ERROR(DiscardStaged(change, stored.charge.id));
    attempt.token = token;
    attempt.sealed_key = stored.sealed_key;
    attempt.entry_seq = stored.entry_seq;
    StoredCharge taken_over = stored;
    taken_over.attempt_token = token;
    ChangeOpenCharge(change, stored, taken_over);
    return absl::OkStatus();
  }));
  if (attempt.token.empty()) {
    ASSIGN_OR_RETURN(attempt.release, GetRelease(attempt.charge.release_id));
  }
  return attempt;
}

}  // namespace curator::ledger::sql
