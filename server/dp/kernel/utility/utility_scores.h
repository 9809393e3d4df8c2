// The exact scores of a utility query: as private as the table.
//
// For dp/kernel only: this header includes the table's own, which is closed to all others.
// Thread-safe: pure functions of immutable tables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/lattice_utility.h"

namespace curator::dp {

// FAILED_PRECONDITION, a public fact about how the dataset was made, when a unit may own several records and
// the table does not identify the unit of each record, so that its records cannot be grouped; and when a
// query is about groups around records and the table has units of several records, or no groups.
absl::Status CheckGrouping(const LatticeUtility& utility, const SealedTable& table, const UnitBound& unit);

// The score of each candidate, in steps, bonus included. A unit's contribution is a function of its own
// records and of public numbers alone, computed in integers; so neighbours' scores differ by what one unit
// contributes (two under REPLACE_ONE), whatever the order of the rows. Time and memory are proportional to
// the number of rows plus that of cells, times the number of candidates (of groups: to that of groups, times
// candidates, on the cores of `executor`). Errors: those of CountMarginal().
absl::StatusOr<std::vector<int64_t>> ScoresOf(const LatticeUtility& utility, const SealedTable& table,
                                              const Domain& domain, Executor& executor = OnlyThisThread());

// The score of each code as the value of a quantile, in steps: `counts` are the numbers of records with each
// code, in their order.
std::vector<int64_t> QuantileScores(const LatticeQuantile& quantile, std::span<const int64_t> counts);

}  // namespace curator::dp
