// How queries over one attribute are answered from measured queries R over it (residual_measurement.h), and
// with what error.
//
// [R; 1^T] is a square matrix whose inverse is [P | c]: R c = 0, 1^T c = 1, P R = I - c 1^T. So a table x is
// P (R x) + c (1^T x), and a query q is answered by (q P) from the measured values and by (q c) from the part
// without this attribute.
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
  double largest_spread = 0;  // max over k of |(q P)_k|
  bool operator==(const AxisError&) const = default;
};

class AxisReading {
 public:
  // The Helmert contrasts are never held as a matrix: linear time and memory. Errors: INVALID_ARGUMENT unless
  // there are codes - 1 queries that are linearly independent together with 1^T.
  static absl::StatusOr<AxisReading> Create(const AxisQueries& queries, int64_t codes);

  int64_t codes() const { return codes_; }
  bool is_helmert() const { return is_helmert_; }
  const std::vector<double>& offset() const { return offset_; }  // c

  // `values` is an array of outer x codes x inner, where along the axis the first codes - 1 places hold
  // answers of the measured queries and the last one the part without the attribute. Makes of them, in place,
  // the table: [P | c] along the axis.
  void Expand(std::span<double> values, size_t outer, size_t inner) const;

  // Of the query with weight 1 on these codes.
  AxisError ErrorOf(const CodeInterval& codes) const;
  // Of one with any weights.
  AxisError ErrorOf(std::span<const double> weights) const;

 private:
  AxisReading() = default;
  int64_t codes_ = 0;
  bool is_helmert_ = true;
  std::vector<double> offset_;
  std::vector<double> from_values_;  // P, codes x (codes - 1); empty for the Helmert contrasts
};

}  // namespace curator::dp
