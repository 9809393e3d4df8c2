// Sums over boxes of cells by summed-area tables, so that the time for many overlapping boxes depends on
// their number and not on the cells that they hold.
//
// Cells are in row-major order: the last side varies fastest. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace curator::dp {

// The codes first..last of one attribute, both included.
struct CodeInterval {
  uint32_t first = 0;
  uint32_t last = 0;
  bool operator==(const CodeInterval&) const = default;
};

// For each box the sum of the cells inside. `sides` holds one interval for each of `sizes`, box after box,
// all of them within the sizes; `cells` has their product, below 2^31. Exact for integers when the true sums
// fit.
std::vector<int64_t> BoxSums(std::span<const int64_t> sizes, std::span<const CodeInterval> sides,
                             std::span<const int64_t> cells);
std::vector<double> BoxSums(std::span<const int64_t> sizes, std::span<const CodeInterval> sides,
                            std::span<const double> cells);

// For each cell, how many of the boxes it lies in.
std::vector<int64_t> BoxCover(std::span<const int64_t> sizes, std::span<const CodeInterval> sides);

// The cells that BoxSums() and BoxCover() read or write for one box: the fewer of its own and the corners
// that a summed-area table needs. Saturates at 2^62.
int64_t BoxSteps(std::span<const CodeInterval> box);

// The number of cells of one box. Saturates at 2^62.
int64_t BoxCells(std::span<const CodeInterval> box);

}  // namespace curator::dp
