// Exact counts of the cells of marginals. Of public tables here; of private ones in count_sealed_marginals.h.
//
// The cells of a marginal are in the order of its attributes, the last one varying fastest; the empty set has
// one cell, the number of rows. Thread-safe: pure functions of immutable tables. They take time proportional
// to the number of rows times the number of sets, plus the number of cells, and look at nothing else of the
// table.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// More cells than this in one call are refused: they are held in memory at once (8 bytes each).
inline constexpr int64_t kMaxCountedCells = int64_t{1} << 28;

// The most memory that counting these sets takes at once on so many cores, in bytes and with its result,
// whatever the table: 12 for each cell, 12 for each of the largest set again, and 20 MiB for each core, of
// which 16 at most are used. No joint of several sets has more than 2^18 cells. From public sizes alone, so
// it can be stated before anything is charged; `sets` are valid for `domain` and have cell counts.
int64_t MostCountingBytes(const Domain& domain, const std::vector<AttributeSet>& sets, int cores);

// Errors: INVALID_ARGUMENT when a set is not rising or not within the domain, or there are too many cells;
// FAILED_PRECONDITION when the table has another domain. None of them depends on the rows.
absl::StatusOr<std::vector<int64_t>> CountMarginal(const PublicTable& table, const Domain& domain,
                                                   const AttributeSet& set,
                                                   Executor& executor = OnlyThisThread());

// The same for many sets in one pass over the rows: result[i] belongs to sets[i].
absl::StatusOr<std::vector<std::vector<int64_t>>> CountMarginals(const PublicTable& table,
                                                                 const Domain& domain,
                                                                 const std::vector<AttributeSet>& sets,
                                                                 Executor& executor = OnlyThisThread());

}  // namespace curator::dp
