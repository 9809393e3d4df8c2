// The loops that a projection spends its time in, compiled for the instruction sets that machines have.
//
// All of them give the same bits whatever the instruction set: elements are computed by themselves and added
// in the order that is written down here, sums over rows run in 16 lanes on every machine, and nothing is
// fused. Pointers point at a column within a block (relaxed_layout.h), columns follow each other at a
// distance of `rows`, which is a multiple of 16; all are aligned to 64 bytes.
//
// Thread-safe: pure functions of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace curator::dp {

// Products of columns, or of their complements, that all have the same stem of some columns, and as many
// others. A column is given by the offset of its first row in the block.
inline constexpr size_t kMostFactors = 16;
struct ProductRun {
  std::span<const uint32_t> stem;     // may be empty
  size_t others = 1;                  // beside the stem; with it 1..kMostFactors
  size_t products = 0;                // how many there are
  const uint32_t* offsets = nullptr;  // others of them for each product
  bool complemented = false;          // of 1 - x instead of x
};

// A marginal as its largest attribute ("inner") and all others ("outer"). The cell of outer tuple t and inner
// code c is outer_cells[t] + c * inner_step; the columns of tuple t are outer_columns[t * outer] and
// following.
struct MarginalTable {
  size_t inner_first = 0;  // column of code 0
  size_t inner_size = 0;
  size_t inner_step = 0;
  size_t outer = 0;  // number of outer attributes, 0..kMostFactors - 1
  size_t outer_tuples = 0;
  const uint32_t* outer_columns = nullptr;
  const uint32_t* outer_cells = nullptr;
};

struct AdamStep {
  float rate = 0;          // bias corrections included
  float first_decay = 0;   // beta 1
  float second_decay = 0;  // beta 2
  float least_root = 0;    // added to the root
  float bound = 0;         // parameters stay within -bound..bound
};

struct ProjectionLoops {
  const char* name;

  // Distributions of one attribute of `size` columns from its parameters, row by row; zero where `mask` is.
  void (*softmax)(const float* parameters, const float* mask, size_t size, size_t rows, float* shares);
  // The point of the simplex nearest to the parameters (Martins, Astudillo 2016).
  void (*sparsemax)(const float* parameters, const float* mask, size_t size, size_t rows, float* shares);

  // Turns the gradient by the shares into the gradient by the parameters.
  void (*softmax_gradient)(const float* shares, size_t size, size_t rows, float* gradient);
  void (*sparsemax_gradient)(const float* shares, size_t size, size_t rows, float* gradient);

  // Adds each product's sum over the first 16 rows to a sum of its own; the runs' products follow each other.
  void (*add_products)(const float* shares, const float* mask, std::span<const ProductRun> runs,
                       double* sums);
  // Adds the derivative of each product there, times its slope. No product has a column twice.
  void (*add_product_gradients)(const float* shares, const float* mask, std::span<const ProductRun> runs,
                                const float* slopes, float* gradient);

  // The same for every cell of a marginal. `work` holds kMarginalWork columns and two floats for each
  // inner code.
  void (*sum_marginal)(const float* shares, const float* mask, size_t rows, const MarginalTable& table,
                       float* work, double* cells);
  void (*add_marginal_gradient)(const float* shares, const float* mask, size_t rows,
                                const MarginalTable& table, const float* slopes, float* work,
                                float* gradient);

  // One step of Adam (Kingma, Ba 2015) on `count` parameters, a multiple of 16.
  void (*adam)(const AdamStep& step, const float* gradient, size_t count, float* first, float* second,
               float* parameters);
};

inline constexpr size_t kMarginalWork = 4;

// The loops that this machine can run, the fastest first; the last one runs everywhere.
std::span<const ProjectionLoops* const> AvailableProjectionLoops();

// While it lives, subnormal numbers, which are slow, are flushed to zero in the calling thread.
class FlushToZero {
 public:
  FlushToZero();
  ~FlushToZero();
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  unsigned before_ = 0;
};

}  // namespace curator::dp
