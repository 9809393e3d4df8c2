// Marginals of a relaxed dataset's shares.
//
// Thread-safe: pure functions. Sums over the rows of a block are floats, sums over blocks doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dp/synthesis/rap/aligned_floats.h"
#include "dp/synthesis/rap/projection_loops.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {

// Where the columns and cells of a marginal lie: what the loops need of it.
class MarginalIndex {
 public:
  // `positions` rise and are within the layout; at most kMostFactors of them, at least one; fewer than 2^32
  // cells.
  MarginalIndex(const RelaxedLayout& layout, const std::vector<size_t>& positions);

  // Valid while this lives and is not moved from.
  MarginalTable table() const;
  size_t cells() const { return cells_; }
  size_t inner_size() const { return shape_.inner_size; }

 private:
  MarginalTable shape_;
  size_t cells_ = 1;
  std::vector<uint32_t> outer_columns_;
  std::vector<uint32_t> outer_cells_;
};

// 1 for every row of a block that is not filling, else 0; for all blocks, one after another.
AlignedFloats RowMask(const RelaxedLayout& layout);

// Room for the loops' work on marginals of at most `inner_size` inner codes.
AlignedFloats MarginalWork(const RelaxedLayout& layout, size_t inner_size);

// The sum over all rows of each cell; they add up to the number of rows.
std::vector<double> SumsOver(const RelaxedLayout& layout, const AlignedFloats& shares,
                             const MarginalIndex& index, const AlignedFloats& mask, AlignedFloats& work,
                             const ProjectionLoops& loops);

}  // namespace curator::dp
