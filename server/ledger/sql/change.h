// One attempt at one change of the ledger: what it has locked, what it will append, and how far its chains
// then reach.
//
// Order of locks, everywhere: the chains of all datasets concerned by id, then all counters by account id. So
// changes wait for each other, but never in a ring.
//
// Belongs to one transaction and one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// A counter whose row is locked, with what this change has already added to it.
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
};

// What a locked chain's dataset is like.
struct LockedDataset {
  std::string id;
  std::string name;
  std::string lineage_id;
  DatasetState state = DatasetState::kCreated;
  bool is_public = false;
  bool is_partitioned = false;
  bool has_analyst_accounts = false;  // the lineage has accounts of analysts or groups
  int64_t version = 0;
  ChainHead head;
};

// What a change may start from instead of locking and reading (recollection.h).
struct Remembered {
  std::map<std::string, LockedDataset, std::less<>> datasets;
  std::map<CounterKey, LockedCounter> counters;
  int64_t now_us = 0;
};

class Change {
 public:
  // The files of `anchored` were looked at before the transaction began, so what the transaction has locked
  // can only be further than it.
  Change(Transaction& transaction, const Dialect& dialect, const AnchorView& anchored)
      : transaction_(transaction), dialect_(dialect), anchored_(anchored) {}

  Transaction& transaction() { return transaction_; }
  // The database's time, read when the first chain was locked.
  int64_t now_us() const { return now_us_; }

  // Locks the chains of these datasets and reads the time. A dataset that does not exist is simply not among
  // dataset(). DATA_LOSS when a chain is behind the anchor or contradicts it.
  absl::Status LockChains(const std::set<std::string>& dataset_ids);
  // LockChains() and LockCounters() at once, and then `look_up`, whose answers it returns.
  absl::StatusOr<Answers> LockAll(const std::set<std::string>& dataset_ids,
                                  const std::set<int64_t>& account_ids, const Statement& look_up);
  // Starts from a guess: nothing is locked or read, and Flush() has the store compare. ABORTED when the
  // anchor knows otherwise already.
  absl::Status Guess(const Remembered& remembered);
  bool is_guess() const { return is_guess_; }

  // To be said by a body that changes charges, their releases and counters, and nothing else about a dataset.
  void ChangesChargesOnly() { changes_charges_only_ = true; }
  bool changes_charges_only() const { return changes_charges_only_; }
  // What is locked, as this change leaves it.
  const std::map<std::string, LockedDataset, std::less<>>& datasets() const { return datasets_; }
  const std::map<CounterKey, LockedCounter>& counters() const { return counters_; }

  // NOT_FOUND unless LockChains() found it. What is pointed to changes with the change.
  absl::StatusOr<const LockedDataset*> FindDataset(std::string_view dataset_id) const;
  absl::StatusOr<LockedDataset> dataset(std::string_view dataset_id) const;
  // Begins the chain of a dataset that this transaction has inserted.
  absl::Status StartChain(std::string_view dataset_id);

  // Locks all counters of these accounts. DATA_LOSS when one is below the anchor.
  absl::Status LockCounters(const std::set<int64_t>& account_ids);
  // Null when no such counter is locked.
  LockedCounter* counter(const CounterKey& key);
  void AddSpent(const CounterKey& key, int64_t amount);
  void AddHeld(const CounterKey& key, int64_t amount);

  // Remembers an entry for the end of its dataset's chain (locked). Sets its seq, which it returns, its time
  // and its hashes.
  int64_t Append(Entry entry);
  // The same behind a gap: the numbers up to `lost_seq` are left to entries that the store has lost.
  int64_t AppendAfterLoss(Entry entry, int64_t lost_seq);

  // Writes rows of `table` at the end of the body, in the order of these calls.
  void Insert(std::string_view table, const std::vector<Column>& columns, std::vector<Parameters> rows);

  // Writes counters, inserted rows, entries and heads. The last step of a body.
  absl::Status Flush();

  // What the anchor has to vouch for before anyone is told of this change. Complete after Flush().
  const AnchorState& reached() const { return reached_; }

 private:
  std::string ReadOfChains() const;
  std::string LockOfCounters() const;
  absl::Status TakeChains(const Answers& answers);
  absl::Status TakeCounters(const Answers& answers);
  absl::Status CheckAgainstAnchor(const LockedDataset& dataset);
  // Of a chain that went on without this server's part of the anchor: who committed that may have died before
  // an anchor knew. Whoever comes to vouch for the new head comes to vouch for all that was spent up to it,
  // too.
  absl::Status VouchForEntriesAfter(const LockedDataset& dataset, int64_t seq);
  Statement UpdateOfHeads();
  Statement UpdateOfCounters();
  // Takes the entries out of this change.
  Insertion InsertionOfEntries();

  Transaction& transaction_;
  const Dialect& dialect_;
  const AnchorView& anchored_;
  int64_t now_us_ = 0;
  std::map<std::string, LockedDataset, std::less<>> datasets_;
  std::map<CounterKey, LockedCounter> counters_;
  std::vector<Insertion> insertions_;
  std::vector<Entry> appended_;
  AnchorState reached_;
  bool is_guess_ = false;
  bool changes_charges_only_ = false;
  std::map<std::string, ChainHead> guessed_heads_;
  std::string guarded_update_;  // the text of a statement, which is only pointed to
};

// DATA_LOSS that says what the store and the anchor say, and what the owner can do.
absl::Status BehindAnchor(std::string_view what_was_found);
bool IsBehindAnchor(const absl::Status& status);

}  // namespace curator::ledger::sql
