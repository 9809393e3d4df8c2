#include "dp/synthesis/rap/relaxed_answers.h"

#include <algorithm>

namespace curator::dp {

MarginalIndex::MarginalIndex(const RelaxedLayout& layout, const std::vector<size_t>& positions) {
  size_t inner = 0;  // of the positions: the largest attribute
  for (size_t i = 0; i < positions.size(); ++i) {
    cells_ *= layout.sizes()[positions[i]];
    if (layout.sizes()[positions[i]] > layout.sizes()[positions[inner]]) inner = i;
  }
  std::vector<size_t> steps(positions.size(), 1);  // between cells of neighbouring codes
  for (size_t i = positions.size() - 1; i-- > 0;) steps[i] = steps[i + 1] * layout.sizes()[positions[i + 1]];

  shape_.inner_first = layout.first_columns()[positions[inner]];
  shape_.inner_size = layout.sizes()[positions[inner]];
  shape_.inner_step = steps[inner];
  shape_.outer = positions.size() - 1;
  shape_.outer_tuples = cells_ / shape_.inner_size;
  outer_columns_.reserve(shape_.outer_tuples * shape_.outer);
  outer_cells_.reserve(shape_.outer_tuples);
  std::vector<size_t> codes(positions.size(), 0);
  for (size_t tuple = 0; tuple < shape_.outer_tuples; ++tuple) {
    size_t cell = 0;
    for (size_t i = 0; i < positions.size(); ++i) {
      if (i == inner) continue;
      outer_columns_.push_back(static_cast<uint32_t>(layout.first_columns()[positions[i]] + codes[i]));
      cell += codes[i] * steps[i];
    }
    outer_cells_.push_back(static_cast<uint32_t>(cell));
    for (size_t i = positions.size(); i-- > 0;) {
      if (i == inner) continue;
      if (++codes[i] < layout.sizes()[positions[i]]) break;
      codes[i] = 0;
    }
  }
}

MarginalTable MarginalIndex::table() const {
  MarginalTable table = shape_;
  table.outer_columns = outer_columns_.data();
  table.outer_cells = outer_cells_.data();
  return table;
}

AlignedFloats RowMask(const RelaxedLayout& layout) {
  AlignedFloats mask(layout.blocks() * layout.block_rows());
  for (size_t row = 0; row < layout.rows(); ++row) mask[row] = 1;
  return mask;
}

AlignedFloats MarginalWork(const RelaxedLayout& layout, size_t inner_size) {
  return AlignedFloats(kMarginalWork * layout.block_rows() + 2 * inner_size);
}

std::vector<double> SumsOver(const RelaxedLayout& layout, const AlignedFloats& shares,
                             const MarginalIndex& index, const AlignedFloats& mask, AlignedFloats& work,
                             const ProjectionLoops& loops) {
  std::vector<double> cells(index.cells());
  for (size_t block = 0; block < layout.blocks(); ++block) {
    loops.sum_marginal(shares.data() + block * layout.block_elements(),
                       mask.data() + block * layout.block_rows(), layout.block_rows(), index.table(),
                       work.data(), cells.data());
  }
  return cells;
}

}  // namespace curator::dp
