// Row-major numbering of a table's cells: the codes of the last attribute vary fastest.
//
// `sizes` are those of the table's attributes, in their order; the number of cells must fit their type. Loops
// that visit every cell in order, or sum a table out axis by axis (DenseMarginal, Marginalization, SumOut(),
// ProjectCounts()), step from cell to cell instead of computing codes, for speed. Thread-safe: pure
// functions.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "dp/domain/attribute_set.h"

namespace curator::dp {

// For each attribute, the distance between cells whose codes of it differ by one.
template <std::ranges::random_access_range Sizes>
std::vector<std::ranges::range_value_t<Sizes>> RowMajorStrides(const Sizes& sizes) {
  std::vector<std::ranges::range_value_t<Sizes>> strides(std::ranges::size(sizes), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

// For each attribute of `set`, whose attributes have these sizes, the stride of its codes in the table of
// `subset`, which lies in `set`; 0 for an attribute that is not in the subset.
inline std::vector<int64_t> StridesWithin(const AttributeSet& set, std::span<const int64_t> sizes,
                                          const AttributeSet& subset) {
  std::vector<int64_t> strides(set.size(), 0);
  int64_t stride = 1;
  for (size_t i = set.size(); i-- > 0;) {
    if (!Contains(subset, set[i])) continue;
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

// The codes of a cell, one for each attribute.
template <std::integral Size, std::integral Cell>
void CodesOfCell(const std::vector<Size>& sizes, Cell cell, std::span<uint32_t> codes) {
  for (size_t i = codes.size(); i-- > 0;) {
    const auto size = static_cast<Cell>(sizes[i]);
    codes[i] = static_cast<uint32_t>(cell % size);
    cell /= size;
  }
}

// The cell of these codes.
template <std::integral Size>
Size CellOfCodes(const std::vector<Size>& sizes, std::span<const uint32_t> codes) {
  Size cell = 0;
  for (size_t i = 0; i < codes.size(); ++i) cell = cell * sizes[i] + static_cast<Size>(codes[i]);
  return cell;
}

}  // namespace curator::dp
