// Exact counts of the cells of marginals of public tables; for private tables see count_sealed_marginals.h.
//
// The cells of a marginal are in the order of its attributes, the last one varying fastest; the empty set has
// one cell, the number of rows. Thread-safe: pure functions of immutable tables. Their time is proportional
// to the number of rows times the number of sets, plus the number of cells; it depends on nothing else of the
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

// Errors: INVALID_ARGUMENT when a set is not rising or not within the domain, or there are too many cells;
// FAILED_PRECONDITION when the table has another domain. None of them depends on the rows.
absl::StatusOr<std::vector<int64_t>> CountMarginal(const PublicTable& table, const Domain& domain,
                                                   const AttributeSet& set,
                                                   Executor& executor = OnlyThisThread());

// The same for many sets: result[i] belongs to sets[i]. Memory, whatever the rows are: at most 12 bytes for
// each cell, 12 for each cell of the largest set again, and 20 MiB for each core, of which it uses at most
// 16.
absl::StatusOr<std::vector<std::vector<int64_t>>> CountMarginals(const PublicTable& table,
                                                                 const Domain& domain,
                                                                 const std::vector<AttributeSet>& sets,
                                                                 Executor& executor = OnlyThisThread());

// That much memory on one core, for `sets` sets of `cells` cells in all, of which the largest has `largest`.
// What other cores take is there once for each core of the machine, however many requests count.
int64_t CountingBytes(int64_t sets, int64_t cells, int64_t largest);

}  // namespace curator::dp
