// Whole numbers from tables of estimates without negative cells.
//
// Thread-safe: pure functions.
#pragma once

#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/workload/marginal_consistency.h"

namespace curator::dp {

// Each cell rounded down, then raised by 1 where most was cut off, until they sum to `total`, a whole number
// within the number of cells from their sum. Cells move by less than 1 when `total` is their sum, rounded.
CellValues RoundedToTotal(const CellValues& cells, double total);

// Tables that agree, none with a negative cell, as whole numbers, none negative, all of the same total.
// Marginals over one and two attributes agree exactly: one-way tables are the differences of their rounded
// cumulative counts, and a two-way table is rounded down and filled up to the rounded one-way counts of its
// rows and columns, which is always possible since these have the same sum. Wider marginals are rounded to
// the total by themselves.
std::vector<CellValues> RoundedAlike(const Domain& domain, std::span<const MeasuredShape> marginals,
                                     std::vector<CellValues> tables);

}  // namespace curator::dp
