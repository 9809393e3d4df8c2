// One attempt at one change of the ledger: the chains and counters that it has locked, the rows and entries
// that it will write, and the anchor state that must cover it.
//
// Lock order, everywhere: the chains of all datasets by id, then all counters by account id. So changes wait
// for each other without deadlocks.
//
// Belongs to one transaction and one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/damage.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

struct RequiredAccounts;

// A counter whose row is locked, including the amounts that this change has added.
struct LockedCounter {
  int64_t spent = 0;
  int64_t held = 0;
  int64_t limit = 0;
  std::string lineage_id;
  ScopeType scope_type = ScopeType::kDataset;
  std::string account_name;  // for messages: "dataset/census", "dataset/census/analyst/ana"
  std::string rule_name;
  int64_t spent_added = 0;
  int64_t held_added = 0;

  int64_t remaining() const { return limit - held - spent; }
  CounterBalance Balance(const std::string& name) const {
    return {.counter = name, .limit = limit, .spent = spent, .held = held};
  }
};

// The dataset of a locked chain.
struct LockedDataset {
  std::string id;
  std::string name;
  std::string lineage_id;
  DatasetState state = DatasetState::kCreated;
  bool is_public = false;
  bool is_partitioned = false;
  bool has_analyst_accounts = false;  // the lineage has accounts of analysts or groups
  std::shared_ptr<const RequiredAccounts> required_accounts = {};  // null: not read
  int64_t version = 0;
  int64_t revision = 0;                 // ledger::Dataset::revision
  std::string refusal_rules_hash = {};  // ledger::Dataset::refusal_rules_hash
  ChainHead head;
  int64_t last_entry_us = 0;  // the time of the chain's last entry
};

// The state from which an optimistic change starts instead of locking and reading (head_cache.h).
struct CachedHeads {
  std::map<std::string, LockedDataset, std::less<>> datasets;
  std::map<CounterKey, LockedCounter> counters;
  int64_t now_us = 0;
};

class WriteSet {
 public:
  // The files of `anchored` were read before the transaction began, so the locked chains can only be further
  // than the anchor. All arguments must outlive this object.
  // `schema` is the version that this program knows: a change of a ledger that has another one is refused, in
  // whichever way it is made, at no round trip of its own. Datasets that `damage` names are refused
  // (DATA_LOSS); null for a repair.
  WriteSet(Transaction& transaction, const Dialect& dialect, const AnchorView& anchored, int64_t schema,
           DamageRegister* damage = nullptr)
      : transaction_(transaction), dialect_(dialect), anchored_(anchored), schema_(schema), damage_(damage) {}

  Transaction& transaction() { return transaction_; }
  const Dialect& dialect() const { return dialect_; }
  // The database's time when the first chain was locked.
  int64_t now_us() const { return now_us_; }

  // Locks the chains of these datasets and reads the time. Datasets that do not exist or are
  // deleted are skipped, but the anchor must cover the entries of the latter, too. DATA_LOSS
  // when a chain is behind the anchor or contradicts it, Outdated() when the ledger has another schema.
  absl::Status LockChains(const std::set<std::string>& dataset_ids);
  // LockChains(), LockCounters() and the look-ups in one round trip. Returns the rows of each look-up.
  absl::StatusOr<std::vector<Answers>> LockAll(const std::set<std::string>& dataset_ids,
                                               const std::set<int64_t>& account_ids,
                                               const std::vector<Statement>& look_ups);
  // Makes this change optimistic: it starts from cached values, locks and reads nothing, and Flush() has the
  // store compare them. ABORTED when they already differ from the anchor.
  absl::Status StartFromCache(const CachedHeads& cached);
  bool is_optimistic() const { return is_optimistic_; }

  // Called by a body that changes nothing but charges, their releases and counters. Any other body that
  // appends an entry gives each dataset whose chain it has locked a new revision.
  void MarkChargesOnly() { charges_only_ = true; }
  bool is_charges_only() const { return charges_only_; }
  // The locked chains and counters, as this change leaves them.
  const std::map<std::string, LockedDataset, std::less<>>& datasets() const { return datasets_; }
  const std::map<CounterKey, LockedCounter>& counters() const { return counters_; }
  // The head of a locked chain before this change; none of a chain that this change has started.
  const ChainHead* FirstHeadOf(std::string_view dataset_id) const;

  // The accounts that charges on a locked dataset must post to: read once, unless they were cached. ABORTED
  // for an optimistic change that has none cached.
  absl::StatusOr<std::shared_ptr<const RequiredAccounts>> RequiredAccountsOf(std::string_view dataset_id);

  // NOT_FOUND unless the dataset's chain is locked. Later calls on this object change the value pointed to.
  absl::StatusOr<const LockedDataset*> FindDataset(std::string_view dataset_id) const;
  absl::StatusOr<LockedDataset> dataset(std::string_view dataset_id) const;
  // Starts the chain of a dataset that this transaction has inserted.
  absl::Status StartChain(std::string_view dataset_id);

  // The refusal if the dataset's lineage is read-only.
  absl::Status CheckNotDamaged(const DamageSite& dataset) {
    return damage_ == nullptr ? absl::OkStatus() : damage_->CheckLineage(dataset);
  }

  // Locks all counters of these accounts. DATA_LOSS when one is below the anchor.
  absl::Status LockCounters(const std::set<int64_t>& account_ids);
  // Null when no such counter is locked.
  LockedCounter* counter(const CounterKey& key);
  void AddSpent(const CounterKey& key, int64_t amount);
  void AddHeld(const CounterKey& key, int64_t amount);

  // Queues an entry for the end of its dataset's chain, which is locked, and sets its seq, time and hashes.
  // The time is never before that of the entry it follows, whatever the database's clock says.
  EntryPlace Append(Entry entry);
  // Append() after a gap: the numbers up to `lost_seq` belong to entries that the store has lost.
  EntryPlace AppendAfterGap(Entry entry, int64_t lost_seq);

  // For an entry that is queued as a row of another table than the datasets': the anchor must cover `head`
  // before the change is reported.
  void Reach(const std::string& history, const ChainHead& head) { reached_.heads[history] = head; }

  // Queue a change or the deletion of one row: `kind` is a constant without rows. Flush() makes those of one
  // kind together, in the order in which the kinds were first used.
  void ChangeRow(const Update& kind, Parameters row);
  void DeleteRow(const Deletion& kind, Parameters row);
  // Queues rows of `table`, a constant. Flush() writes the tables in the order in which they were first used,
  // after all changes and deletions.
  void Insert(std::string_view table, const std::vector<Column>& columns, std::vector<Parameters> rows);

  // Writes counters, inserted rows, entries and heads. The last step of a body.
  absl::Status Flush();

  // The state that the anchor must cover before the change is reported to any caller. Complete after Flush().
  const AnchorState& reached() const { return reached_; }

 private:
  std::string SelectChains() const;
  std::string SelectCountersLocked() const;
  absl::Status ReadChains(const Answers& answers);
  absl::Status ReadCounters(const Answers& answers);
  absl::Status CheckAgainstAnchor(const LockedDataset& dataset);
  // For a chain that has entries after `seq`, the last one that this server's own anchor file covers: another
  // server may have committed them and died before its anchor did. An anchor that records the new head must
  // also record everything spent up to it.
  absl::Status CoverEntriesAfter(const LockedDataset& dataset, int64_t seq);
  Update UpdateHeads();
  Update UpdateCounters();
  // Moves the queued entries out of this object.
  Insertion InsertEntries();

  Transaction& transaction_;
  const Dialect& dialect_;
  const AnchorView& anchored_;
  const int64_t schema_;
  DamageRegister* const damage_;
  int64_t now_us_ = 0;
  std::map<std::string, LockedDataset, std::less<>> datasets_;
  std::map<CounterKey, LockedCounter> counters_;
  template <typename Change>
  struct Queued {
    const Change* kind;
    std::vector<Parameters> rows;
  };
  std::vector<Queued<Update>> changes_;
  std::vector<Queued<Deletion>> deletions_;
  std::vector<Insertion> insertions_;
  std::vector<Entry> appended_;
  AnchorState reached_;
  bool is_optimistic_ = false;
  bool charges_only_ = false;
  // The heads as they were locked or cached.
  std::map<std::string, ChainHead, std::less<>> first_heads_;
};

// FAILED_PRECONDITION for a server whose program knows another schema than the ledger has.
absl::Status Outdated(int64_t schema_of_ledger, int64_t known);
bool IsOutdated(const absl::Status& status);
// Outdated() unless the ledger has the schema `known`.
absl::Status CheckSchemaIs(Transaction& transaction, int64_t known);

}  // namespace curator::ledger::sql
