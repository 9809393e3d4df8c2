// The whole truth of a lineage: recounted from its entries alone, then compared with tables and anchor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// What Ledger::Verify() answers. `anchored` was read before the transaction began.
absl::StatusOr<Verification> VerifyDataset(Transaction& transaction, const AnchorState& anchored,
                                           std::string_view dataset_id);

// Whether the store holds everything that an anchor vouches for.

// How far the store's histories reach. DATA_LOSS, with all that was found, when a dataset that the anchor
// knows is missing or behind, when a history does not contain the anchored entry or does not continue it link
// by link, or when a counter is below what the anchor knows was spent.
absl::StatusOr<AnchorState> CompareWithStore(Transaction& transaction, const AnchorState& anchored);

// A part of the history of a dataset of a lineage: all entries after `seq`, up to `head`.
struct EntriesAfter {
  std::string lineage_id;
  std::string dataset_id;
  int64_t seq = 0;
  int64_t head = 0;
};
// What the counters have spent that those entries can have moved, and perhaps some others of the lineage.
absl::StatusOr<std::map<CounterKey, int64_t>> SpentBy(Transaction& transaction, const EntriesAfter& entries);

}  // namespace curator::ledger::sql
