// Exact numbers of groups, by their number of records and by what they share: as private as the table.
//
// For dp/kernel only: this header includes the table's own, which is closed to all others. Thread-safe: pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/queries/group_marginals.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {

// FAILED_PRECONDITION when the table's units are not what `role` says, which is a public fact about how the
// dataset was made.
absl::Status CheckRole(GroupRole role, const SealedTable& table);

// The number of groups in each bin (CheckSizeBins()); groups without records are in no bin.
std::vector<int64_t> GroupSizes(const SealedTable& table, std::span<const int64_t> least_sizes);

// The number of groups in each cell of each marginal, which are valid. The steps follow from the number of
// rows. Errors: FAILED_PRECONDITION when the table has another domain.
absl::StatusOr<std::vector<std::vector<int64_t>>> GroupMarginals(const SealedTable& table,
                                                                 const Domain& domain,
                                                                 std::span<const GroupMarginal> marginals);

}  // namespace curator::dp
