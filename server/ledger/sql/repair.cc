// Repair after a restored backup: spent counters are raised to what the anchor and receipts prove, and the
// chain continues after a gap.
//
// No budget is created. Let
//   S  what the store has as spent, including its reservations, which all count as spent from now on
//   A  what the anchor has as spent at its entry
//   R  the costs of lost charges after that entry, as their receipts state them.
// Every access to records was paid by a charge that
//   the store still has                   in S, and in A;
//   is lost, up to the anchored entry     in A;
//   is lost, after the anchored entry     in R, if a receipt is presented. The anchor is synced before a
//                                         charge is answered, so such charges exist only after a second loss.
// A lost reservation can no longer be started. A draw that the store still has as started, or as queued, may
// have been answered in the lost history from the same key, or from another one: it is forfeited and its key
// is erased, so that no key is drawn from twice and no answer differs from one that was delivered. Its cost
// counts as spent. So max(S, A) + R covers every access if the store's history is
// a prefix of the anchored one, as a backup's is. A store that accepted charges while it did not see this
// anchor is recognised by its longer chain or by an earlier repair, and gets S + A + R. A fork that is
// shorter than the anchored history looks like a backup: an owner must not repair one.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/charge_steps.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

constexpr char kLostReason[] = "its answer may lie in the lost history";

// The entries that the store has lost of one dataset of the lineage.
struct LostEntries {
  ChainHead kept;                    // the store's head
  ChainHead anchored;                // the anchor's head, if the store does not have that entry; else seq 0
  std::vector<LostCharge> receipts;  // of charges that neither the store nor the anchor covers
  bool was_repaired = false;         // by an earlier repair

  // The store has accepted charges since it diverged from the anchored history: neither contains the other.
  bool is_forked() const { return anchored.seq > 0 && (kept.seq >= anchored.seq || was_repaired); }
  bool is_any() const { return anchored.seq > 0 || !receipts.empty(); }
  int64_t last_seq() const {
    int64_t last = anchored.seq;
    for (const LostCharge& charge : receipts) last = std::max(last, charge.seq);
    return last;
  }
};

// One repair within one transaction, on locked chains and counters.
class LineageRepair {
 public:
  LineageRepair(WriteSet& change, const AnchorState& anchored, const RepairOrder& order)
      : change_(change), anchored_(anchored), order_(order) {}

  absl::StatusOr<RepairReport> Run() {
    RETURN_IF_ERROR(Lock());
    for (const std::string& id : dataset_ids_) {
      ASSIGN_OR_RETURN(LostEntries lost, FindLostEntries(id));
      lost_.emplace(id, std::move(lost));
    }
    report_.is_needed = IsNeeded();
    if (!report_.is_needed) return report_;
    ASSIGN_OR_RETURN(const std::vector<StoredCharge> open, OpenCharges());
    for (const StoredCharge& stored : open) Spend(stored.charge);
    ASSIGN_OR_RETURN(const std::vector<RaisedBy> raised, RaiseCounters());
    AppendRepairs(raised);
    for (const StoredCharge& stored : open) End(stored);
    RETURN_IF_ERROR(CheckIsExpected());
    for (const RaisedBy& by : raised) RETURN_IF_ERROR(WriteLimit(by));
    return report_;
  }

 private:
  Transaction& transaction() { return change_.transaction(); }

  absl::Status Lock() {
    ASSIGN_OR_RETURN(const Dataset named, ReadDataset(transaction(), order_.dataset_id));
    lineage_id_ = named.lineage_id;
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction().Execute("SELECT id FROM datasets WHERE lineage_id = $1", {lineage_id_}));
    for (const Row& row : rows) dataset_ids_.insert(row.Text(0));
    RETURN_IF_ERROR(change_.LockChains(dataset_ids_));
    ASSIGN_OR_RETURN(accounts_, ReadAccounts(transaction(), lineage_id_));
    std::set<int64_t> account_ids;
    for (const Account& account : accounts_) account_ids.insert(account.id);
    return change_.LockCounters(account_ids);
  }

  absl::StatusOr<bool> HasEntry(const std::string& dataset_id, const ChainHead& entry) {
    ASSIGN_OR_RETURN(const std::vector<Entry> found,
                     ReadEntries(transaction(), dataset_id, entry.seq - 1, 1));
    return !found.empty() && found.front().seq == entry.seq && found.front().hash == entry.hash;
  }

  absl::StatusOr<std::vector<Repair>> EarlierRepairs(const std::string& dataset_id) {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction().Execute(
            "SELECT payload FROM entries WHERE dataset_id = $1 AND kind = 'REPAIRED' ORDER BY seq",
            {dataset_id}));
    std::vector<Repair> repairs;
    for (const Row& row : rows) {
      ASSIGN_OR_RETURN(Repair repair, ParseRepair(row.Blob(0)));
      repairs.push_back(std::move(repair));
    }
    return repairs;
  }

  absl::StatusOr<LostEntries> FindLostEntries(const std::string& dataset_id) {
    ASSIGN_OR_RETURN(const LockedDataset dataset, change_.dataset(dataset_id));
    LostEntries lost{.kept = dataset.head};
    if (const auto known = anchored_.heads.find(dataset_id); known != anchored_.heads.end()) {
      ASSIGN_OR_RETURN(const bool is_there, HasEntry(dataset_id, known->second));
      if (!is_there) lost.anchored = known->second;
    }
    ASSIGN_OR_RETURN(const std::vector<Repair> repairs, EarlierRepairs(dataset_id));
    lost.was_repaired = !repairs.empty();
    for (const LostCharge& charge : order_.receipts) {
      if (charge.dataset_id != dataset_id) continue;
      ASSIGN_OR_RETURN(const std::vector<Row> stored,
                       transaction().Execute("SELECT 1 FROM charges WHERE id = $1", {charge.charge_id}));
      const bool is_anchored = charge.seq > lost.kept.seq && charge.seq <= lost.anchored.seq;
      const bool was_repaired = std::any_of(repairs.begin(), repairs.end(), [&](const Repair& repair) {
        return (charge.seq > repair.last_kept_seq && charge.seq <= repair.anchored_seq) ||
               std::find(repair.lost_charges.begin(), repair.lost_charges.end(), charge.charge_id) !=
                   repair.lost_charges.end();
      });
      const bool is_twice =
          std::any_of(lost.receipts.begin(), lost.receipts.end(),
                      [&](const LostCharge& other) { return other.charge_id == charge.charge_id; });
      if (stored.empty() && !is_anchored && !was_repaired && !is_twice) lost.receipts.push_back(charge);
    }
    return lost;
  }

  // What was spent in either history. If the anchor's contains the store's, that is the larger of the two. If
  // both continued, their common part is unknown, and the sum counts it twice: too much, never too little.
  absl::StatusOr<int64_t> SpentInEither(int64_t stored, int64_t anchored) const {
    const bool is_forked =
        std::any_of(lost_.begin(), lost_.end(), [](const auto& lost) { return lost.second.is_forked(); });
    if (!is_forked) return std::max(stored, anchored);
    int64_t both = 0;
    if (__builtin_add_overflow(stored, anchored, &both)) {
      return absl::OutOfRangeError("the sum of what was spent exceeds 64 bits");
    }
    return both;
  }

  int64_t AnchoredSpent(const CounterKey& key) const {
    const auto known = anchored_.spent.find(key);
    return known == anchored_.spent.end() ? 0 : known->second;
  }

  bool IsNeeded() {
    for (const auto& [id, lost] : lost_) {
      if (lost.is_any()) return true;
    }
    for (const Account& account : accounts_) {
      for (const CounterBalance& balance : account.counters) {
        if (balance.spent < AnchoredSpent({account.id, balance.counter})) return true;
      }
    }
    return false;
  }

  // Those that are reserved or started: what became of them in the lost history is unknown.
  absl::StatusOr<std::vector<StoredCharge>> OpenCharges() {
    std::vector<StoredCharge> open;
    for (const std::string& id : dataset_ids_) {
      ASSIGN_OR_RETURN(std::vector<StoredCharge> found,
                       ReadCharges(transaction(),
                                   "o.charge_id IS NOT NULL AND c.dataset_id = $1 ORDER BY c.number", {id}));
      std::ranges::move(found, std::back_inserter(open));
    }
    return open;
  }

  void Spend(const Charge& charge) {
    if (charge.state != ChargeState::kReserved) return;
    FreeHeld(change_, charge.postings);
    SpendPostings(change_, charge.postings);
    ++report_.reservations_spent;
  }

  void End(const StoredCharge& stored) {
    const Charge& charge = stored.charge;
    const std::string& actor = order_.actor.name();
    const bool is_outside_reservation = charge.state == ChargeState::kReserved && !IsQueuedDraw(charge);
    if (is_outside_reservation) {
      AppendChange(change_, charge, kExpired, actor, Because(kExpiredReason));
      return EndCharge(change_, stored, ChargeState::kCommitted, kExpiredReason);
    }
    if (IsQueuedDraw(charge)) {
      AppendChange(change_, charge, kStarted, actor, StartedAt(change_, charge.postings, kLostReason));
    }
    AppendChange(change_, charge, kForfeited, actor, Because(kLostReason));
    ++report_.charges_forfeited;
    EndCharge(change_, stored, ChargeState::kForfeited, kLostReason);
  }

  absl::StatusOr<int64_t> ReceiptsFor(const CounterKey& key) const {
    int64_t sum = 0;
    for (const auto& [id, lost] : lost_) {
      for (const LostCharge& charge : lost.receipts) {
        for (const Posting& posting : charge.postings) {
          if (CounterKey(posting.account_id, posting.counter) != key) continue;
          if (posting.cost < 0 || __builtin_add_overflow(sum, posting.cost, &sum)) {
            return absl::OutOfRangeError("the sum of the costs of the receipts exceeds 64 bits");
          }
        }
      }
    }
    return sum;
  }

  absl::StatusOr<std::vector<RaisedBy>> RaiseCounters() {
    std::vector<RaisedBy> raised;
    for (const Account& account : accounts_) {
      for (const CounterBalance& balance : account.counters) {
        const CounterKey key(account.id, balance.counter);
        const LockedCounter& counter = *change_.counter(key);
        ASSIGN_OR_RETURN(int64_t target, ReceiptsFor(key));
        ASSIGN_OR_RETURN(const int64_t spent, SpentInEither(counter.spent, AnchoredSpent(key)));
        if (__builtin_add_overflow(target, spent, &target)) {
          return absl::OutOfRangeError("the sum of what was spent exceeds 64 bits");
        }
        if (target == counter.spent) continue;
        const RaisedBy by{.account_id = account.id,
                          .counter = balance.counter,
                          .amount = target - counter.spent,
                          .old_limit = counter.limit,
                          .new_limit = std::max(counter.limit, target)};
        change_.AddSpent(key, by.amount);
        raised.push_back(by);
        report_.raised.push_back({.account_id = account.id,
                                  .counter = balance.counter,
                                  .old_spent = balance.spent,
                                  .new_spent = target,
                                  .old_limit = by.old_limit,
                                  .new_limit = by.new_limit});
      }
    }
    return raised;
  }

  // Until then everything is only planned: nothing is written that was not approved.
  absl::Status CheckIsExpected() const {
    if (!order_.expected_effect.has_value() || *order_.expected_effect == HashOfEffect(report_)) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        "the repair would do something else now than when it was proposed: the owner proposes it again");
  }

  // A restored limit may be older, and lower, than the one that applied when the anchored costs were spent.
  absl::Status WriteLimit(const RaisedBy& by) {
    if (by.new_limit == by.old_limit) return absl::OkStatus();
    return transaction()
        .Execute("UPDATE account_counters SET limit_value = $3 WHERE account_id = $1 AND counter = $2",
                 {by.account_id, by.counter, by.new_limit})
        .status();
  }

  // The dataset that opened the accounts records the raised counters; every other one only its own gap.
  void AppendRepairs(const std::vector<RaisedBy>& raised) {
    for (const auto& [id, lost] : lost_) {
      const bool lists_raised = id == lineage_id_ && !raised.empty();
      if (!lost.is_any() && !lists_raised) continue;
      Repair repair{.reason = order_.reason,
                    .last_kept_seq = lost.kept.seq,
                    .anchored_seq = lost.anchored.seq,
                    .anchored_hash = lost.anchored.seq > 0 ? lost.anchored.hash : std::string(),
                    .raised = lists_raised ? raised : std::vector<RaisedBy>(),
                    .lost_charges = {},
                    .proposed_by = order_.proposed_by,
                    .approval = order_.approval};
      for (const LostCharge& charge : lost.receipts) repair.lost_charges.push_back(charge.charge_id);
      report_.receipts_counted += static_cast<int64_t>(lost.receipts.size());
      if (lost.is_any()) AddLost({id, lost.kept.seq + 1, std::max(lost.kept.seq, lost.last_seq())});
      change_.AppendAfterGap({.dataset_id = id,
                              .kind = kRepaired,
                              .payload = EncodePayload(repair),
                              .actor = order_.actor.name()},
                             lost.last_seq());
    }
  }

  void AddLost(const LostRange& lost) {
    report_.lost.push_back(lost);
    if (lost.dataset_id != order_.dataset_id) return;
    report_.first_lost_seq = lost.first_seq;
    report_.last_lost_seq = lost.last_seq;
  }

  WriteSet& change_;
  const AnchorState& anchored_;
  const RepairOrder& order_;
  std::string lineage_id_;
  std::set<std::string> dataset_ids_;
  std::vector<Account> accounts_;
  std::map<std::string, LostEntries> lost_;
  RepairReport report_;
};

}  // namespace

absl::StatusOr<RepairReport> SqlLedger::RaiseToAnchor(const RepairOrder& order) {
  RETURN_IF_ERROR(CheckText("reason", order.reason));
  RETURN_IF_ERROR(CheckText("actor", order.actor.name()));
  RETURN_IF_ERROR(CheckText("proposed_by", order.proposed_by));
  if (order.approval == Approval::kByAnother && order.proposed_by == order.actor.name() &&
      !order.only_checked)
    return absl::FailedPreconditionError("the proposer of a repair cannot approve it");
  RETURN_IF_ERROR(CheckWritable());
  const AnchorState no_anchor;
  const StateView no_view(no_anchor);
  ASSIGN_OR_RETURN(const std::string lineage_id, LineageOf(order.dataset_id));
  // A pass over a long history is no answer to an order that has nothing to repair.
  if (!damage_.IsDamaged(lineage_id) && order.receipts.empty()) return RepairReport();
  ASSIGN_OR_RETURN(const Turns::Turn turn, TakeTurn());
  if (order.before_pass) RETURN_IF_ERROR(order.before_pass());
  const auto read = [this](const Body& body) { return ReadLong(body); };
  ASSIGN_OR_RETURN(const VerifiedLineage alone,
                   VerifyLineage(read, no_anchor, lineage_id, {.amount_text = options_.amount_text}));
  if (!alone.ok()) {
    return absl::DataLossError(
        absl::StrCat("the history contradicts itself, which raising counters cannot repair: ",
                     absl::StrJoin(alone.findings.kept(), "; ")));
  }
  RepairReport report;
  AnchorState reached;
  Outcome outcome;
  constexpr int kMostConflicts = 50;
  for (int conflicts = 0; conflicts < kMostConflicts; ++conflicts) {
    ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
    outcome = database_->Write([&](Transaction& transaction) -> absl::Status {
      WriteSet change(transaction, database_->dialect(), no_view, schema_);
      ASSIGN_OR_RETURN(report, LineageRepair(change, anchored, order).Run());
      if (order.only_checked) return absl::CancelledError("only checked");
      RETURN_IF_ERROR(change.Flush());
      reached = change.reached();
      return absl::OkStatus();
    });
    if (outcome.ending != Ending::kConflict) break;
  }
  if (order.only_checked && absl::IsCancelled(outcome.status)) {
    report.still_read_only = DatasetHealth(order.dataset_id);
    return report;
  }
  // After a lost connection the outcome is unknown: the same order, repeated, raises what is left to raise.
  RETURN_IF_ERROR(outcome.status);
  RETURN_IF_ERROR(anchor_->RaiseTo(reached));
  ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
  RETURN_IF_ERROR(VerifyInTurn(lineage_id, anchored, Depth::kWhole).status());
  report.still_read_only = DatasetHealth(order.dataset_id);
  return report;
}

}  // namespace curator::ledger::sql
