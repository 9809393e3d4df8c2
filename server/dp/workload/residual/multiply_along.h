// Multiplies tables by a square matrix along one of their axes.
//
// Thread-safe: pure functions.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <span>

namespace curator::dp {

using AxisMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline constexpr size_t kLinesTogether =
    512;  // numbers of a row that are changed together: they stay in the cache

// `values` is an array of outer x rows x inner; each line along the middle axis becomes `matrix` times it.
inline void MultiplyAlong(const Eigen::Map<const AxisMatrix>& matrix, std::span<double> values, size_t outer,
                          size_t inner) {
  const Eigen::Index codes = matrix.rows();
  AxisMatrix product;
  if (inner == 1) {  // lines are rows
    for (size_t from = 0; from < outer; from += kLinesTogether) {
      const auto lines = static_cast<Eigen::Index>(std::min(kLinesTogether, outer - from));
      Eigen::Map<AxisMatrix> block(values.data() + from * static_cast<size_t>(codes), lines, codes);
      product.noalias() = block * matrix.transpose();
      block = product;
    }
    return;
  }
  for (size_t place = 0; place < outer; ++place) {
    for (size_t from = 0; from < inner; from += kLinesTogether) {
      const auto lines = static_cast<Eigen::Index>(std::min(kLinesTogether, inner - from));
      Eigen::Map<AxisMatrix, 0, Eigen::OuterStride<>> block(
          values.data() + place * static_cast<size_t>(codes) * inner + from, codes, lines,
          Eigen::OuterStride<>(static_cast<Eigen::Index>(inner)));
      product.noalias() = matrix * block;
      block = product;
    }
  }
}

}  // namespace curator::dp
