// T1 and T2: the charge before the draw, the release after it.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// What the key's first request left for this one.
absl::StatusOr<Attempt> Resume(Transaction& transaction, StoredCharge stored, const ChargeRequest& request,
                               const std::string& charge_id, const std::string& token) {
  if (stored.charge.fingerprint != request.fingerprint) {
    return absl::AlreadyExistsError(absl::StrCat("request id ", request.request_id,
                                                 " was used by another request of ", request.principal));
  }
  if (stored.charge.deadline_us > 0) {
    return absl::FailedPreconditionError("this request id belongs to a reservation");
  }
  Attempt attempt;
  switch (stored.charge.state) {
    case ChargeState::kCommitted: {
      if (stored.charge.release_id.empty()) {
        return absl::FailedPreconditionError(
            "this charge was committed without a release: there is nothing to repeat");
      }
      ASSIGN_OR_RETURN(attempt.release, ReadRelease(transaction, stored.charge.release_id));
      attempt.charge = std::move(stored.charge);
      return attempt;
    }
    case ChargeState::kStarted: {
      // The same id means that this very call charged on an earlier run, whose outcome it did not learn.
      attempt.newly_charged = stored.charge.id == charge_id;
      attempt.sealed_key = std::move(stored.sealed_key);
      attempt.token = token;
      attempt.charge = std::move(stored.charge);
      RETURN_IF_ERROR(
          transaction
              .Execute("UPDATE charges SET attempt_token = $2 WHERE id = $1", {attempt.charge.id, token})
              .status());
      return attempt;
    }
    case ChargeState::kForfeited:
      return absl::FailedPreconditionError(absl::StrCat("this request was charged and forfeited (",
                                                        stored.charge.reason,
                                                        "): it is never drawn again. Use a new request id"));
    case ChargeState::kReserved:
    case ChargeState::kCancelled:
      break;
  }
  return absl::InternalError(
      absl::StrCat("a charge that was not reserved is ", std::string(StateName(stored.charge.state))));
}

absl::Status CheckToken(const StoredCharge& stored, const Attempt& attempt) {
  if (!attempt.token.empty() && stored.attempt_token == attempt.token) return absl::OkStatus();
  return absl::AbortedError("another attempt has taken this charge over: its outcome is the one that counts");
}

}  // namespace

absl::StatusOr<Attempt> SqlLedger::ChargeOrFind(Change& change, const ChargeRequest& request,
                                                const std::string& charge_id, const std::string& token) {
  RETURN_IF_ERROR(change.LockChains({request.dataset_id}));
  ASSIGN_OR_RETURN(std::vector<StoredCharge> known,
                   ReadCharges(change.transaction(), "c.principal = $1 AND c.request_id = $2",
                               {request.principal, request.request_id}));
  if (!known.empty())
    return Resume(change.transaction(), std::move(known.front()), request, charge_id, token);

  std::set<int64_t> account_ids;
  for (const Posting& posting : request.postings) account_ids.insert(posting.account_id);
  RETURN_IF_ERROR(change.LockCounters(account_ids));
  RETURN_IF_ERROR(CheckAdmission(change, request));
  for (const Posting& posting : request.postings)
    change.AddSpent({posting.account_id, posting.counter}, posting.cost);
  RETURN_IF_ERROR(InsertCharge(change, request, {.id = charge_id, .token = token, .deadline_us = 0}));
  ASSIGN_OR_RETURN(StoredCharge stored, ReadCharge(change.transaction(), charge_id));
  return Attempt{.charge = std::move(stored.charge),
                 .token = token,
                 .sealed_key = std::move(stored.sealed_key),
                 .newly_charged = true,
                 .release = std::nullopt};
}

absl::StatusOr<Attempt> SqlLedger::Begin(const ChargeRequest& request) {
  RETURN_IF_ERROR(CheckChargeRequest(request));
  const std::string charge_id = NewUuid();
  const std::string token = NewUuid();
  Attempt attempt;
  RETURN_IF_ERROR(Write([&](Change& change) -> absl::Status {
    ASSIGN_OR_RETURN(attempt, ChargeOrFind(change, request, charge_id, token));
    return absl::OkStatus();
  }));
  return attempt;
}

absl::StatusOr<Release> SqlLedger::Store(const Attempt& attempt, std::string_view payload) {
  const std::string fresh_id = NewUuid();
  const std::string payload_hash = Sha256(payload);
  std::string release_id;
  RETURN_IF_ERROR(Write([&](Change& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({attempt.charge.dataset_id}));
    ASSIGN_OR_RETURN(const StoredCharge stored, ReadCharge(change.transaction(), attempt.charge.id));
    RETURN_IF_ERROR(CheckToken(stored, attempt));
    if (stored.charge.state == ChargeState::kCommitted) {
      ASSIGN_OR_RETURN(const Release earlier, ReadRelease(change.transaction(), stored.charge.release_id));
      if (earlier.payload_hash != payload_hash) {
        return absl::FailedPreconditionError("this charge has another release already");
      }
      release_id = earlier.id;
      return absl::OkStatus();
    }
    if (stored.charge.state != ChargeState::kStarted) {
      return absl::FailedPreconditionError(
          absl::StrCat("a ", std::string(StateName(stored.charge.state)), " charge takes no release"));
    }
    release_id = fresh_id;
    const std::string& charge_id = stored.charge.id;
    RETURN_IF_ERROR(
        change.transaction()
            .Execute("INSERT INTO releases (id, charge_id, dataset_id, payload, payload_hash, "
                     "payload_size, created_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                     {release_id, charge_id, stored.charge.dataset_id, Bytes{std::string(payload)},
                      Bytes{payload_hash}, static_cast<int64_t>(payload.size()), change.now_us()})
            .status());
    RETURN_IF_ERROR(EndCharge(change, stored.charge, ChargeState::kCommitted, ""));
    change.Append({.dataset_id = stored.charge.dataset_id,
                   .kind = kCommitted,
                   .charge_id = charge_id,
                   .payload = ledger::Bytes(ChargeChanged{.reason = {},
                                                          .release_id = release_id,
                                                          .payload_hash = payload_hash,
                                                          .deadline_us = 0,
                                                          .postings = {}}),
                   .actor = stored.charge.principal,
                   .prev_hash = {},
                   .hash = {}});
    return absl::OkStatus();
  }));
  // What is answered is what was read back.
  return GetRelease(release_id);
}

absl::Status SqlLedger::Forfeit(const Attempt& attempt, std::string_view reason) {
  RETURN_IF_ERROR(CheckText("reason", reason));
  return Write([&](Change& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({attempt.charge.dataset_id}));
    ASSIGN_OR_RETURN(const StoredCharge stored, ReadCharge(change.transaction(), attempt.charge.id));
    RETURN_IF_ERROR(CheckToken(stored, attempt));
    if (stored.charge.state == ChargeState::kForfeited) return absl::OkStatus();
    if (stored.charge.state != ChargeState::kStarted) {
      return absl::FailedPreconditionError(
          absl::StrCat("a ", std::string(StateName(stored.charge.state)), " charge cannot be forfeited"));
    }
    RETURN_IF_ERROR(EndCharge(change, stored.charge, ChargeState::kForfeited, reason));
    change.Append({.dataset_id = stored.charge.dataset_id,
                   .kind = kForfeited,
                   .charge_id = stored.charge.id,
                   .payload = ledger::Bytes(ChargeChanged{.reason = std::string(reason),
                                                          .release_id = {},
                                                          .payload_hash = {},
                                                          .deadline_us = 0,
                                                          .postings = {}}),
                   .actor = stored.charge.principal,
                   .prev_hash = {},
                   .hash = {}});
    return absl::OkStatus();
  });
}

}  // namespace curator::ledger::sql
