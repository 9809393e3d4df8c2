#include "dp/data/cell_index.h"

#include <algorithm>
#include <array>

namespace curator::dp {
namespace {

// Everything here is written once and compiled for each instruction set: inlined functions take over the
// target of their caller. Arithmetic is modulo the width of Number; results fit it.

template <typename Number, typename Code>
[[gnu::always_inline]] inline void AddDigits(const Code* __restrict codes, Number size,
                                             Number* __restrict cells, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    cells[row] = static_cast<Number>(cells[row] * size + static_cast<Number>(codes[row]));
  }
}

template <typename Number>
[[gnu::always_inline]] inline void AddColumn(const ColumnView& column, int64_t first_row,
                                             std::span<Number> cells) {
  const Number size = static_cast<Number>(column.size);
  const std::byte* const start = column.codes + first_row * static_cast<int64_t>(BytesOf(column.width));
  if (column.width == CodeWidth::kOneByte) {
    AddDigits(reinterpret_cast<const uint8_t*>(start), size, cells.data(), cells.size());
  } else if (column.width == CodeWidth::kTwoBytes) {
    AddDigits(reinterpret_cast<const uint16_t*>(start), size, cells.data(), cells.size());
  } else {
    AddDigits(reinterpret_cast<const uint32_t*>(start), size, cells.data(), cells.size());
  }
}

// A few columns of one byte each, by far the most common case, without a round trip through memory for each
// column.
template <typename Number, size_t kColumns>
[[gnu::always_inline]] inline void AllNarrow(std::span<const ColumnView> columns, int64_t first_row,
                                             std::span<Number> cells) {
  std::array<const uint8_t*, kColumns> codes;
  std::array<Number, kColumns> sizes;
  for (size_t i = 0; i < kColumns; ++i) {
    codes[i] = reinterpret_cast<const uint8_t*>(columns[i].codes + first_row);
    sizes[i] = static_cast<Number>(columns[i].size);
  }
  Number* __restrict const out = cells.data();
  const size_t rows = cells.size();
#pragma GCC ivdep
  for (size_t row = 0; row < rows; ++row) {
    Number cell = codes[0][row];
#pragma GCC unroll 8
    for (size_t i = 1; i < kColumns; ++i) cell = static_cast<Number>(cell * sizes[i] + codes[i][row]);
    out[row] = cell;
  }
}

template <typename Number>
[[gnu::always_inline]] inline void Compute(std::span<const ColumnView> columns, int64_t first_row,
                                           std::span<Number> cells) {
  const auto is_narrow = [](const ColumnView& column) { return column.width == CodeWidth::kOneByte; };
  if (std::all_of(columns.begin(), columns.end(), is_narrow)) {
    switch (columns.size()) {
      case 1:
        return AllNarrow<Number, 1>(columns, first_row, cells);
      case 2:
        return AllNarrow<Number, 2>(columns, first_row, cells);
      case 3:
        return AllNarrow<Number, 3>(columns, first_row, cells);
      case 4:
        return AllNarrow<Number, 4>(columns, first_row, cells);
      case 5:
        return AllNarrow<Number, 5>(columns, first_row, cells);
      case 6:
        return AllNarrow<Number, 6>(columns, first_row, cells);
      default:
        break;
    }
  }
  std::fill(cells.begin(), cells.end(), Number{0});
  for (const ColumnView& column : columns) AddColumn(column, first_row, cells);
}

#if defined(__x86_64__)
bool MachineHasAvx2() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2;
}

template <typename Number>
[[gnu::target("avx2")]] void ComputeWithAvx2(std::span<const ColumnView> columns, int64_t first_row,
                                             std::span<Number> cells) {
  Compute(columns, first_row, cells);
}
#endif

template <typename Number>
void ComputeHere(std::span<const ColumnView> columns, int64_t first_row, std::span<Number> cells) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return ComputeWithAvx2(columns, first_row, cells);
#endif
  Compute(columns, first_row, cells);
}

}  // namespace

void CellsOfRows(std::span<const ColumnView> columns, int64_t first_row, std::span<uint16_t> cells) {
  ComputeHere(columns, first_row, cells);
}

void CellsOfRows(std::span<const ColumnView> columns, int64_t first_row, std::span<uint32_t> cells) {
  ComputeHere(columns, first_row, cells);
}

}  // namespace curator::dp
