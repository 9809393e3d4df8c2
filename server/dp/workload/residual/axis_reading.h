// How queries over one attribute are answered from measured queries R over it (residual_measurement.h), and
// with what error.
//
// [R; 1^T] is a square matrix whose inverse is [P | c]: R c = 0, 1^T c = 1, P R = I - c 1^T. So a table x is
// P (R x) + c (1^T x), and a query q is answered by (q P) from the measured values and by (q c) from the part
// without this attribute.
//
// For the Helmert contrasts c = 1/n for n codes, and column k of P is the k-th contrast divided by k (k + 1),
// its sum of squares, because contrasts are orthogonal. The variance factor of the k-th is k (k + 1) as well,
// so with F the diagonal matrix of the factors, P F P^T = I - 1 1^T / n: the spread of q is
// |q|^2 - (q 1)^2 / n.
//
// Immutable: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/product_queries.h"

namespace curator::dp {

// The error of a query over one attribute: the answer's variance over several attributes is the sum over the
// measured sets of the noise's parameter times the product of `spread` (attributes in the set) and `level`
// (others).
struct AxisError {
  double spread = 0;          // sum over the measured queries of (q P)_k^2 times the variance factor
  double level = 0;           // (q c)^2
  double largest_spread = 0;  // at least |(q P)_k| for each k
  bool operator==(const AxisError&) const = default;
};

class AxisReading {
 public:
  // The Helmert contrasts are never held as a matrix: linear time and memory. Others take codes^3 steps once,
  // and two matrices of codes x codes doubles. Errors: INVALID_ARGUMENT unless there are two codes or more,
  // kMostAxisWeights weights at most, and codes - 1 queries that are linearly independent together with 1^T:
  // with rows of length 1, the condition number of [R; 1^T] is below 1e10.
  static absl::StatusOr<AxisReading> Create(const AxisQueries& queries, int64_t codes);

  int64_t codes() const { return codes_; }
  bool is_helmert() const { return inverse_.empty(); }
  const std::vector<double>& offset() const { return offset_; }  // c

  // `values` is an array of outer x codes x inner, where along the axis the first codes - 1 places hold
  // answers of the measured queries and the last one the part without the attribute. Makes of them, in place,
  // the table: [P | c] along the axis. Takes a step for each place, or `codes` steps with a matrix.
  void Expand(std::span<double> values, size_t outer, size_t inner) const;

  // Of the query with weight 1 on these codes, 0 <= first <= last < codes(). Takes a few steps. With a
  // matrix, `largest_spread` is the root of the sum of squares.
  AxisError ErrorOf(const CodeInterval& interval) const;
  // Of one with a weight for each code. With a matrix, takes `codes` steps for each weight that is not 0.
  AxisError ErrorOf(std::span<const double> weights) const;

 private:
  AxisReading() = default;

  int64_t codes_ = 0;
  std::vector<double> offset_;
  // For the Helmert contrasts alone: 1/k for k = 1 .. codes, from place 1.
  std::vector<double> reciprocals_;
  // For others alone.
  double variance_factor_ = 1;
  std::vector<double> inverse_;      // [P | c], codes x codes, row-major
  std::vector<double> offset_sums_;  // of the first b codes, for b = 0 .. codes
  // Of Q_a and Q_b, a, b = 0 .. codes, where Q_b is the sum of the first b rows of P.
  std::vector<double> inner_products_;
};

}  // namespace curator::dp
