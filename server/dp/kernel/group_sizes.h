// How many groups have how many records: as private as the table.
//
// Inside the kernel room only. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "dp/data/sealed_table.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {

// FAILED_PRECONDITION, a public fact of how the dataset was made, when the units of the table are not what
// the role says.
absl::Status CheckRole(GroupRole role, const SealedTable& table);

// The number of groups in each bin; those without records are in none.
std::vector<int64_t> GroupSizes(const SealedTable& table, std::span<const int64_t> least_sizes);

}  // namespace curator::dp
