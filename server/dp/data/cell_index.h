// The cell numbers of rows: the inner loop of counting.
//
// Thread-safe: pure functions. Uses AVX2 where the machine has it, with the same results.
#pragma once

#include <cstdint>
#include <span>

#include "dp/data/coded_columns.h"

namespace curator::dp {

// Computes the number of each row's cell, for the `cells.size()` rows from `first_row` on: the codes of
// `columns` as digits, the last one varying fastest. The columns have those rows, and the product of their
// sizes is at most 2^16, or 2^32 for the wider numbers.
void CellsOfRows(std::span<const ColumnView> columns, int64_t first_row, std::span<uint16_t> cells);
void CellsOfRows(std::span<const ColumnView> columns, int64_t first_row, std::span<uint32_t> cells);

}  // namespace curator::dp
