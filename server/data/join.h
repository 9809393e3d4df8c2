// The sealed tables of several parts as one.
//
// Thread-safe: a pure function.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "data/unit_counts.h"
#include "dp/data/sealed_table_handle.h"

namespace curator::data {

struct PartTable {
  dp::SealedTableHandle table;
  UnitCounts units;  // whose its rows are; empty where each row is a unit of its own
};

// The rows of all `parts`, at least one, in their order. A person or group is one unit wherever its rows lie.
// Errors: INVALID_ARGUMENT for tables of different shapes; DATA_LOSS when a part's units are not those of its
// table; RESOURCE_EXHAUSTED when there is no memory.
absl::StatusOr<dp::SealedTableHandle> JoinTables(const std::vector<PartTable>& parts);

}  // namespace curator::data
