// Exact sums over groups of rows of private tables, and exact numbers of units in them. They are as private
// as the table itself, so only the modules that may include sealed_table.h may include this header.
//
// Thread-safe: functions of immutable tables. They execute the same instructions for any two tables with the
// same number of rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/grouped_rows.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// The sums, in one pass over the rows, on the cores of `executor`. Memory, whatever the rows are: at most 24
// bytes for each cell, 32 for each sum and 20 MiB, and 8 MiB for each other core, of which it uses at most
// 15. Errors: FAILED_PRECONDITION when the table has another domain, INVALID_ARGUMENT when it has no such
// attributes or columns, when there is not one group number for each cell, or when there are more than 2^24
// cells or sums. None of them depends on the rows.
absl::StatusOr<std::vector<int64_t>> SumGroups(const SealedTable& table, const Domain& domain,
                                               const GroupedRows& rows,
                                               Executor& executor = OnlyThisThread());

// For each group the number of units that have a row in it. `table` identifies the unit of each row. Memory:
// 4 bytes for each cell, 12 for each group; and 8 for each row, which no public forecast may include. So one
// call at a time has them, the others wait for it, and all calls together take at most what the largest
// table does. Only for what has been charged: how long a call takes depends on the number of rows. Errors: as
// above, of `attributes` and `group_of_cell`; FAILED_PRECONDITION when the table does not identify units.
absl::StatusOr<std::vector<int64_t>> CountUnitsOfGroups(const SealedTable& table, const Domain& domain,
                                                        const AttributeSet& attributes,
                                                        std::span<const int32_t> group_of_cell,
                                                        int64_t groups);

}  // namespace curator::dp
