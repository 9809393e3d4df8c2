// Counts of one joint, row by row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/data/coded_columns.h"
#include "dp/data/count_narrow_rows.h"

namespace curator::dp {

// How many numbers a counter for a joint of so many cells needs.
size_t CounterNumbers(int64_t cells);

// Not thread-safe; its columns and its numbers must outlive it. The same instructions for any two tables of
// as many rows.
class JointCounter {
 public:
  // `cells` is the product of the columns' sizes; `zeros` are CounterNumbers(cells).
  JointCounter(std::vector<ColumnView> columns, int64_t cells, std::span<uint32_t> zeros);

  // Counts the rows begin..end-1.
  void CountRows(int64_t begin, int64_t end);

  // Adds what `other`, of the same joint, has counted.
  void Add(const JointCounter& other);

  // Of each cell, the last column's code varying fastest. The counter is done with.
  std::span<const uint32_t> Finish();

 private:
  CountArrays Arrays();
  template <typename Number>
  void CountBlocks(int64_t begin, int64_t end);
  template <typename Number>
  void Increment(std::span<const Number> block);

  std::vector<ColumnView> columns_;
  size_t cells_;
  size_t copies_;
  std::span<uint32_t> counts_;  // rows fit 31 bits (kMaxRows), hence so do counts
};

}  // namespace curator::dp
