// Dense tables: one weight for every cell of the product of some attributes, in row-major order; their
// marginals; and the loops over cells that synthesis spends its time in.
//
// Thread-safe: immutable values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

class DenseLayout {
 public:
  // The product of `attributes` (rising indices into `domain`, not empty). Errors: INVALID_ARGUMENT
  // ("workload"), with the numbers, when it has more than `max_cells` cells.
  static absl::StatusOr<DenseLayout> Create(const Domain& domain, AttributeSet attributes, int64_t max_cells);

  const AttributeSet& attributes() const { return attributes_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }  // of each attribute
  int64_t cells() const { return cells_; }

  // The table is worked on in blocks: the innermost attributes from `first_inner` on make up one block.
  size_t first_inner() const { return first_inner_; }
  int64_t block_cells() const { return block_cells_; }
  int64_t blocks() const { return cells_ / block_cells_; }

  // Where each attribute of `set` is among attributes(). INVALID_ARGUMENT when one is not.
  absl::StatusOr<std::vector<size_t>> PositionsOf(const AttributeSet& set) const;

 private:
  DenseLayout() = default;

  AttributeSet attributes_;
  std::vector<int64_t> sizes_;
  int64_t cells_ = 1;
  size_t first_inner_ = 0;
  int64_t block_cells_ = 1;
};

// One marginal of a dense table. The cells of a marginal are row-major in the order of its attributes.
class DenseMarginal {
 public:
  // `set` lies within layout.attributes(); the empty set has one cell, the total. `layout` must outlive it.
  // Errors: INVALID_ARGUMENT for another set; CANCELLED as in Pacer.
  static absl::StatusOr<DenseMarginal> Create(const DenseLayout& layout, AttributeSet set, Pacer& pacer);

  // The steps that Create() and Sum() of the marginal take, at most; attributes of `set` that the layout does
  // not cover count as absent.
  static int64_t StepsToSum(const DenseLayout& layout, const AttributeSet& set);

  const AttributeSet& set() const { return set_; }
  int64_t cells() const { return cells_; }

  // The sums of the weights in each cell of the marginal. CANCELLED as in Pacer.
  absl::StatusOr<std::vector<double>> Sum(std::span<const float> weights, Pacer& pacer) const;

  // The largest of the numbers, one for each cell of the layout, in each cell of the marginal. CANCELLED as
  // in Pacer.
  absl::StatusOr<std::vector<double>> Largest(std::span<const double> numbers, Pacer& pacer) const;

  // Multiplies each weight by the factor of its cell. CANCELLED as in Pacer.
  absl::Status Scale(std::span<const float> factors, std::span<float> weights, Pacer& pacer) const;

  // Adds each cell's value to `logarithms`, which belong to whole blocks from `first_block` on. CANCELLED as
  // in Pacer.
  absl::Status AddTo(std::span<const double> values, int64_t first_block, std::span<double> logarithms,
                     Pacer& pacer) const;

 private:
  explicit DenseMarginal(const DenseLayout& layout) : layout_(&layout) {}

  // Whether one row of a block's cells for each outer cell is small enough to be laid out whole.
  bool FitsExpanded() const;

  int64_t outer_cells() const { return cells_ / inner_cells_; }

  // The values of a block's cells, for each outer cell.
  absl::StatusOr<std::vector<float>> Expanded(std::span<const float> values, Pacer& pacer) const;

  // The marginal's cell of cell i of block b is outer_cell_[b] * inner_cells_ + inner_index_[i].
  const DenseLayout* layout_;
  AttributeSet set_;
  int64_t cells_ = 1;
  int64_t inner_cells_ = 1;
  std::vector<uint32_t> outer_cell_;
  std::vector<uint32_t> inner_index_;
};

// Bytes of the index of one marginal of a dense table of `cells` cells, at most, where no attribute has more
// than `largest` values.
int64_t IndexBytes(int64_t cells, int64_t largest);

// Loops over blocks of cells, compiled for the instruction sets that machines have. Every element is computed
// by itself and added in a fixed order, so the results are the same whatever the width of the machine's
// vectors. Spans of one call have equal lengths.

// sums[i] += values[i]
void AddBlock(std::span<const float> values, std::span<double> sums);
void AddBlock(std::span<const double> values, std::span<double> sums);

// weights[i] *= factors[i]; what falls below 1e-30 becomes 0 (numbers near the smallest floats are slow).
void MultiplyBlock(std::span<const float> factors, std::span<float> weights);

// weights[i] *= factors[index[i]]
void MultiplyGathered(std::span<const float> factors, std::span<const uint32_t> index,
                      std::span<float> weights);

// weights[i] = base * e^logarithms[i], the logarithm bounded to [-60, 60]; what falls below 1e-30 becomes 0.
void ExpBlock(double base, std::span<const double> logarithms, std::span<float> weights);

// Many marginals of one dense table at once, far cheaper than one by one: attributes are summed out one after
// another, and marginals that have summed out the same ones so far share the work.
//
// result[i] are the cells of sets[i], row-major. Errors: INVALID_ARGUMENT for a set that the layout does not
// cover; CANCELLED as in Pacer.
absl::StatusOr<std::vector<std::vector<double>>> AllMarginals(const DenseLayout& layout,
                                                              std::span<const float> weights,
                                                              std::span<const AttributeSet> sets,
                                                              Pacer& pacer);

}  // namespace curator::dp
