// Exact counts of the cells of marginals of private tables. They are as private as the table itself, so only
// the modules that may include sealed_table.h may include this header.
//
// Cells, costs, thread-safety and errors are those of count_marginals.h.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/count_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"

namespace curator::dp {

absl::StatusOr<std::vector<int64_t>> CountMarginal(const SealedTable& table, const Domain& domain,
                                                   const AttributeSet& set,
                                                   Executor& executor = OnlyThisThread());

// The same for many sets in one pass over the rows: result[i] belongs to sets[i].
absl::StatusOr<std::vector<std::vector<int64_t>>> CountMarginals(const SealedTable& table,
                                                                 const Domain& domain,
                                                                 const std::vector<AttributeSet>& sets,
                                                                 Executor& executor = OnlyThisThread());

}  // namespace curator::dp
