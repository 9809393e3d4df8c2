// Verification: tables and anchor against the history of entries, one lineage at a time.
//
// A pass reads the entries in pages, each in a short transaction of its own, and holds only what is still
// open, so its memory does not grow with the history. The last page is read in one transaction with the
// tables that it is compared with. That transaction grows with the number of charges and shares, also from a
// checkpoint on: no index finds the charges that are open, so it walks all of the lineage.
//
// Thread-safe: functions over transactions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/history/recount.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// Runs a body in a read-only transaction (Database::Read()).
using ReadTransaction = std::function<absl::Status(const Body& body)>;

// Called with the number of entries that were read: after each full page, and at the end with the rest.
using EntriesRead = std::function<void(int64_t entries)>;

// What the entries of one dataset say about who may do what, as far as its chain is whole.
struct VerifiedNames {
  std::string owner;
  std::map<std::string, Grant> grants;                  // by grantee
  std::map<std::string, std::set<std::string>> shares;  // grantees by release id
  std::string refusal_rules;
  int64_t is_public = 0;  // as in DatasetCreated
  DatasetFacts facts;
};

// The result of one pass over a lineage.
struct VerifiedLineage {
  std::string lineage_id;
  RecountFindings findings;
  RecountFindings points;         // about what charts show of the past, by which nothing is admitted
  bool is_whole = true;           // not from a checkpoint on
  bool is_behind_anchor = false;  // so raising it to the anchor may repair it
  // With those that a checkpoint had counted: of the lineage, and of each of its datasets by id. Who may see
  // one dataset of a lineage learns nothing about the others.
  int64_t entries_checked = 0;
  std::map<std::string, int64_t> entries_of;
  AnchorState reached;                         // the heads and spent counters of the tables
  std::map<std::string, VerifiedNames> names;  // by dataset id
  RecountState state;                          // to go on from; only of a whole pass without findings
  // The charges that findings concern. With more than RecountFindings::kMostKept it is incomplete.
  std::set<std::string> damaged_charges;

  bool ok() const { return findings.count() == 0; }
};

struct PassOptions {
  AmountText amount_text = IntegerText;
  std::optional<RecountState> checkpoint = std::nullopt;  // go on from here
  EntriesRead on_read = {};                               // may be null
};

// Recounts the lineage from its entries alone and compares the result with tables and anchor. `anchored` was
// read before, so the store can only be further. Contradictions, and rows that cannot be read, are findings;
// errors are the store's. After a row that cannot be read the result has what the entries up to there say.
//
// With a checkpoint only newer entries are read. All that decides what is charged and who is let in is then
// still compared with the tables: counters, limits, accounts, open charges, owners, grants, shares. Not
// compared are older entries, the charges and releases that had ended, the proposals of limits, and points of
// counters other than the newest: damage there is found by a pass over everything.
absl::StatusOr<VerifiedLineage> VerifyLineage(const ReadTransaction& read, const AnchorState& anchored,
                                              const std::string& lineage_id, PassOptions options);

// What Ledger::Verify() returns about one dataset of the lineage.
Verification VerificationOf(const VerifiedLineage& lineage, const AnchorState& anchored,
                            std::string_view dataset_id);

// The ids of all lineages.
absl::StatusOr<std::vector<std::string>> LineageIds(Transaction& transaction);

// One finding for each dataset of the anchor that the database does not have.
absl::StatusOr<std::vector<std::string>> LostDatasets(Transaction& transaction, const AnchorState& anchored);

// The entries of a dataset after `seq`, up to `head`.
struct EntriesAfter {
  std::string lineage_id;
  std::string dataset_id;
  int64_t seq = 0;
  int64_t head = 0;
};
// The spent values of all counters that those entries can have moved, and possibly others of the lineage.
absl::StatusOr<std::map<CounterKey, int64_t>> SpentBy(Transaction& transaction, const EntriesAfter& entries);

}  // namespace curator::ledger::sql
