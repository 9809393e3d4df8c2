// Where the numbers of a relaxed dataset lie: rows over one-hot columns, some attributes of a domain.
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

// Floats that start at a cache line, for loops that load whole vectors of them.
//
// A value type: copies copy. Not thread-safe while written to.

class AlignedFloats {
 public:
  static constexpr size_t kLine = 16;  // floats in a cache line

  AlignedFloats() = default;

  // `size` zeros, and room for more up to the end of the last line.
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

// Rows of a block whose whole marginals are computed: sums over many rows at once, and at least two blocks,
// for two cores, at the usual 256 rows.
inline constexpr size_t kMarginalBlockRows = 128;

// Rows of a block where single cells are computed: any column may be the next one, so all shares and slopes
// of a block should stay in a core's second cache, those that are used often in the first.
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

  // Filling rows included.
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
inline constexpr int64_t kMostRelaxedRows =
    20'000;  // that a request may ask for, and a stored model may have

// The number of one-hot columns of these attributes.
int64_t OneHotColumns(const Domain& domain, const AttributeSet& attributes);

// Marginals of a relaxed dataset's shares.
//
// Thread-safe: pure functions. Sums over the rows of a block are floats, sums over blocks doubles.

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
