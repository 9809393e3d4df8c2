// One axis of tables that were measured by residuals (axis_reading.h), as the part without its attribute and
// the rest: x = c (1^T x) + r, c the offset, r = (I - c 1^T) x.
//
// r was measured with noise of the covariance Q = P F P^T, times the parameters of the sets: I - 1 1^T / n
// for Helmert contrasts on n codes, never held as a matrix. Along the axis the first place holds the part
// without the attribute, and the others r without its first number, which follows: it sums to 0.
//
// Immutable: thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dp/workload/residual/axis_reading.h"

namespace curator::dp {

class AxisParts {
 public:
  // `variance_factor` is that of the measured queries where they are no Helmert contrasts. Takes codes^3
  // steps for these, and a matrix of codes x codes doubles.
  AxisParts(const AxisReading& reading, double variance_factor);

  size_t codes() const { return offset_.size(); }

  // All in place, on arrays of outer x codes x inner. From tables to parts and back, a few steps a cell.
  void Split(std::span<double> values, size_t outer, size_t inner) const;
  void Join(std::span<double> values, size_t outer, size_t inner) const;
  // To (c^T x, Q x): how multipliers of cells move the parts. Takes `codes` steps a cell with a matrix.
  void Spread(std::span<double> values, size_t outer, size_t inner) const;

  // The largest eigenvalue of Q; c^T c; and the cosine of the angle between c and the tables that sum to 0.
  double largest_spread() const { return largest_spread_; }
  double level() const { return level_; }
  double overlap() const { return overlap_; }

 private:
  // Split(), and the part without the attribute times `factor`.
  void SplitTimes(double factor, std::span<double> values, size_t outer, size_t inner) const;

  std::vector<double> offset_;
  std::vector<double> spreading_;  // not of Helmert contrasts: c^T, then the rows of Q from the second on
  double largest_spread_ = 1;
  double level_ = 0;
  double overlap_ = 0;
};

}  // namespace curator::dp
