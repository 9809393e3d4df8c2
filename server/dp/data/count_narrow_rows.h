// The fastest loop of counting: few columns of one byte each.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dp/data/coded_columns.h"

namespace curator::dp {

inline constexpr size_t kMostNarrowColumns = 6;

// Where a row's cell is counted; neighbouring rows into arrays by turns, which may be the same.
using CountArrays = std::array<uint32_t*, 4>;

// What the loop is compiled for: what every supported machine has, or the best of this one (AVX2).
enum class InstructionSet { kEveryMachines, kThisMachines };

// Adds one for each of the rows begin..end-1 to its cell in one of the arrays. There are 1 to
// kMostNarrowColumns columns of one byte each, whose sizes' product is at most 2^16 and which do not overlap
// the arrays. Thread-safe but for the arrays. The instruction set makes no difference to the results.
void CountNarrowRows(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                     const CountArrays& counts, InstructionSet instructions = InstructionSet::kThisMachines);

}  // namespace curator::dp
