// The memory layout of a relaxed dataset: rows over one-hot columns of some attributes of a domain; and the
// marginals of its shares.
//
// A relaxed row has one column for each value of each attribute. Rows are cut into blocks; within a block
// each column's numbers lie side by side: element (row, column) is at
//   (row / block_rows) * columns * block_rows + column * block_rows + row % block_rows.
// A block's rows are a multiple of 16 (one cache line); the last block is filled up with rows that hold
// zeros.
//
// Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/rap/projection_loops.h"

namespace curator::dp {

// Floats aligned to cache lines, for loops that load whole vectors. A value type; not thread-safe while
// written to.
class AlignedFloats {
 public:
  static constexpr size_t kLine = 16;  // floats in a cache line

  AlignedFloats() = default;

  // `size` zeros, padded to the end of the last line.
  explicit AlignedFloats(size_t size) : size_(size), lines_((size + kLine - 1) / kLine) {}

  size_t size() const { return size_; }
  float* data() { return reinterpret_cast<float*>(lines_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(lines_.data()); }
  float& operator[](size_t i) { return data()[i]; }
  float operator[](size_t i) const { return data()[i]; }

 private:
  struct alignas(kLine * sizeof(float)) Line {
    float floats[kLine] = {};
  };

  size_t size_ = 0;
  std::vector<Line> lines_;
};

// Rows of a block where whole marginals are computed: long sums, and at least two blocks, for two cores, at
// the usual 256 rows.
inline constexpr size_t kMarginalBlockRows = 128;

// Rows of a block where single cells are computed: columns are read in any order, so all shares and slopes
// of a block should fit a core's second-level cache, the frequent ones its first-level cache.
inline constexpr size_t kCellBlockRows = 16;

class RelaxedLayout {
 public:
  // `attributes` must be a set of the domain's, `rows` at least 1. A block has at most `most_block_rows`
  // rows, rounded up to 16. Errors: INVALID_ARGUMENT otherwise, or when the elements exceed
  // kMostRelaxedElements.
  static absl::StatusOr<RelaxedLayout> Create(const Domain& domain, AttributeSet attributes, int64_t rows,
                                              size_t most_block_rows = kMarginalBlockRows);

  const AttributeSet& attributes() const { return attributes_; }
  const std::vector<size_t>& sizes() const { return sizes_; }           // of the attributes
  const std::vector<size_t>& first_columns() const { return firsts_; }  // of the attributes
  size_t columns() const { return columns_; }
  size_t rows() const { return rows_; }
  size_t block_rows() const { return block_rows_; }
  size_t blocks() const { return blocks_; }

  // Padding rows included.
  size_t block_elements() const { return columns_ * block_rows_; }
  size_t elements() const { return blocks_ * block_elements(); }

  size_t ElementAt(size_t row, size_t column) const {
    return row / block_rows_ * block_elements() + column * block_rows_ + row % block_rows_;
  }

  // Positions in attributes() of the given set. Errors: INVALID_ARGUMENT unless all are there.
  absl::StatusOr<std::vector<size_t>> PositionsOf(const AttributeSet& set) const;

 private:
  RelaxedLayout() = default;

  AttributeSet attributes_;
  std::vector<size_t> sizes_;
  std::vector<size_t> firsts_;
  size_t columns_ = 0;
  size_t rows_ = 0;
  size_t block_rows_ = 0;
  size_t blocks_ = 0;
};

inline constexpr size_t kMostRelaxedElements = size_t{1} << 26;
// The most rows of a request and of a stored model.
inline constexpr int64_t kMostRelaxedRows = 20'000;

// The number of one-hot columns of these attributes.
int64_t OneHotColumns(const Domain& domain, const AttributeSet& attributes);

// The columns and cells of a marginal, as the loops take them.
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

// 1 for every row, 0 for the padding rows of the last block; for all blocks, one after another.
AlignedFloats RowMask(const RelaxedLayout& layout);

// Scratch memory of the loops for marginals of at most `inner_size` inner codes.
AlignedFloats MarginalWork(const RelaxedLayout& layout, size_t inner_size);

// The sum over all rows of each cell; they add up to the number of rows. Sums over the rows of a block are
// floats, sums over blocks doubles.
std::vector<double> SumsOver(const RelaxedLayout& layout, const AlignedFloats& shares,
                             const MarginalIndex& index, const AlignedFloats& mask, AlignedFloats& work,
                             const ProjectionLoops& loops);

}  // namespace curator::dp
