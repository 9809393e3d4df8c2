#include "dp/data/cell_index.h"

#include <algorithm>

namespace curator::dp {
namespace {

// Written once, compiled for each instruction set: `inline` functions take over the target of their caller.
template <typename Code>
[[gnu::always_inline]] inline void AddDigits(const Code* __restrict codes, uint32_t size,
                                             uint32_t* __restrict cells, size_t rows) {
  for (size_t row = 0; row < rows; ++row) cells[row] = cells[row] * size + codes[row];
}

[[gnu::always_inline]] inline void AddColumn(const ColumnView& column, int64_t first_row,
                                             std::span<uint32_t> cells) {
  const uint32_t size = static_cast<uint32_t>(column.size);
  const std::byte* const start = column.codes + first_row * static_cast<int64_t>(BytesOf(column.width));
  if (column.width == CodeWidth::kOneByte) {
    AddDigits(reinterpret_cast<const uint8_t*>(start), size, cells.data(), cells.size());
  } else if (column.width == CodeWidth::kTwoBytes) {
    AddDigits(reinterpret_cast<const uint16_t*>(start), size, cells.data(), cells.size());
  } else {
    AddDigits(reinterpret_cast<const uint32_t*>(start), size, cells.data(), cells.size());
  }
}

// Three narrow columns, by far the most common case, without a round trip through memory for each column.
[[gnu::always_inline]] inline void AddThreeNarrow(std::span<const ColumnView> columns, int64_t first_row,
                                                  std::span<uint32_t> cells) {
  const auto* __restrict const a = reinterpret_cast<const uint8_t*>(columns[0].codes + first_row);
  const auto* __restrict const b = reinterpret_cast<const uint8_t*>(columns[1].codes + first_row);
  const auto* __restrict const c = reinterpret_cast<const uint8_t*>(columns[2].codes + first_row);
  const uint32_t size_b = static_cast<uint32_t>(columns[1].size);
  const uint32_t size_c = static_cast<uint32_t>(columns[2].size);
  uint32_t* __restrict const out = cells.data();
  for (size_t row = 0; row < cells.size(); ++row) {
    out[row] = (uint32_t{a[row]} * size_b + b[row]) * size_c + c[row];
  }
}

[[gnu::always_inline]] inline void Compute(std::span<const ColumnView> columns, int64_t first_row,
                                           std::span<uint32_t> cells) {
  const auto is_narrow = [](const ColumnView& column) { return column.width == CodeWidth::kOneByte; };
  if (columns.size() == 3 && std::all_of(columns.begin(), columns.end(), is_narrow)) {
    AddThreeNarrow(columns, first_row, cells);
    return;
  }
  std::fill(cells.begin(), cells.end(), 0);
  for (const ColumnView& column : columns) AddColumn(column, first_row, cells);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void ComputeAvx2(std::span<const ColumnView> columns, int64_t first_row,
                                         std::span<uint32_t> cells) {
  Compute(columns, first_row, cells);
}

bool MachineHasAvx2() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2;
}
#endif

}  // namespace

void CellsOfRows(std::span<const ColumnView> columns, int64_t first_row, std::span<uint32_t> cells) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) {
    ComputeAvx2(columns, first_row, cells);
    return;
  }
#endif
  Compute(columns, first_row, cells);
}

}  // namespace curator::dp
