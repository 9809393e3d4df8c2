// From rows to cells: the one loop that counting at memory speed consists of.
//
// Thread-safe: pure functions. Uses AVX2 where the machine has it, with the same results.
#pragma once

#include <cstdint>
#include <span>

#include "dp/data/coded_columns.h"

namespace curator::dp {

// Computes, for the `cells.size()` rows from `first_row`, the number of the cell that each lies in: the codes
// of `columns` as digits, the last one varying fastest. The columns have those rows, and the product of their
// sizes is at most 2^16, or 2^32 for the wider numbers.
void CellsOfRows(std::span<const ColumnView> columns, int64_t first_row, std::span<uint16_t> cells);
void CellsOfRows(std::span<const ColumnView> columns, int64_t first_row, std::span<uint32_t> cells);

}  // namespace curator::dp
