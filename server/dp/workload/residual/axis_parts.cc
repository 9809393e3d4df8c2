#include "dp/workload/residual/axis_parts.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

#include "dp/workload/residual/multiply_along.h"

namespace curator::dp {
namespace {

// Calls `change(first, distance, width)` for lines side by side: their first numbers, and the distance from
// the numbers of one code to those of the next.
template <typename Change>
void ForLines(std::span<double> values, size_t codes, size_t outer, size_t inner, const Change& change) {
  for (size_t place = 0; place < outer; ++place) {
    for (size_t from = 0; from < inner; from += kLinesTogether)
      change(values.data() + place * codes * inner + from, inner, std::min(kLinesTogether, inner - from));
  }
}

// In four parts, which a processor adds at once.
double SumOf(std::span<const double> line) {
  std::array<double, 4> sums = {};
  size_t i = 0;
  for (; i + 4 <= line.size(); i += 4)
    for (size_t k = 0; k < 4; ++k) sums[k] += line[i + k];
  for (; i < line.size(); ++i) sums[0] += line[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

using LineSums = std::array<double, kLinesTogether>;

void AddLines(const double* first, size_t distance, size_t width, size_t from, size_t codes, LineSums& sums) {
  std::fill_n(sums.begin(), width, 0.0);
  for (size_t code = from; code < codes; ++code) {
    const double* row = first + code * distance;
    for (size_t i = 0; i < width; ++i) sums[i] += row[i];
  }
}

}  // namespace

AxisParts::AxisParts(const AxisReading& reading, double variance_factor) : offset_(reading.offset()) {
  const auto size = static_cast<Eigen::Index>(codes());
  const Eigen::Map<const Eigen::VectorXd> offset(offset_.data(), size);
  level_ = offset.squaredNorm();
  if (reading.is_helmert()) return;
  overlap_ = (offset.array() - 1 / static_cast<double>(size)).matrix().norm() / std::sqrt(level_);
  AxisMatrix inverse = AxisMatrix::Identity(size, size);  // becomes [P | c]
  reading.Expand({inverse.data(), codes() * codes()}, 1, codes());
  const auto parts = inverse.leftCols(size - 1);
  AxisMatrix spread = variance_factor * parts * parts.transpose();
  largest_spread_ =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(spread, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
  spread.row(0) = offset.transpose();
  spreading_.assign(spread.data(), spread.data() + spread.size());
}

void AxisParts::SplitTimes(double factor, std::span<double> values, size_t outer, size_t inner) const {
  if (inner == 1) {
    for (double* line = values.data(); line != values.data() + outer * codes(); line += codes()) {
      const double sum = SumOf({line, codes()});
      for (size_t code = 1; code < codes(); ++code) line[code] -= offset_[code] * sum;
      line[0] = factor * sum;
    }
    return;
  }
  LineSums sums;
  ForLines(values, codes(), outer, inner, [&](double* first, size_t distance, size_t width) {
    AddLines(first, distance, width, 0, codes(), sums);
    for (size_t code = 1; code < codes(); ++code) {
      double* row = first + code * distance;
      for (size_t i = 0; i < width; ++i) row[i] -= offset_[code] * sums[i];
    }
    for (size_t i = 0; i < width; ++i) first[i] = factor * sums[i];
  });
}

void AxisParts::Split(std::span<double> values, size_t outer, size_t inner) const {
  SplitTimes(1, values, outer, inner);
}

void AxisParts::Join(std::span<double> values, size_t outer, size_t inner) const {
  if (inner == 1) {
    for (double* line = values.data(); line != values.data() + outer * codes(); line += codes()) {
      const double sum = SumOf({line + 1, codes() - 1});
      for (size_t code = 1; code < codes(); ++code) line[code] += offset_[code] * line[0];
      line[0] = offset_[0] * line[0] - sum;
    }
    return;
  }
  LineSums sums;
  ForLines(values, codes(), outer, inner, [&](double* first, size_t distance, size_t width) {
    AddLines(first, distance, width, 1, codes(), sums);
    for (size_t code = 1; code < codes(); ++code) {
      double* row = first + code * distance;
      for (size_t i = 0; i < width; ++i) row[i] += offset_[code] * first[i];
    }
    for (size_t i = 0; i < width; ++i) first[i] = offset_[0] * first[i] - sums[i];
  });
}

void AxisParts::Spread(std::span<double> values, size_t outer, size_t inner) const {
  if (spreading_.empty()) return SplitTimes(offset_[0], values, outer, inner);  // c^T x is the mean
  const auto size = static_cast<Eigen::Index>(codes());
  MultiplyAlong(Eigen::Map<const AxisMatrix>(spreading_.data(), size, size), values, outer, inner);
}

}  // namespace curator::dp
