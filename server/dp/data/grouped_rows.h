// What is summed over groups of a table's rows: groups, blocks within them and the numbers that rows add, as
// functions of the rows' codes. For private tables see sum_sealed_groups.h.
//
// Everything here is public. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dp/domain/attribute_set.h"

namespace curator::dp {

// Divides the rows of each group by the codes of a column: block b has the codes from b * width on. Rows
// whose code is not below `codes` are in no block.
struct RowBlocks {
  uint32_t column = 0;
  int64_t width = 1;  // at most 2^24
  int64_t codes = 1;  // at most 2^24

  int64_t blocks() const { return (codes + width - 1) / width; }
};

// What a row adds.
struct RowNumbers {
  enum class Kind {
    kSame,    // `first`
    kLinear,  // first + its code
    kSquare,  // (first + its code)^2 / 2^shift, rounded to the nearest integer (a half up), minus `centre`
  };
  Kind kind = Kind::kSame;
  std::optional<uint32_t> column;  // of the codes; for kSame not needed
  int64_t codes = 0;               // with a column: rows whose code is not below this add 0
  int32_t first = 1;               // within 2^20 of 0, as first + codes is
  int32_t shift = 0;               // 0..20
  int32_t centre = 0;
};

// One sum for each group, or for each block of each group: that of block b of group g is number
// g * blocks + b. No sum exceeds 2^62: |number| < 2^31 and there are fewer than 2^31 rows.
struct GroupedRows {
  AttributeSet attributes;
  std::vector<int32_t> group_of_cell;  // of each cell of the attributes' marginal; -1: in no group
  int64_t groups = 1;
  std::optional<RowBlocks> blocks;
  RowNumbers numbers;

  int64_t sums() const { return groups * (blocks ? blocks->blocks() : 1); }
};

}  // namespace curator::dp
