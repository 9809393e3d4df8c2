#include "dp/data/count_narrow_rows.h"

#include "base/processor.h"

namespace curator::dp {
namespace {

// Everything here is written once and compiled for each instruction set: inlined functions take over the
// target of their caller.

// The numbers of one group's cells are computed while those of the group before it are counted: the one keeps
// the vector units busy, the other the memory units, and the processor overlaps them.
constexpr size_t kGroupRows = 64;

template <size_t kColumns>
struct NarrowColumns {
  std::array<const uint8_t*, kColumns> codes;
  std::array<uint16_t, kColumns> sizes;
};

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

[[gnu::always_inline]] inline void CountGroup(const uint16_t* __restrict cells, uint32_t* first,
                                              uint32_t* second, uint32_t* third, uint32_t* fourth) {
#pragma GCC unroll 4
  for (size_t i = 0; i < kGroupRows; i += 4) {
    ++first[cells[i]];
    ++second[cells[i + 1]];
    ++third[cells[i + 2]];
    ++fourth[cells[i + 3]];
  }
}

template <size_t kColumns>
[[gnu::always_inline]] inline void Count(std::span<const ColumnView> views, int64_t begin, int64_t end,
                                         const CountArrays& counts) {
  NarrowColumns<kColumns> columns;
  for (size_t i = 0; i < kColumns; ++i) {
    columns.codes[i] = reinterpret_cast<const uint8_t*>(views[i].codes + begin);
    columns.sizes[i] = static_cast<uint16_t>(views[i].size);
  }
  const auto [first, second, third, fourth] = counts;
  const size_t rows = static_cast<size_t>(end - begin);
  const size_t groups = rows / kGroupRows;
  alignas(64) uint16_t cells[2][kGroupRows];
  if (groups > 0) CellsOfGroup(columns, 0, cells[0]);
  for (size_t group = 0; group < groups; ++group) {
    if (group + 1 < groups) CellsOfGroup(columns, (group + 1) * kGroupRows, cells[(group + 1) % 2]);
    CountGroup(cells[group % 2], first, second, third, fourth);
  }
  for (size_t row = groups * kGroupRows; row < rows; ++row) ++first[CellOf(columns, row)];
}

[[gnu::always_inline]] inline void CountAny(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                                            const CountArrays& counts) {
  switch (columns.size()) {
    case 1:
      return Count<1>(columns, begin, end, counts);
    case 2:
      return Count<2>(columns, begin, end, counts);
    case 3:
      return Count<3>(columns, begin, end, counts);
    case 4:
      return Count<4>(columns, begin, end, counts);
    case 5:
      return Count<5>(columns, begin, end, counts);
    case kMostNarrowColumns:
      return Count<6>(columns, begin, end, counts);
    default:
      break;
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void CountWithAvx2(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                                           const CountArrays& counts) {
  CountAny(columns, begin, end, counts);
}
#endif

}  // namespace

void CountNarrowRows(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                     const CountArrays& counts, InstructionSet instructions) {
#if defined(__x86_64__)
  if (instructions == InstructionSet::kThisMachines && MachineHasAvx2())
    return CountWithAvx2(columns, begin, end, counts);
#endif
  CountAny(columns, begin, end, counts);
}

}  // namespace curator::dp
