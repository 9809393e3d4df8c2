// Counting the rows of a table into the cells of a joint, and projecting a joint's counts to marginals within
// it.
//
// Cells are in the order of the joint's attributes, the last one varying fastest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dp/data/coded_columns.h"
#include "dp/data/narrow_cells.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// The arrays that CountNarrowRows() counts into: neighbouring rows alternate between them. They may be the
// same array.
using CountArrays = std::array<uint32_t*, 4>;

// The instructions that the loop uses: those of every supported machine, or the best of this one (AVX2).
enum class InstructionSet { kEveryMachines, kThisMachines };

// Adds one for each of the rows begin..end-1 to its cell in one of the arrays. There are 1 to
// kMostNarrowColumns columns of one byte each, whose sizes' product is at most 2^16 and which do not overlap
// the arrays. Thread-safe but for the arrays. The instruction set does not change the results.
void CountNarrowRows(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                     const CountArrays& counts, InstructionSet instructions = InstructionSet::kThisMachines);

// How many numbers a JointCounter for a joint of `cells` cells needs.
size_t CounterNumbers(int64_t cells);

// Counts one joint. Not thread-safe; its columns and its numbers must outlive it. It executes the same
// instructions for any two tables with the same number of rows.
class JointCounter {
 public:
  // `cells` is the product of the columns' sizes; `zeros` has CounterNumbers(cells) numbers, all 0.
  JointCounter(std::vector<ColumnView> columns, int64_t cells, std::span<uint32_t> zeros);

  // Counts the rows begin..end-1.
  void CountRows(int64_t begin, int64_t end);

  // Adds what `other`, of the same joint, has counted.
  void Add(const JointCounter& other);

  // The count of each cell. The counter must not be used afterwards.
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

// The counts of the marginal `to`, a subset of `from`, whose counts are `counts`: one for each cell; their
// sum fits 32 bits. Thread-safe: this and the next are pure functions.
std::vector<uint32_t> ProjectCounts(const Domain& domain, const AttributeSet& from,
                                    std::span<const uint32_t> counts, const AttributeSet& to);

// The same for several marginals: result[i] belongs to to[i]. Work that they share is done once: an attribute
// that several of them lack is summed out first, and they are projected from the smaller counts.
std::vector<std::vector<uint32_t>> ProjectToEach(const Domain& domain, const AttributeSet& from,
                                                 std::span<const uint32_t> counts,
                                                 const std::vector<AttributeSet>& to);

}  // namespace curator::dp
