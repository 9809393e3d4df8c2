// Reservations: costs held for mechanisms that run outside of this program.
#include <algorithm>
#include <chrono>
#include <set>
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

namespace curator::ledger::sql {
namespace {

// The step of a charge that is only expired, by the database's own clock.
absl::Status DoNothing(WriteSet&, StoredCharge&) {
  return absl::OkStatus();
}

absl::Status CheckIsOutside(const Charge& charge) {
  if (charge.draw_identity.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError("this charge pays for a draw of the server, which starts and ends it");
}

// An outside mechanism cannot be observed while it reads, so it pays for every part.
absl::Status CheckPaysForAllParts(WriteSet& change, const Charge& charge) {
  ASSIGN_OR_RETURN(const LockedDataset* const dataset, change.FindDataset(charge.dataset_id));
  if (!dataset->is_partitioned) return absl::OkStatus();
  if (change.is_optimistic()) return absl::AbortedError("the parts are not cached");
  ASSIGN_OR_RETURN(const std::vector<Part> parts, ReadParts(change.transaction(), charge.dataset_id));
  for (const Part& part : parts) {
    const bool is_paid = std::ranges::any_of(
        charge.postings, [&](const Posting& posting) { return posting.account_id == part.account_id; });
    if (is_paid) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the reservation does not pay for part \"", part.name, "\" of dataset \"", dataset->name,
                     "\", which was added later: cancel it and reserve again"));
  }
  return absl::OkStatus();
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

// The charge that exists under the key of `request`.
absl::Status CheckReserves(const Charge& charge, const ChargeRequest& request) {
  if (IsSameRequest(charge, request) && charge.deadline_us > 0) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("request id ", request.request_id,
                                               " was used by another request of ", request.principal.name()));
}

}  // namespace

// All were refused together where one did not fit, which may be any: the first one counts.
void SqlLedger::NoteHeld(const std::vector<ChargeRequest>& requests, const absl::Status& made,
                         const ReserveEffect& effect) {
  if (!made.ok()) {
    if (!FullAccountsOf(made).empty())
      NoteCharge(requests.front().dataset_id, requests.front().kind, ChargeOutcome::kRefusal);
    return;
  }
  for (size_t i = 0; i < requests.size() && i < effect.entries.size(); ++i) {
    NoteCharge(requests[i].dataset_id, requests[i].kind,
               effect.entries[i].has_value() ? ChargeOutcome::kAdmission : ChargeOutcome::kReplay);
  }
}

absl::StatusOr<std::vector<Charge>> SqlLedger::Reserve(const std::vector<ChargeRequest>& requests,
                                                       int64_t lifetime_us, ReserveEffect* effect) {
  constexpr size_t kMostRequests = 1000;
  if (requests.empty() || requests.size() > kMostRequests) {
    return InvalidField("requests", "holds none, or more than 1,000");
  }
  RETURN_IF_ERROR(CheckReservationLifetime(lifetime_us));
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
  std::set<std::string> lanes;
  for (const ChargeRequest& request : requests) {
    ASSIGN_OR_RETURN(std::string lane, LaneOf(request.dataset_id));
    lanes.insert(std::move(lane));
  }
  HeldCharges held(requests, std::move(charge_ids), lifetime_us, CheckReserves);
  // Those over several lineages, which are rare, are in one lane: any of them may wait for any lineage.
  const absl::Status made = lanes.size() == 1 ? MakeCombined(held) : MakeAlone("several lineages", held);
  ReserveEffect done = held.TakeEffect();
  NoteHeld(requests, made, done);
  RETURN_IF_ERROR(made);
  std::vector<Charge> charges = held.TakeCharges();
  for (size_t i = 0; i < charges.size(); ++i) {
    if (done.entries[i]) continue;  // it is new
    ASSIGN_OR_RETURN(charges[i], ExpiredIfOverdue(std::move(charges[i])));
  }
  if (effect != nullptr) *effect = std::move(done);
  return charges;
}

absl::StatusOr<StoredCharge> SqlLedger::ReadStoredCharge(std::string_view charge_id) {
  StoredCharge stored;
  RETURN_IF_ERROR(ReadOnce([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(stored, ReadCharge(transaction, charge_id));
    return absl::OkStatus();
  }));
  return stored;
}

absl::StatusOr<StoredCharge> SqlLedger::ChangeReservation(std::string_view charge_id,
                                                          const ReservationChange::Step& step,
                                                          ReservationChange::Reads reads) {
  ASSIGN_OR_RETURN(StoredCharge found, ReadStoredCharge(charge_id));
  if (found.charge.deadline_us == 0) {
    return absl::FailedPreconditionError("this charge is not a reservation");
  }
  ReservationChange changed(
      std::move(found), step,
      [this](const Charge& charge, int64_t now_us) { return IsOverdue(charge, now_us); }, reads);
  RETURN_IF_ERROR(MakeCombined(changed));
  if (changed.has_expired()) {
    NoteCharge(changed.dataset_id(), changed.kind(), ChargeOutcome::kExpiry);
  }
  RETURN_IF_ERROR(changed.verdict());
  return std::move(changed).TakeCharge();
}

absl::StatusOr<Charge> SqlLedger::StartReserved(std::string_view charge_id,
                                                const std::vector<Posting>& final_cost,
                                                const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  RETURN_IF_ERROR(CheckPostings(final_cost));
  const auto start = [&](WriteSet& change, StoredCharge& stored) -> absl::Status {
    Charge& charge = stored.charge;
    RETURN_IF_ERROR(CheckIsOutside(charge));
    if (charge.state != ChargeState::kReserved && charge.state != ChargeState::kStarted) {
      return WrongState(charge, "started");
    }
    ASSIGN_OR_RETURN(const std::vector<Posting> reduced, Reduced(charge.postings, final_cost));
    if (charge.state == ChargeState::kStarted) {
      return reduced == charge.postings ? absl::OkStatus() : WrongState(charge, "started at another cost");
    }
    RETURN_IF_ERROR(CheckPaysForAllParts(change, charge));
    FreeHeld(change, charge.postings);
    SpendPostings(change, reduced);
    AppendChange(change, charge, kStarted, actor.name(), StartedAt(change, reduced));
    const StoredCharge held = stored;
    charge.state = ChargeState::kStarted;
    if (reduced != charge.postings) stored.other_postings = PostingsText(reduced);
    charge.postings = reduced;
    ChangeOpenCharge(change, held, stored);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(StoredCharge started, ChangeReservation(charge_id, start));
  return std::move(started.charge);
}

absl::StatusOr<Charge> SqlLedger::CommitReserved(std::string_view charge_id, const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  const auto commit = [&](WriteSet& change, StoredCharge& stored) -> absl::Status {
    Charge& charge = stored.charge;
    RETURN_IF_ERROR(CheckIsOutside(charge));
    switch (charge.state) {
      case ChargeState::kCommitted:
        return absl::OkStatus();
      case ChargeState::kStarted:
        break;
      case ChargeState::kReserved:
        return absl::FailedPreconditionError(
            "this reservation was not started: start it first, before the data is read");
      case ChargeState::kCancelled:
      case ChargeState::kForfeited:
        return WrongState(charge, "committed");
    }
    EndCharge(change, stored, ChargeState::kCommitted, "");
    AppendChange(change, charge, kCommitted, actor.name(), Because(""));
    charge.state = ChargeState::kCommitted;
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(StoredCharge committed, ChangeReservation(charge_id, commit));
  return std::move(committed.charge);
}

absl::StatusOr<Charge> SqlLedger::CancelReserved(std::string_view charge_id, std::string_view reason,
                                                 const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  RETURN_IF_ERROR(CheckText("reason", reason));
  const auto cancel = [&](WriteSet& change, StoredCharge& stored) -> absl::Status {
    Charge& charge = stored.charge;
    if (charge.state == ChargeState::kCancelled) return absl::OkStatus();
    if (charge.state != ChargeState::kReserved)
      return WrongState(charge, "cancelled: its cost stands, because records may have been read");
    FreeHeld(change, charge.postings);
    EndCharge(change, stored, ChargeState::kCancelled, reason);
    AppendChange(change, charge, kCancelled, actor.name(), Because(reason));
    charge.state = ChargeState::kCancelled;
    charge.reason = reason;
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(StoredCharge cancelled, ChangeReservation(charge_id, cancel));
  return std::move(cancelled.charge);
}

absl::StatusOr<Charge> SqlLedger::ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                                 const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  RETURN_IF_ERROR(CheckReservationLifetime(lifetime_us));
  const auto extend = [&](WriteSet& change, StoredCharge& stored) -> absl::Status {
    Charge& charge = stored.charge;
    RETURN_IF_ERROR(CheckIsOutside(charge));
    if (charge.state != ChargeState::kReserved) return WrongState(charge, "extended");
    const int64_t deadline_us = change.now_us() + lifetime_us;
    if (deadline_us <= charge.deadline_us) return absl::OkStatus();
    const StoredCharge held = stored;
    charge.deadline_us = deadline_us;
    ChangeOpenCharge(change, held, stored);
    ChargeChanged document = Because("");
    document.deadline_us = deadline_us;
    AppendChange(change, charge, kExtended, actor.name(), document);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(StoredCharge extended, ChangeReservation(charge_id, extend));
  return std::move(extended.charge);
}

bool SqlLedger::IsOverdue(const Charge& charge, int64_t now_us) {
  return charge.state == ChargeState::kReserved && charge.deadline_us <= now_us && TrustsClock(now_us);
}

bool SqlLedger::TrustsClock(int64_t now_us) {
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  ClockWatch::Verdict verdict = ClockWatch::Verdict::kTrusted;
  {
    const std::scoped_lock lock(clock_mutex_);
    verdict =
        clock_watch_.Judge(now_us, std::chrono::duration_cast<std::chrono::microseconds>(steady).count());
  }
  if (verdict == ClockWatch::Verdict::kJumped) {
    Notify(options_.report, "database_clock_jumped",
           "by more than an hour; no reservation expires until a later reading confirms it");
  }
  return verdict == ClockWatch::Verdict::kTrusted;
}

absl::StatusOr<Charge> SqlLedger::ExpiredIfOverdue(Charge charge, std::optional<int64_t> now_us) {
  const bool can_expire =
      charge.state == ChargeState::kReserved && damage_.CheckDataset(charge.dataset_id).ok();
  if (!can_expire) return charge;
  if (!now_us) {
    RETURN_IF_ERROR(ReadOnce([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(now_us, ReadClock(transaction, database_->dialect()));
      return absl::OkStatus();
    }));
  }
  if (!IsOverdue(charge, *now_us)) return charge;
  ASSIGN_OR_RETURN(StoredCharge expired,
                   ChangeReservation(charge.id, DoNothing, ReservationChange::Reads::kMore));
  return std::move(expired.charge);
}

absl::StatusOr<std::vector<Row>> SqlLedger::NextOverdue(int64_t most) {
  std::vector<Row> rows;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    rows.clear();
    ASSIGN_OR_RETURN(const int64_t now_us, ReadClock(transaction, database_->dialect()));
    if (!TrustsClock(now_us)) return absl::OkStatus();
    ASSIGN_OR_RETURN(
        rows, transaction.Execute(
                  "SELECT o.deadline_us, o.charge_id, c.dataset_id FROM open_charges o JOIN charges c ON "
                  "c.id = o.charge_id WHERE o.deadline_us > 0 AND (o.deadline_us, o.charge_id) > ($1, $2) "
                  "AND o.deadline_us <= $3 ORDER BY o.deadline_us, o.charge_id LIMIT $4",
                  {swept_until_us_, swept_until_id_, now_us, most}));
    return absl::OkStatus();
  }));
  return rows;
}

absl::StatusOr<int64_t> SqlLedger::ExpireReservations() {
  constexpr int64_t kMostAtOnce = 1000;
  const std::scoped_lock one_at_a_time(sweep_mutex_);
  RETURN_IF_ERROR(CheckWritable());
  ASSIGN_OR_RETURN(const std::vector<Row> rows, NextOverdue(kMostAtOnce));
  int64_t expired = 0;
  absl::Status unavailable;
  std::set<std::string> held_up;  // datasets
  for (const Row& row : rows) {
    if (held_up.contains(row.Text(2))) continue;
    const absl::StatusOr<StoredCharge> charge =
        ChangeReservation(row.Text(1), DoNothing, ReservationChange::Reads::kMore);
    if (charge.ok()) {
      expired += charge->charge.state == ChargeState::kReserved ? 0 : 1;
      continue;
    }
    // What holds up this one would hold up each of its dataset as long.
    const bool is_unavailable = absl::IsUnavailable(charge.status());
    if (is_unavailable || IsDatasetReadOnly(charge.status())) held_up.insert(row.Text(2));
    if (is_unavailable) {
      unavailable.Update(charge.status());
      continue;
    }
    Notify(options_.report, "reservation_not_expired",
           absl::StrCat(row.Text(1), ": ", charge.status().ToString()));
  }
  // The next call continues after these, so that reservations that cannot be expired stop no others.
  const bool is_end = rows.size() < kMostAtOnce;
  swept_until_us_ = is_end ? 0 : rows.back().Integer(0);
  swept_until_id_ = is_end ? std::string() : rows.back().Text(1);
  RETURN_IF_ERROR(unavailable);
  return expired;
}

}  // namespace curator::ledger::sql
