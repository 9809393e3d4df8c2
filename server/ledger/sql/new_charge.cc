#include "ledger/sql/new_charge.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/sql/charge_steps.h"
#include "ledger/sql/staged_releases.h"

namespace curator::ledger::sql {

absl::StatusOr<Attempt> Resume(const StoredCharge& stored, const ChargeRequest& request,
                               const ChargeIdentity& identity) {
  if (!IsSameRequest(stored.charge, request)) {
    return absl::AlreadyExistsError(absl::StrCat(
        "request id ", request.request_id, " was used by another request of ", request.principal.name()));
  }
  if (stored.charge.deadline_us > 0) {
    return absl::FailedPreconditionError("this request id belongs to a reservation");
  }
  Attempt attempt;
  switch (stored.charge.state) {
    case ChargeState::kCommitted:
      if (stored.charge.release_id.empty())
        return absl::DataLossError("a charge was committed without its release");
      attempt.charge = stored.charge;
      return attempt;
    case ChargeState::kStarted:
      // The same charge id: an earlier run of this call charged, and its outcome was lost.
      attempt.newly_charged = stored.charge.id == identity.id;
      attempt.sealed_key = stored.sealed_key;
      attempt.token = identity.token;
      attempt.charge = stored.charge;
      attempt.entry_seq = stored.entry_seq;
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

NewCharge::NewCharge(const ChargeRequest& request, ChargeIdentity identity)
    : request_(request),
      identity_(std::move(identity)),
      bytes_(BytesOf(request)),
      encoded_(Encode(request, identity_)) {}

void NewCharge::AddNeeds(Needs& needs) const {
  needs.dataset_ids.insert(request_.dataset_id);
  for (const Posting& posting : request_.postings) needs.account_ids.insert(posting.account_id);
  needs.keys.insert(ChargeKeyOf(request_));
}

absl::Status NewCharge::Decide(WriteSet& change, const FoundCharges& found) {
  const StoredCharge* const stored = found.ByKey(ChargeKeyOf(request_));
  if (stored == nullptr) return Admit(change);
  ASSIGN_OR_RETURN(attempt_, Resume(*stored, request_, identity_));
  if (attempt_.token.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(DiscardStaged(change, stored->charge.id));
  StoredCharge resumed = *stored;
  resumed.attempt_token = identity_.token;
  ChangeOpenCharge(change, *stored, resumed);
  return absl::OkStatus();
}

absl::Status NewCharge::DecideOptimistically(WriteSet& change) {
  return Admit(change);
}

absl::Status NewCharge::Admit(WriteSet& change) {
  RETURN_IF_ERROR(CheckAdmission(change, request_));
  attempt_ = {};
  for (const Posting& posting : request_.postings) {
    const CounterKey key(posting.account_id, posting.counter);
    change.AddSpent(key, posting.cost);
    attempt_.moved.push_back({posting.account_id, change.counter(key)->Balance(posting.counter)});
  }
  // An earlier run may have moved it out.
  const bool was_moved = encoded_.row.empty();
  std::vector<EncodedCharge> charges;
  charges.push_back(was_moved ? Encode(request_, identity_) : std::exchange(encoded_, {}));
  attempt_.entry = InsertCharges(change, std::move(charges)).front();
  attempt_.entry_seq = attempt_.entry->seq;
  attempt_.newly_charged = true;
  attempt_.charge.created_at_us = change.now_us();
  return absl::OkStatus();
}

Attempt NewCharge::TakeAttempt() && {
  const bool is_new = attempt_.entry.has_value();
  if (is_new) {
    attempt_.charge = ChargeOf(request_, identity_, attempt_.charge.created_at_us);
    attempt_.token = identity_.token;
    attempt_.sealed_key = request_.sealed_key;
  }
  return std::move(attempt_);
}

}  // namespace curator::ledger::sql
