#include "dp/data/cell_index.h"

#include <algorithm>
#include <array>

#include "base/processor.h"

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

// The digits of `kColumns` columns of one byte each behind those that the numbers have already.
template <typename Number, size_t kColumns>
[[gnu::always_inline]] inline void AddNarrow(std::span<const ColumnView> columns, int64_t first_row,
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
    Number cell = out[row];
#pragma GCC unroll 8
    for (size_t i = 0; i < kColumns; ++i) cell = static_cast<Number>(cell * sizes[i] + codes[i][row]);
    out[row] = cell;
  }
}

template <typename Number>
[[gnu::always_inline]] inline void Compute(std::span<const ColumnView> columns, int64_t first_row,
                                           std::span<Number> cells) {
  const auto is_narrow = [](const ColumnView& column) { return column.width == CodeWidth::kOneByte; };
  const auto first_wide = std::find_if_not(columns.begin(), columns.end(), is_narrow);
  std::span<const ColumnView> narrow(columns.begin(), first_wide);
  std::span<const ColumnView> rest(first_wide, columns.end());
  switch (std::min(narrow.size(), size_t{6})) {
    case 0:
      std::fill(cells.begin(), cells.end(), Number{0});
      break;
    case 1:
      AllNarrow<Number, 1>(narrow, first_row, cells);
      break;
    case 2:
      AllNarrow<Number, 2>(narrow, first_row, cells);
      break;
    case 3:
      AllNarrow<Number, 3>(narrow, first_row, cells);
      break;
    case 4:
      AllNarrow<Number, 4>(narrow, first_row, cells);
      break;
    case 5:
      AllNarrow<Number, 5>(narrow, first_row, cells);
      break;
    default:
      AllNarrow<Number, 6>(narrow, first_row, cells);
      for (narrow = narrow.subspan(6); narrow.size() >= 4; narrow = narrow.subspan(4))
        AddNarrow<Number, 4>(narrow, first_row, cells);
      for (const ColumnView& column : narrow) AddColumn(column, first_row, cells);
  }
  for (const ColumnView& column : rest) AddColumn(column, first_row, cells);
}

#if defined(__x86_64__)
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
