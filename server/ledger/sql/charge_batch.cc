#include "ledger/sql/charge_batch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/rows.h"

namespace curator::ledger::sql {
namespace {

// What the key's first request left for this one.
absl::StatusOr<Attempt> Resume(StoredCharge stored, const WantedCharge& wanted) {
  if (stored.charge.fingerprint != wanted.request->fingerprint) {
    return absl::AlreadyExistsError(absl::StrCat("request id ", wanted.request->request_id,
                                                 " was used by another request of ",
                                                 wanted.request->principal));
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
      // The same id means that this very call charged on an earlier run, whose outcome it did not learn.
      attempt.newly_charged = stored.charge.id == wanted.identity.id;
      attempt.sealed_key = std::move(stored.sealed_key);
      attempt.token = wanted.identity.token;
      attempt.charge = std::move(stored.charge);
      return attempt;
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

// The charges that exist under the keys of `wanted`, by principal and request id.
using Known = std::map<std::pair<std::string, std::string>, StoredCharge>;

Statement LookUpOfKeys(const std::vector<WantedCharge>& wanted) {
  Statement look_up{"SELECT c.id FROM charges c WHERE c.principal = $1 AND c.request_id = $2",
                    {},
                    {ColumnType::kText, ColumnType::kText}};
  for (const WantedCharge& one : wanted) {
    look_up.each.push_back({one.request->principal, one.request->request_id});
  }
  return look_up;
}

absl::StatusOr<Known> ReadKnown(Transaction& transaction, const Answers& ids) {
  Known known;
  for (const std::vector<Row>& rows : ids) {
    if (rows.empty()) continue;
    ASSIGN_OR_RETURN(StoredCharge stored, ReadCharge(transaction, rows.front().Text(0)));
    const std::pair<std::string, std::string> key(stored.charge.principal, stored.charge.request_id);
    known.emplace(key, std::move(stored));
  }
  return known;
}

// All that only the batch knows: whoever wanted the charge knows the rest.
Attempt Fresh(const Change& change) {
  Attempt attempt;
  attempt.charge.created_at_us = change.now_us();
  attempt.newly_charged = true;
  return attempt;
}

void Spend(Change& change, const ChargeRequest& request) {
  for (const Posting& posting : request.postings) {
    change.AddSpent({posting.account_id, posting.counter}, posting.cost);
  }
}

}  // namespace

Concerned ConcernedBy(const std::vector<WantedCharge>& wanted) {
  Concerned concerned;
  for (const WantedCharge& one : wanted) {
    concerned.dataset_ids.insert(one.request->dataset_id);
    for (const Posting& posting : one.request->postings) concerned.account_ids.insert(posting.account_id);
  }
  return concerned;
}

absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideBatch(Change& change,
                                                                 const std::vector<WantedCharge>& wanted) {
  change.ChangesChargesOnly();
  const Concerned concerned = ConcernedBy(wanted);
  ASSIGN_OR_RETURN(const Answers ids,
                   change.LockAll(concerned.dataset_ids, concerned.account_ids, LookUpOfKeys(wanted)));
  ASSIGN_OR_RETURN(Known known, ReadKnown(change.transaction(), ids));

  std::vector<absl::StatusOr<Attempt>> results;
  std::vector<EncodedCharge> admitted;
  std::vector<Parameters> tokens;
  for (const WantedCharge& one : wanted) {
    const ChargeRequest& request = *one.request;
    if (const auto found = known.find({request.principal, request.request_id}); found != known.end()) {
      results.push_back(Resume(std::move(found->second), one));
      if (results.back().ok() && !results.back()->token.empty()) {
        tokens.push_back({results.back()->charge.id, one.identity.token});
      }
      continue;
    }
    if (const absl::Status fits = CheckAdmission(change, request); !fits.ok()) {
      results.emplace_back(fits);
      continue;
    }
    Spend(change, request);
    // Anew, because this may run several times.
    admitted.push_back(Encode(request, one.identity));
    results.emplace_back(Fresh(change));
  }
  InsertCharges(change, std::move(admitted));
  RETURN_IF_ERROR(change.transaction()
                      .ExecuteEach("UPDATE charges SET attempt_token = $2 WHERE id = $1", tokens)
                      .status());
  return results;
}

Attempt Complete(Attempt attempt, const ChargeRequest& request, const ChargeIdentity& identity) {
  const bool is_fresh = attempt.newly_charged && attempt.charge.id.empty();
  if (!is_fresh) return attempt;
  attempt.charge = ChargeOf(request, identity, attempt.charge.created_at_us);
  attempt.token = identity.token;
  attempt.sealed_key = request.sealed_key;
  return attempt;
}

absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideGuess(Change& guess,
                                                                 std::vector<WantedCharge>& wanted) {
  guess.ChangesChargesOnly();
  std::vector<absl::StatusOr<Attempt>> results;
  results.reserve(wanted.size());
  std::vector<EncodedCharge> admitted;
  admitted.reserve(wanted.size());
  for (WantedCharge& one : wanted) {
    if (!CheckAdmission(guess, *one.request).ok()) return absl::AbortedError("nobody is refused on a guess");
    Spend(guess, *one.request);
    // What an earlier run of this body has taken is encoded anew.
    const bool was_taken = one.encoded.row.empty();
    admitted.push_back(was_taken ? Encode(*one.request, one.identity) : std::exchange(one.encoded, {}));
    results.emplace_back(Fresh(guess));
  }
  InsertCharges(guess, std::move(admitted));
  return results;
}

}  // namespace curator::ledger::sql
