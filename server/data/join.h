// Several sealed tables as one.
//
// Thread-safe: a pure function.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/sealed_table_handle.h"

namespace curator::data {

// The rows of all `tables`, at least one, in their order; each row is a unit of its own. Errors:
// INVALID_ARGUMENT for tables of different attributes, or whose rows have owners; RESOURCE_EXHAUSTED when
// there is no memory.
absl::StatusOr<dp::SealedTableHandle> JoinTables(const std::vector<dp::SealedTableHandle>& tables);

}  // namespace curator::data
