#include "ledger/sql/charge_batch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/charge_steps.h"

namespace curator::ledger::sql {
namespace {

// The charges that exist under the keys of a batch, by principal and request id.
using ExistingCharges = std::map<std::pair<std::string, std::string>, StoredCharge>;

Statement LookUpByKey(const std::vector<ProposedCharge>& proposed) {
  Statement look_up{"SELECT c.id FROM charges c WHERE c.principal = $1 AND c.request_id = $2",
                    {},
                    {ColumnType::kText, ColumnType::kText}};
  for (const ProposedCharge& one : proposed) {
    look_up.each.push_back({one.request->principal.name(), one.request->request_id});
  }
  return look_up;
}

absl::StatusOr<ExistingCharges> ReadExistingCharges(Transaction& transaction, const Answers& ids) {
  ExistingCharges existing;
  for (const std::vector<Row>& rows : ids) {
    if (rows.empty()) continue;
    ASSIGN_OR_RETURN(StoredCharge stored, ReadCharge(transaction, rows.front().Text(0)));
    const std::pair<std::string, std::string> key(stored.charge.principal, stored.charge.request_id);
    existing.emplace(key, std::move(stored));
  }
  return existing;
}

// The part of a new charge's attempt that its request does not determine.
Attempt NewAttempt(const WriteSet& change) {
  Attempt attempt;
  attempt.charge.created_at_us = change.now_us();
  attempt.newly_charged = true;
  return attempt;
}

void Spend(WriteSet& change, const ChargeRequest& request) {
  for (const Posting& posting : request.postings) {
    change.AddSpent({posting.account_id, posting.counter}, posting.cost);
  }
}

}  // namespace

absl::StatusOr<Attempt> Resume(StoredCharge stored, const ProposedCharge& proposed) {
  if (!IsSameRequest(stored.charge, *proposed.request)) {
    return absl::AlreadyExistsError(absl::StrCat("request id ", proposed.request->request_id,
                                                 " was used by another request of ",
                                                 proposed.request->principal.name()));
  }
  if (stored.charge.deadline_us > 0) {
    return absl::FailedPreconditionError("this request id belongs to a reservation");
  }
  Attempt attempt;
  switch (stored.charge.state) {
    case ChargeState::kCommitted:
      if (stored.charge.release_id.empty())
        return absl::DataLossError("a charge was committed without its release");
      attempt.charge = std::move(stored.charge);
      return attempt;
    case ChargeState::kStarted:
      // The same charge id: an earlier run of this call charged, and its outcome was lost.
      attempt.newly_charged = stored.charge.id == proposed.identity.id;
      attempt.sealed_key = std::move(stored.sealed_key);
      attempt.token = proposed.identity.token;
      attempt.charge = std::move(stored.charge);
      return attempt;
    case ChargeState::kForfeited:
      return absl::FailedPreconditionError(absl::StrCat("this request was charged and forfeited (",
                                                        stored.charge.reason,
                                                        "): it is not drawn again. Use a new request id"));
    case ChargeState::kReserved:
    case ChargeState::kCancelled:
      break;
  }
  return absl::InternalError(
      absl::StrCat("a charge that was not reserved is ", std::string(StateName(stored.charge.state))));
}

LockSet LocksFor(const std::vector<ProposedCharge>& proposed) {
  LockSet locks;
  for (const ProposedCharge& one : proposed) {
    locks.dataset_ids.insert(one.request->dataset_id);
    for (const Posting& posting : one.request->postings) locks.account_ids.insert(posting.account_id);
  }
  return locks;
}

absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideBatch(
    WriteSet& change, const std::vector<ProposedCharge>& proposed) {
  change.MarkChargesOnly();
  const LockSet locks = LocksFor(proposed);
  ASSIGN_OR_RETURN(const Answers ids,
                   change.LockAll(locks.dataset_ids, locks.account_ids, LookUpByKey(proposed)));
  ASSIGN_OR_RETURN(ExistingCharges existing, ReadExistingCharges(change.transaction(), ids));

  std::vector<absl::StatusOr<Attempt>> results;
  std::vector<EncodedCharge> admitted;
  for (const ProposedCharge& one : proposed) {
    const ChargeRequest& request = *one.request;
    if (const auto found = existing.find({request.principal.name(), request.request_id});
        found != existing.end()) {
      results.push_back(Resume(found->second, one));
      if (results.back().ok() && !results.back()->token.empty()) {
        StoredCharge resumed = found->second;
        resumed.attempt_token = one.identity.token;
        ChangeOpenCharge(change, found->second, resumed);
      }
      continue;
    }
    if (const absl::Status fits = CheckAdmission(change, request); !fits.ok()) {
      results.emplace_back(fits);
      continue;
    }
    Spend(change, request);
    // Not moved from `proposed`, because this may run several times.
    admitted.push_back(Encode(request, one.identity));
    results.emplace_back(NewAttempt(change));
  }
  InsertCharges(change, std::move(admitted));
  return results;
}

Attempt CompleteNewAttempt(Attempt attempt, const ChargeRequest& request, const ChargeIdentity& identity) {
  const bool is_new = attempt.newly_charged && attempt.charge.id.empty();
  if (!is_new) return attempt;
  attempt.charge = ChargeOf(request, identity, attempt.charge.created_at_us);
  attempt.token = identity.token;
  attempt.sealed_key = request.sealed_key;
  return attempt;
}

absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideOptimistically(
    WriteSet& change, std::vector<ProposedCharge>& proposed) {
  change.MarkChargesOnly();
  std::vector<absl::StatusOr<Attempt>> results;
  results.reserve(proposed.size());
  std::vector<EncodedCharge> admitted;
  admitted.reserve(proposed.size());
  for (ProposedCharge& one : proposed) {
    if (!CheckAdmission(change, *one.request).ok())
      return absl::AbortedError("the charge does not fit the cached values");
    Spend(change, *one.request);
    // An earlier run of this body may have moved it out.
    const bool was_moved = one.encoded.row.empty();
    admitted.push_back(was_moved ? Encode(*one.request, one.identity) : std::exchange(one.encoded, {}));
    results.emplace_back(NewAttempt(change));
  }
  InsertCharges(change, std::move(admitted));
  return results;
}

}  // namespace curator::ledger::sql
