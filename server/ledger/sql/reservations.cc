// Reservations: costs held for mechanisms that run outside of this program.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

absl::Status CheckLifetime(int64_t lifetime_us) {
  constexpr int64_t kMostUs = int64_t{366} * 24 * 3600 * 1'000'000;
  if (lifetime_us >= 1 && lifetime_us <= kMostUs) return absl::OkStatus();
  return InvalidField("lifetime", "is not between 1 microsecond and 366 days");
}

absl::Status WrongState(const Charge& charge, std::string_view action) {
  return absl::FailedPreconditionError(
      absl::StrCat("a charge that is ", std::string(StateName(charge.state)),
                   charge.reason.empty() ? "" : absl::StrCat(" (", charge.reason, ")"), " cannot be ",
                   std::string(action)));
}

void AppendChange(WriteSet& change, const Charge& charge, const char* kind, std::string_view actor,
                  const ChargeChanged& document) {
  change.Append({.dataset_id = charge.dataset_id,
                 .kind = kind,
                 .charge_id = charge.id,
                 .payload = EncodePayload(document),
                 .actor = std::string(actor)});
}

ChargeChanged Because(std::string_view reason) {
  return {.reason = std::string(reason), .deadline_us = 0};
}

absl::Status LockAccountsOf(WriteSet& change, const std::vector<Posting>& postings) {
  std::set<int64_t> account_ids;
  for (const Posting& posting : postings) account_ids.insert(posting.account_id);
  return change.LockCounters(account_ids);
}

void FreeHeld(WriteSet& change, const std::vector<Posting>& postings) {
  for (const Posting& held : postings) change.AddHeld({held.account_id, held.counter}, -held.cost);
}

void Spend(WriteSet& change, const std::vector<Posting>& postings) {
  for (const Posting& posting : postings)
    change.AddSpent({posting.account_id, posting.counter}, posting.cost);
}

absl::Status SpendHeld(WriteSet& change, const Charge& charge, std::string_view reason) {
  FreeHeld(change, charge.postings);
  Spend(change, charge.postings);
  return EndCharge(change, charge, ChargeState::kCommitted, reason);
}

// `held` with the costs that `final_cost` names, and 0 for the others.
absl::StatusOr<std::vector<Posting>> Reduced(std::vector<Posting> held,
                                             const std::vector<Posting>& final_cost) {
  std::vector<Posting> reduced = std::move(held);
  std::vector<int64_t> most;
  for (Posting& posting : reduced) {
    most.push_back(posting.cost);
    posting.cost = 0;
  }
  for (size_t i = 0; i < final_cost.size(); ++i) {
    const auto found = std::find_if(reduced.begin(), reduced.end(), [&](const Posting& posting) {
      return posting.account_id == final_cost[i].account_id && posting.counter == final_cost[i].counter;
    });
    const std::string field = absl::StrCat("final_cost[", i, "]");
    if (found == reduced.end())
      return InvalidField(field, "names a counter that the reservation does not hold");
    const int64_t held_cost = most[static_cast<size_t>(found - reduced.begin())];
    if (final_cost[i].cost > held_cost) {
      return InvalidField(field, absl::StrCat("is more than the ", held_cost, " that the reservation holds"));
    }
    found->cost = final_cost[i].cost;
  }
  return reduced;
}

// The reservation under `request`'s key; empty when the key is new.
absl::StatusOr<std::vector<StoredCharge>> FindReserved(Transaction& transaction,
                                                       const ChargeRequest& request) {
  ASSIGN_OR_RETURN(std::vector<StoredCharge> known,
                   ReadCharges(transaction, "c.principal = $1 AND c.request_id = $2",
                               {request.principal.name(), request.request_id}));
  if (known.empty()) return known;
  if (known.front().charge.fingerprint != request.fingerprint || known.front().charge.deadline_us == 0) {
    return absl::AlreadyExistsError(absl::StrCat(
        "request id ", request.request_id, " was used by another request of ", request.principal.name()));
  }
  return known;
}

// Holds those of `requests` that are not held yet; the charge of requests[i] gets charge_ids[i].
absl::Status HoldAll(WriteSet& change, const std::vector<ChargeRequest>& requests,
                     const std::vector<std::string>& charge_ids, int64_t lifetime_us) {
  std::set<std::string> dataset_ids;
  for (const ChargeRequest& request : requests) dataset_ids.insert(request.dataset_id);
  change.MarkChargesOnly();
  RETURN_IF_ERROR(change.LockChains(dataset_ids));
  std::vector<size_t> new_requests;
  std::vector<Posting> postings;
  for (size_t i = 0; i < requests.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<StoredCharge> known, FindReserved(change.transaction(), requests[i]));
    if (!known.empty()) continue;
    new_requests.push_back(i);
    postings.insert(postings.end(), requests[i].postings.begin(), requests[i].postings.end());
  }
  RETURN_IF_ERROR(LockAccountsOf(change, postings));
  std::vector<EncodedCharge> admitted;
  for (const size_t i : new_requests) {
    RETURN_IF_ERROR(CheckAdmission(change, requests[i]));
    for (const Posting& posting : requests[i].postings) {
      change.AddHeld({posting.account_id, posting.counter}, posting.cost);
    }
    admitted.push_back(
        Encode(requests[i], {.id = charge_ids[i], .deadline_us = change.now_us() + lifetime_us}));
  }
  InsertCharges(change, std::move(admitted));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Charge>> SqlLedger::Reserve(const std::vector<ChargeRequest>& requests,
                                                       int64_t lifetime_us) {
  constexpr size_t kMostRequests = 1000;
  if (requests.empty() || requests.size() > kMostRequests) {
    return InvalidField("requests", "holds none, or more than 1,000");
  }
  RETURN_IF_ERROR(CheckLifetime(lifetime_us));
  // One transaction writes them all, and a store bounds the size of a statement.
  constexpr size_t kMostBytes = size_t{64} << 20;
  size_t bytes = 0;
  std::set<std::pair<std::string, std::string>> keys;
  std::vector<std::string> charge_ids;
  for (size_t i = 0; i < requests.size(); ++i) {
    const absl::Status valid = CheckChargeRequest(requests[i]);
    if (!valid.ok()) return WithinField(absl::StrCat("requests[", i, "]"), valid);
    if (!keys.emplace(requests[i].principal.name(), requests[i].request_id).second) {
      return InvalidField(absl::StrCat("requests[", i, "].request_id"), "appears twice");
    }
    charge_ids.push_back(NewChargeId());
    bytes += BytesOf(requests[i]);
  }
  if (bytes > kMostBytes) {
    return InvalidField("requests", absl::StrCat("hold ", bytes, " bytes together; at most ", kMostBytes));
  }
  RETURN_IF_ERROR(
      Write([&](WriteSet& change) { return HoldAll(change, requests, charge_ids, lifetime_us); }));
  std::vector<Charge> charges;
  for (const ChargeRequest& request : requests) {
    ASSIGN_OR_RETURN(Charge charge, FindCharge(request.principal, request.request_id));
    charges.push_back(std::move(charge));
  }
  return charges;
}

absl::StatusOr<Charge> SqlLedger::ChangeReservation(std::string_view charge_id, const ReservationStep& step) {
  ASSIGN_OR_RETURN(const StoredCharge found, [&]() -> absl::StatusOr<StoredCharge> {
    StoredCharge stored;
    RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(stored, ReadCharge(transaction, charge_id));
      return absl::OkStatus();
    }));
    return stored;
  }());
  if (found.charge.deadline_us == 0) {
    return absl::FailedPreconditionError("this charge is not a reservation");
  }
  // An expiry is written even if the step is then refused.
  absl::Status verdict;
  RETURN_IF_ERROR(Write([&](WriteSet& change) -> absl::Status {
    verdict = absl::OkStatus();
    change.MarkChargesOnly();
    RETURN_IF_ERROR(change.LockChains({found.charge.dataset_id}));
    RETURN_IF_ERROR(change.dataset(found.charge.dataset_id).status());
    ASSIGN_OR_RETURN(StoredCharge stored, ReadCharge(change.transaction(), charge_id));
    RETURN_IF_ERROR(LockAccountsOf(change, stored.charge.postings));
    if (stored.charge.state == ChargeState::kReserved && stored.charge.deadline_us <= change.now_us()) {
      RETURN_IF_ERROR(SpendHeld(change, stored.charge, kExpiredReason));
      AppendChange(change, stored.charge, kExpired, stored.charge.principal, Because(kExpiredReason));
      stored.charge.state = ChargeState::kCommitted;
      stored.charge.reason = kExpiredReason;
      verdict = step(change, stored.charge);
      return absl::OkStatus();
    }
    return step(change, stored.charge);
  }));
  RETURN_IF_ERROR(verdict);
  StoredCharge stored;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(stored, ReadCharge(transaction, charge_id));
    return absl::OkStatus();
  }));
  return std::move(stored.charge);
}

absl::StatusOr<Charge> SqlLedger::StartReserved(std::string_view charge_id,
                                                const std::vector<Posting>& final_cost,
                                                const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  RETURN_IF_ERROR(CheckPostings(final_cost));
  return ChangeReservation(charge_id, [&](WriteSet& change, const Charge& charge) -> absl::Status {
    if (charge.state != ChargeState::kReserved && charge.state != ChargeState::kStarted) {
      return WrongState(charge, "started");
    }
    ASSIGN_OR_RETURN(const std::vector<Posting> reduced, Reduced(charge.postings, final_cost));
    if (charge.state == ChargeState::kStarted) {
      return reduced == charge.postings ? absl::OkStatus() : WrongState(charge, "started at another cost");
    }
    FreeHeld(change, charge.postings);
    Spend(change, reduced);
    RETURN_IF_ERROR(change.transaction()
                        .Execute("UPDATE charges SET state = 'STARTED', postings = $2 WHERE id = $1",
                                 {charge.id, PostingsText(reduced)})
                        .status());
    ChargeChanged document = Because("");
    document.postings = reduced;
    AppendChange(change, charge, kStarted, actor.name(), document);
    return absl::OkStatus();
  });
}

absl::StatusOr<Charge> SqlLedger::CommitReserved(std::string_view charge_id, const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  return ChangeReservation(charge_id, [&](WriteSet& change, const Charge& charge) -> absl::Status {
    switch (charge.state) {
      case ChargeState::kCommitted:
        return absl::OkStatus();
      case ChargeState::kStarted:
        RETURN_IF_ERROR(EndCharge(change, charge, ChargeState::kCommitted, ""));
        break;
      case ChargeState::kReserved:
        return absl::FailedPreconditionError(
            "this reservation was not started: start it first, before the data is read");
      case ChargeState::kCancelled:
      case ChargeState::kForfeited:
        return WrongState(charge, "committed");
    }
    AppendChange(change, charge, kCommitted, actor.name(), Because(""));
    return absl::OkStatus();
  });
}

absl::StatusOr<Charge> SqlLedger::CancelReserved(std::string_view charge_id, std::string_view reason,
                                                 const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  RETURN_IF_ERROR(CheckText("reason", reason));
  return ChangeReservation(charge_id, [&](WriteSet& change, const Charge& charge) -> absl::Status {
    if (charge.state == ChargeState::kCancelled) return absl::OkStatus();
    if (charge.state != ChargeState::kReserved)
      return WrongState(charge, "cancelled: its cost stands, because records may have been read");
    FreeHeld(change, charge.postings);
    RETURN_IF_ERROR(EndCharge(change, charge, ChargeState::kCancelled, reason));
    AppendChange(change, charge, kCancelled, actor.name(), Because(reason));
    return absl::OkStatus();
  });
}

absl::StatusOr<Charge> SqlLedger::ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                                 const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  RETURN_IF_ERROR(CheckLifetime(lifetime_us));
  return ChangeReservation(charge_id, [&](WriteSet& change, const Charge& charge) -> absl::Status {
    if (charge.state != ChargeState::kReserved) return WrongState(charge, "extended");
    const int64_t deadline_us = change.now_us() + lifetime_us;
    if (deadline_us <= charge.deadline_us) return absl::OkStatus();
    RETURN_IF_ERROR(
        change.transaction()
            .Execute("UPDATE charges SET deadline_us = $2 WHERE id = $1", {charge.id, deadline_us})
            .status());
    ChargeChanged document = Because("");
    document.deadline_us = deadline_us;
    AppendChange(change, charge, kExtended, actor.name(), document);
    return absl::OkStatus();
  });
}

absl::StatusOr<Charge> SqlLedger::ExpiredIfOverdue(Charge charge) {
  if (charge.state != ChargeState::kReserved) return charge;
  bool is_overdue = false;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute(absl::StrCat("SELECT ", std::string(database_->dialect().now_us)), {}));
    is_overdue = charge.deadline_us <= rows.at(0).Integer(0);
    return absl::OkStatus();
  }));
  if (!is_overdue) return charge;
  return ChangeReservation(charge.id, [](WriteSet&, const Charge&) { return absl::OkStatus(); });
}

absl::StatusOr<int64_t> SqlLedger::ExpireReservations() {
  const std::string overdue =
      absl::StrCat("SELECT id FROM charges WHERE state = 'RESERVED' AND deadline_us <= ",
                   std::string(database_->dialect().now_us), " ORDER BY deadline_us LIMIT 1000");
  std::vector<Row> rows;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(rows, transaction.Execute(overdue, {}));
    return absl::OkStatus();
  }));
  for (const Row& row : rows) {
    RETURN_IF_ERROR(
        ChangeReservation(row.Text(0), [](WriteSet&, const Charge&) { return absl::OkStatus(); }).status());
  }
  return static_cast<int64_t>(rows.size());
}

}  // namespace curator::ledger::sql
