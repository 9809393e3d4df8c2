// Whether the store holds everything that an anchor vouches for.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// How far the store's histories reach. DATA_LOSS, with all that was found, when a dataset that the anchor
// knows is missing or behind, when a history does not contain the anchored entry or does not continue it link
// by link, or when a counter is below what the anchor knows was spent.
absl::StatusOr<AnchorState> CompareWithStore(Transaction& transaction, const AnchorState& anchored);

// What the counters of all accounts of a lineage have spent.
absl::StatusOr<std::map<CounterKey, int64_t>> SpentInLineage(Transaction& transaction,
                                                             const std::string& lineage_id);

}  // namespace curator::ledger::sql
