// The cell numbers of a few neighbouring rows over a few columns of one byte, for the loops of
// joint_counter.cc and sum_sealed_groups.cc.
//
// Everything here is inlined, so that it takes over the target of its caller: it is written once and compiled
// for each instruction set. The numbers of one group's cells are computed while those of the group before it
// are counted: the one keeps the vector units busy, the other the memory units, and the processor overlaps
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dp/data/coded_columns.h"

namespace curator::dp {

inline constexpr size_t kMostNarrowColumns = 6;
inline constexpr size_t kGroupRows = 64;

template <size_t kColumns>
struct NarrowColumns {
  std::array<const uint8_t*, kColumns> codes;
  std::array<uint16_t, kColumns> sizes;
};

// From the row `begin` on. The product of the sizes is at most 2^16.
template <size_t kColumns>
[[gnu::always_inline]] inline NarrowColumns<kColumns> NarrowColumnsFrom(std::span<const ColumnView> views,
                                                                        int64_t begin) {
  NarrowColumns<kColumns> columns;
  for (size_t i = 0; i < kColumns; ++i) {
    columns.codes[i] = reinterpret_cast<const uint8_t*>(views[i].codes + begin);
    columns.sizes[i] = static_cast<uint16_t>(views[i].size);
  }
  return columns;
}

template <size_t kColumns>
[[gnu::always_inline]] inline uint16_t CellOf(const NarrowColumns<kColumns>& columns, size_t row) {
  uint16_t cell = columns.codes[0][row];
#pragma GCC unroll 8
  for (size_t i = 1; i < kColumns; ++i)
    cell = static_cast<uint16_t>(cell * columns.sizes[i] + columns.codes[i][row]);
  return cell;
}

template <size_t kColumns>
[[gnu::always_inline]] inline void CellsOfGroup(const NarrowColumns<kColumns>& columns, size_t first_row,
                                                uint16_t* __restrict cells) {
#pragma GCC ivdep
  for (size_t i = 0; i < kGroupRows; ++i) cells[i] = CellOf(columns, first_row + i);
}

}  // namespace curator::dp
