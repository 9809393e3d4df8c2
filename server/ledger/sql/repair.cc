// After a restored backup: what is spent is raised to what the anchor and receipts know, and the chain goes
// on behind a gap.
//
// No budget is minted. Let S be what the store knows as spent, its reservations included, which all count as
// spent from here on; A what the anchor knows at the entry that it knows; R the costs of lost charges behind
// that entry that receipts tell of. Everything that was ever looked at was paid for by a charge that the
// store still has (in S, and in A), by one that is lost up to the anchored entry (in A), or by one behind it
// (in R, for whom a receipt is presented; the anchor is synced before a charge is answered, so without
// another loss there is none). A lost reservation cannot be started any more. So max(S, A) + R covers it,
// where the store's history is the beginning of the anchored one, as a backup's is. A store that has been
// charged since, while it did not see this anchor, is recognised by its longer chain or by an earlier repair,
// and gets S + A + R. A shorter fork looks like a backup: an owner must not repair one.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// What one dataset of the lineage has lost.
struct Loss {
  ChainHead kept;                    // the store's head
  ChainHead anchored;                // what the anchor knows, where the store does not have it; else seq 0
  std::vector<LostCharge> receipts;  // of charges that neither the store nor the anchored entries account for
  bool was_repaired = false;         // before

  // The store has charged on since it parted from what the anchor knows: neither history contains the other.
  bool is_forked() const { return anchored.seq > 0 && (kept.seq >= anchored.seq || was_repaired); }
  bool is_any() const { return anchored.seq > 0 || !receipts.empty(); }
  int64_t last_seq() const {
    int64_t last = anchored.seq;
    for (const LostCharge& charge : receipts) last = std::max(last, charge.seq);
    return last;
  }
};

// One repair within one transaction, on locked chains and counters.
class Repairing {
 public:
  Repairing(Change& change, const Dialect& dialect, const AnchorState& anchored, const RepairOrder& order)
      : change_(change), dialect_(dialect), anchored_(anchored), order_(order) {}

  absl::StatusOr<RepairReport> Run() {
    RETURN_IF_ERROR(Lock());
    for (const std::string& id : dataset_ids_) {
      ASSIGN_OR_RETURN(Loss loss, LossOf(id));
      losses_.emplace(id, std::move(loss));
    }
    if (!IsNeeded()) return report_;
    ASSIGN_OR_RETURN(const std::vector<Charge> held, HeldCharges());
    for (const Charge& charge : held) Spend(charge);
    ASSIGN_OR_RETURN(const std::vector<RaisedBy> raised, RaiseCounters());
    AppendRepairs(raised);
    for (const Charge& charge : held) RETURN_IF_ERROR(Expire(charge));
    RETURN_IF_ERROR(LeaveOutLostAccountIds());
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

  absl::StatusOr<Loss> LossOf(const std::string& dataset_id) {
    ASSIGN_OR_RETURN(const LockedDataset dataset, change_.dataset(dataset_id));
    Loss loss{.kept = dataset.head, .anchored = {}, .receipts = {}};
    if (const auto known = anchored_.heads.find(dataset_id); known != anchored_.heads.end()) {
      ASSIGN_OR_RETURN(const bool is_there, HasEntry(dataset_id, known->second));
      if (!is_there) loss.anchored = known->second;
    }
    ASSIGN_OR_RETURN(const std::vector<Repair> repairs, EarlierRepairs(dataset_id));
    loss.was_repaired = !repairs.empty();
    for (const LostCharge& charge : order_.receipts) {
      if (charge.dataset_id != dataset_id) continue;
      ASSIGN_OR_RETURN(const std::vector<Row> stored,
                       transaction().Execute("SELECT 1 FROM charges WHERE id = $1", {charge.charge_id}));
      const bool is_anchored = charge.seq > loss.kept.seq && charge.seq <= loss.anchored.seq;
      const bool was_repaired = std::any_of(repairs.begin(), repairs.end(), [&](const Repair& repair) {
        return (charge.seq > repair.last_kept_seq && charge.seq <= repair.anchored_seq) ||
               std::find(repair.lost_charges.begin(), repair.lost_charges.end(), charge.charge_id) !=
                   repair.lost_charges.end();
      });
      const bool is_twice =
          std::any_of(loss.receipts.begin(), loss.receipts.end(),
                      [&](const LostCharge& other) { return other.charge_id == charge.charge_id; });
      if (stored.empty() && !is_anchored && !was_repaired && !is_twice) loss.receipts.push_back(charge);
    }
    return loss;
  }

  // What was spent in either history. Where the anchor's contains the store's that is the larger of the two.
  // Where both went on, what they have in common is not known, and both are counted whole: too much rather
  // than too little.
  absl::StatusOr<int64_t> SpentInEither(int64_t stored, int64_t anchored) const {
    const bool is_forked =
        std::any_of(losses_.begin(), losses_.end(), [](const auto& loss) { return loss.second.is_forked(); });
    if (!is_forked) return std::max(stored, anchored);
    int64_t both = 0;
    if (__builtin_add_overflow(stored, anchored, &both)) {
      return absl::OutOfRangeError("what was spent does not fit 64 bits");
    }
    return both;
  }

  int64_t AnchoredSpent(const CounterKey& key) const {
    const auto known = anchored_.spent.find(key);
    return known == anchored_.spent.end() ? 0 : known->second;
  }

  bool IsNeeded() {
    for (const auto& [id, loss] : losses_) {
      if (loss.is_any()) return true;
    }
    for (const Account& account : accounts_) {
      for (const CounterBalance& balance : account.counters) {
        if (balance.spent < AnchoredSpent({account.id, balance.counter})) return true;
      }
    }
    return false;
  }

  absl::StatusOr<std::vector<Charge>> HeldCharges() {
    std::vector<Charge> held;
    for (const std::string& id : dataset_ids_) {
      ASSIGN_OR_RETURN(
          const std::vector<StoredCharge> reserved,
          ReadCharges(transaction(), "c.dataset_id = $1 AND c.state = 'RESERVED' ORDER BY c.number", {id}));
      for (const StoredCharge& stored : reserved) held.push_back(stored.charge);
    }
    return held;
  }

  void Spend(const Charge& charge) {
    for (const Posting& posting : charge.postings) {
      change_.AddHeld({posting.account_id, posting.counter}, -posting.cost);
      change_.AddSpent({posting.account_id, posting.counter}, posting.cost);
    }
    ++report_.reservations_spent;
  }

  absl::Status Expire(const Charge& charge) {
    RETURN_IF_ERROR(EndCharge(change_, charge, ChargeState::kCommitted, kExpiredReason));
    change_.Append({.dataset_id = charge.dataset_id,
                    .kind = kExpired,
                    .charge_id = charge.id,
                    .payload = ledger::Bytes(ChargeChanged{.reason = kExpiredReason,
                                                           .release_id = {},
                                                           .payload_hash = {},
                                                           .deadline_us = 0,
                                                           .postings = {}}),
                    .actor = order_.actor,
                    .prev_hash = {},
                    .hash = {}});
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> ReceiptsFor(const CounterKey& key) const {
    int64_t sum = 0;
    for (const auto& [id, loss] : losses_) {
      for (const LostCharge& charge : loss.receipts) {
        for (const Posting& posting : charge.postings) {
          if (CounterKey(posting.account_id, posting.counter) != key) continue;
          if (posting.cost < 0 || __builtin_add_overflow(sum, posting.cost, &sum)) {
            return absl::OutOfRangeError("the costs of the receipts do not fit 64 bits");
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
          return absl::OutOfRangeError("what was spent does not fit 64 bits");
        }
        if (target == counter.spent) continue;
        const RaisedBy by{.account_id = account.id,
                          .counter = balance.counter,
                          .amount = target - counter.spent,
                          .old_limit = counter.limit,
                          .new_limit = std::max(counter.limit, target)};
        RETURN_IF_ERROR(WriteLimit(by));
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

  // A restored limit may be older than the one under which was spent what the anchor knows.
  absl::Status WriteLimit(const RaisedBy& by) {
    if (by.new_limit == by.old_limit) return absl::OkStatus();
    return transaction()
        .Execute("UPDATE account_counters SET limit_value = $3 WHERE account_id = $1 AND counter = $2",
                 {by.account_id, by.counter, by.new_limit})
        .status();
  }

  // The dataset that opened the accounts tells of what is raised; every other one only of its own gap.
  void AppendRepairs(const std::vector<RaisedBy>& raised) {
    for (const auto& [id, loss] : losses_) {
      const bool tells_of_raised = id == lineage_id_ && !raised.empty();
      if (!loss.is_any() && !tells_of_raised) continue;
      Repair repair{.reason = order_.reason,
                    .last_kept_seq = loss.kept.seq,
                    .anchored_seq = loss.anchored.seq,
                    .anchored_hash = loss.anchored.seq > 0 ? loss.anchored.hash : std::string(),
                    .raised = tells_of_raised ? raised : std::vector<RaisedBy>(),
                    .lost_charges = {}};
      for (const LostCharge& charge : loss.receipts) repair.lost_charges.push_back(charge.charge_id);
      report_.receipts_counted += static_cast<int64_t>(loss.receipts.size());
      if (id == order_.dataset_id && loss.is_any()) {
        report_.first_lost_seq = loss.kept.seq + 1;
        report_.last_lost_seq = std::max(loss.kept.seq, loss.last_seq());
      }
      change_.AppendAfterLoss({.dataset_id = id,
                               .kind = kRepaired,
                               .charge_id = {},
                               .payload = ledger::Bytes(repair),
                               .actor = order_.actor,
                               .prev_hash = {},
                               .hash = {}},
                              loss.last_seq());
    }
  }

  // The anchor goes on telling what a lost account had spent; no new account may come to bear its number.
  absl::Status LeaveOutLostAccountIds() {
    int64_t highest = 0;
    for (const auto& [key, spent] : anchored_.spent) highest = std::max(highest, key.first);
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction().Execute("SELECT COALESCE(MAX(id), 0) FROM accounts", {}));
    for (int64_t id = rows.at(0).Integer(0); id < highest;) {
      ASSIGN_OR_RETURN(const std::vector<Row> next, transaction().Execute(dialect_.next_account_id, {}));
      id = next.at(0).Integer(0);
    }
    return absl::OkStatus();
  }

  Change& change_;
  const Dialect& dialect_;
  const AnchorState& anchored_;
  const RepairOrder& order_;
  std::string lineage_id_;
  std::set<std::string> dataset_ids_;
  std::vector<Account> accounts_;
  std::map<std::string, Loss> losses_;
  RepairReport report_;
};

}  // namespace

absl::StatusOr<RepairReport> SqlLedger::RaiseToAnchor(const RepairOrder& order) {
  RETURN_IF_ERROR(CheckText("reason", order.reason));
  RETURN_IF_ERROR(CheckText("actor", order.actor));
  const AnchorState no_anchor;
  const StateView no_view(no_anchor);
  ASSIGN_OR_RETURN(const Verification alone, VerifyAgainst(order.dataset_id, no_anchor));
  if (!alone.ok) {
    return absl::DataLossError(absl::StrCat("the history contradicts itself, which no raising can mend: ",
                                            absl::StrJoin(alone.findings, "; ")));
  }
  RepairReport report;
  AnchorState reached;
  Outcome outcome;
  constexpr int kMostConflicts = 50;
  for (int conflicts = 0; conflicts < kMostConflicts; ++conflicts) {
    ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
    outcome = database_->Write([&](Transaction& transaction) -> absl::Status {
      Change change(transaction, database_->dialect(), no_view);
      ASSIGN_OR_RETURN(report, Repairing(change, database_->dialect(), anchored, order).Run());
      if (order.only_checked) return absl::CancelledError("only checked");
      RETURN_IF_ERROR(change.Flush());
      reached = change.reached();
      return absl::OkStatus();
    });
    if (outcome.ending != Ending::kConflict) break;
  }
  if (order.only_checked && absl::IsCancelled(outcome.status)) return report;
  // After a lost connection the same order finds nothing left to raise, or raises it.
  RETURN_IF_ERROR(outcome.status);
  RETURN_IF_ERROR(anchor_->RaiseTo(reached));
  {
    const std::scoped_lock lock(mutex_);
    read_only_reason_ = absl::OkStatus();
  }
  RETURN_IF_ERROR(CompareWithAnchor());
  report.still_read_only = CheckWritable();
  return report;
}

}  // namespace curator::ledger::sql
