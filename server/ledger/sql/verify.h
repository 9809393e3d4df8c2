// Verification: tables and anchor against the history of entries.
//
// `anchored` is read before the transaction begins, so the store can only be further than the anchor. Errors
// are the store's; contradictions are findings, except where DATA_LOSS is stated.
//
// Thread-safe: functions over one transaction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/ledger.h"
#include "ledger/report.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// Recounts the dataset's lineage from its entries alone and compares the result with tables and anchor: what
// Ledger::Verify() returns.
absl::StatusOr<Verification> VerifyDataset(Transaction& transaction, const AnchorState& anchored,
                                           std::string_view dataset_id);

// VerifyDataset() of every lineage, each in a transaction of its own. Reports "history_verified" after each.
// Returns all findings; damage that keeps a history from being read is one, too.
absl::StatusOr<std::vector<std::string>> VerifyEveryHistory(Database& database, const AnchorState& anchored,
                                                            const Report& report);
// DATA_LOSS for a ledger in which VerifyEveryHistory() found something after its schema was upgraded.
absl::Status UnsoundAfterUpgrade(const std::vector<std::string>& findings);

// The heads and spent counters of the whole store. DATA_LOSS, with all findings, when a dataset of the anchor
// is missing or behind, when a history does not contain the anchored entry or does not continue it link by
// link, or when a counter is below the anchor's.
absl::StatusOr<AnchorState> CompareWithStore(Transaction& transaction, const AnchorState& anchored);

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
