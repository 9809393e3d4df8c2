#include "dp/synthesis/dense/dense_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/dense/block_loops.h"

namespace curator::dp {
namespace {

// Blocks at least this long make the vector loops worth their overhead.
constexpr int64_t kLeastBlock = 256;
// Rows laid out whole stay within the second-level cache, about.
constexpr int64_t kMostExpandedCells = int64_t{1} << 19;

// For every cell of the product of `sizes`, row-major, the cell of the marginal that keeps the marked
// attributes.
absl::StatusOr<std::vector<uint32_t>> KeptCells(std::span<const int64_t> sizes, std::span<const uint8_t> kept,
                                                Pacer& pacer) {
  std::vector<uint32_t> cells = {0};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto size = static_cast<size_t>(sizes[i]);
    std::vector<uint32_t> longer(cells.size() * size);
    RETURN_IF_ERROR(pacer.InPieces(longer.size(), [&](size_t start, size_t length) {
      for (size_t cell = start; cell < start + length; ++cell) {
        const size_t prefix = cells[cell / size];
        longer[cell] = static_cast<uint32_t>(kept[i] != 0 ? prefix * size + cell % size : prefix);
      }
    }));
    cells = std::move(longer);
  }
  return cells;
}

}  // namespace

absl::StatusOr<DenseLayout> DenseLayout::Create(const Domain& domain, AttributeSet attributes,
                                                int64_t max_cells) {
  const std::optional<int64_t> cells = domain.CellCount(attributes);
  if (!cells || *cells > max_cells) {
    return InvalidField(
        "workload", absl::StrCat("spans a domain of ", cells ? absl::StrCat(*cells) : "more than 2^62",
                                 " cells (", NamesOf(domain, attributes),
                                 "); this method holds every cell in memory and takes at most ", max_cells));
  }
  DenseLayout layout;
  for (const uint32_t attribute : attributes) layout.sizes_.push_back(domain.attributes()[attribute].size());
  layout.attributes_ = std::move(attributes);
  layout.cells_ = *cells;
  layout.first_inner_ = layout.sizes_.size();
  while (layout.first_inner_ > 0 && layout.block_cells_ < kLeastBlock) {
    layout.block_cells_ *= layout.sizes_[--layout.first_inner_];
  }
  return layout;
}

absl::StatusOr<std::vector<size_t>> DenseLayout::PositionsOf(const AttributeSet& set) const {
  std::vector<size_t> positions;
  for (const uint32_t attribute : set) {
    const auto found = std::lower_bound(attributes_.begin(), attributes_.end(), attribute);
    if (found == attributes_.end() || *found != attribute) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute ", attribute, " is not covered by this model"));
    }
    positions.push_back(static_cast<size_t>(found - attributes_.begin()));
  }
  return positions;
}

absl::StatusOr<DenseMarginal> DenseMarginal::Create(const DenseLayout& layout, AttributeSet set,
                                                    Pacer& pacer) {
  ASSIGN_OR_RETURN(const std::vector<size_t> positions, layout.PositionsOf(set));
  std::vector<uint8_t> kept(layout.sizes().size());
  DenseMarginal marginal(layout);
  for (const size_t position : positions) {
    kept[position] = 1;
    marginal.cells_ *= layout.sizes()[position];
    if (position >= layout.first_inner()) marginal.inner_cells_ *= layout.sizes()[position];
  }
  const std::span<const int64_t> sizes = layout.sizes();
  const std::span<const uint8_t> marks = kept;
  const size_t outer = layout.first_inner();
  ASSIGN_OR_RETURN(marginal.outer_cell_, KeptCells(sizes.first(outer), marks.first(outer), pacer));
  ASSIGN_OR_RETURN(marginal.inner_index_, KeptCells(sizes.subspan(outer), marks.subspan(outer), pacer));
  marginal.set_ = std::move(set);
  return marginal;
}

bool DenseMarginal::FitsExpanded() const {
  return outer_cells() * layout_->block_cells() <= std::min(kMostExpandedCells, layout_->cells() / 2);
}

absl::StatusOr<std::vector<double>> DenseMarginal::Sum(std::span<const float> weights, Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  std::vector<double> sums(static_cast<size_t>(cells_));
  const auto fold = [&](size_t outer, const auto* values) {
    return pacer.InPieces(block, [&](size_t start, size_t length) {
      double* const row = sums.data() + outer * inner;
      for (size_t i = start; i < start + length; ++i) row[inner_index_[i]] += static_cast<double>(values[i]);
    });
  };
  if (!FitsExpanded()) {
    for (size_t b = 0; b < outer_cell_.size(); ++b)
      RETURN_IF_ERROR(fold(outer_cell_[b], weights.data() + b * block));
    return sums;
  }
  // Blocks of one outer cell are added up first, as vectors, and folded once.
  std::vector<double> rows(static_cast<size_t>(outer_cells()) * block);
  for (size_t b = 0; b < outer_cell_.size(); ++b) {
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      AddBlock(weights.subspan(b * block + start, length),
               std::span(rows).subspan(outer_cell_[b] * block + start, length));
    }));
  }
  for (size_t outer = 0; outer * block < rows.size(); ++outer)
    RETURN_IF_ERROR(fold(outer, rows.data() + outer * block));
  return sums;
}

absl::Status DenseMarginal::Scale(std::span<const float> factors, std::span<float> weights,
                                  Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  if (!FitsExpanded()) {
    const std::span<const uint32_t> index = inner_index_;
    for (size_t b = 0; b < outer_cell_.size(); ++b) {
      RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
        MultiplyGathered(factors.subspan(outer_cell_[b] * inner, inner), index.subspan(start, length),
                         weights.subspan(b * block + start, length));
      }));
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<float> rows, Expanded(factors, pacer));
  const std::span<const float> all_rows = rows;
  for (size_t b = 0; b < outer_cell_.size(); ++b) {
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      MultiplyBlock(all_rows.subspan(outer_cell_[b] * block + start, length),
                    weights.subspan(b * block + start, length));
    }));
  }
  return absl::OkStatus();
}

absl::Status DenseMarginal::AddTo(std::span<const double> values, int64_t first_block,
                                  std::span<double> logarithms, Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  for (size_t done = 0; done < logarithms.size(); done += block) {
    const double* const row =
        values.data() + outer_cell_[static_cast<size_t>(first_block) + done / block] * inner;
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      for (size_t i = start; i < start + length; ++i) logarithms[done + i] += row[inner_index_[i]];
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> DenseMarginal::Expanded(std::span<const float> values,
                                                           Pacer& pacer) const {
  const auto block = static_cast<size_t>(layout_->block_cells());
  const auto inner = static_cast<size_t>(inner_cells_);
  std::vector<float> rows(static_cast<size_t>(outer_cells()) * block);
  for (size_t outer = 0; outer * block < rows.size(); ++outer) {
    RETURN_IF_ERROR(pacer.InPieces(block, [&](size_t start, size_t length) {
      for (size_t i = start; i < start + length; ++i) {
        rows[outer * block + i] = values[outer * inner + inner_index_[i]];
      }
    }));
  }
  return rows;
}

}  // namespace curator::dp
