// The exact numbers behind NoisySums, NoisyUnitCounts and SelectQuantiles: as private as the table.
//
// For dp/kernel only: this header includes the table's own, which is closed to all others. All queries are
// valid (dp/queries/grouped_sums.h). Thread-safe: pure functions of immutable tables. Errors:
// FAILED_PRECONDITION when the table has another domain.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/queries/grouped_sums.h"

namespace curator::dp {

// In the order of grouped_sums.h.
absl::StatusOr<std::vector<int64_t>> ExactSums(const SealedTable& table, const Domain& domain,
                                               const GroupedSum& sum, Executor& executor = OnlyThisThread());

// FAILED_PRECONDITION, a public fact about how the dataset was made, when a unit may own several records and
// the table does not identify the unit of each record.
absl::Status CheckUnits(const SealedTable& table, const UnitBound& unit);

// For each group the number of units that have a record in it; each record is a unit where the table does not
// identify them.
absl::StatusOr<std::vector<int64_t>> ExactUnitCounts(const SealedTable& table, const Domain& domain,
                                                     const RecordGroups& groups,
                                                     Executor& executor = OnlyThisThread());

// The number of records with each code of the quantile's column, group by group.
absl::StatusOr<std::vector<int64_t>> ExactCodeCounts(const SealedTable& table, const Domain& domain,
                                                     const GroupedQuantile& quantile,
                                                     Executor& executor = OnlyThisThread());

}  // namespace curator::dp
