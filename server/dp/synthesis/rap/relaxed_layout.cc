#include "dp/synthesis/rap/relaxed_layout.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

size_t RoundedUp(size_t value, size_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

absl::StatusOr<RelaxedLayout> RelaxedLayout::Create(const Domain& domain, AttributeSet attributes,
                                                    int64_t rows, size_t most_block_rows) {
  RETURN_IF_ERROR(domain.CheckSet(attributes));
  if (rows < 1) return absl::InvalidArgumentError("a relaxed dataset has at least one row");
  RelaxedLayout layout;
  for (const uint32_t attribute : attributes) {
    const auto size = static_cast<size_t>(domain.attributes()[attribute].size());
    layout.sizes_.push_back(size);
    layout.firsts_.push_back(layout.columns_);
    layout.columns_ += size;
  }
  layout.attributes_ = std::move(attributes);
  layout.rows_ = static_cast<size_t>(rows);
  layout.block_rows_ = RoundedUp(std::min(most_block_rows, layout.rows_), AlignedFloats::kLine);
  layout.blocks_ = (layout.rows_ + layout.block_rows_ - 1) / layout.block_rows_;
  const size_t padded_rows = layout.blocks_ * layout.block_rows_;
  if (layout.columns_ > kMostRelaxedElements / padded_rows) {
    return absl::InvalidArgumentError(absl::StrCat(rows, " relaxed rows of ", layout.columns_,
                                                   " columns exceed the limit of ", kMostRelaxedElements));
  }
  return layout;
}

absl::StatusOr<std::vector<size_t>> RelaxedLayout::PositionsOf(const AttributeSet& set) const {
  std::vector<size_t> positions;
  for (const uint32_t attribute : set) {
    const std::optional<size_t> position = PositionIn(attributes_, attribute);
    if (!position)
      return absl::InvalidArgumentError(absl::StrCat("attribute ", attribute, " is not in the model"));
    positions.push_back(*position);
  }
  return positions;
}

int64_t OneHotColumns(const Domain& domain, const AttributeSet& attributes) {
  int64_t columns = 0;
  for (const uint32_t attribute : attributes) columns += domain.attributes()[attribute].size();
  return columns;
}

MarginalIndex::MarginalIndex(const RelaxedLayout& layout, const std::vector<size_t>& positions) {
  size_t inner = 0;  // of the positions: the largest attribute
  for (size_t i = 0; i < positions.size(); ++i) {
    cells_ *= layout.sizes()[positions[i]];
    if (layout.sizes()[positions[i]] > layout.sizes()[positions[inner]]) inner = i;
  }
  std::vector<size_t> sizes;
  for (const size_t position : positions) sizes.push_back(layout.sizes()[position]);
  const std::vector<size_t> steps = RowMajorStrides(sizes);

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
