#include "dp/workload/residual/axis_reading.h"

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dp/workload/residual/multiply_along.h"

namespace curator::dp {
namespace {

constexpr double kLeastReciprocalCondition = 1e-10;

// Along the axis v holds z_1, ..., z_{n-1}, t, and the count of code j is
//
//   x_j = s_j - z_j / (j + 1),   s_j = t/n + sum over k > j of z_k / (k (k + 1)),   z_0 = 0.
//
// From the last code to the first, each x_j is written to a place whose value has been read.
void ExpandLine(double* values, int64_t codes, std::span<const double> reciprocals) {
  double sum = values[codes - 1] * reciprocals[static_cast<size_t>(codes)];
  for (int64_t j = codes - 1; j > 0; --j) {
    const double part = values[j - 1] * reciprocals[static_cast<size_t>(j + 1)];
    values[j] = sum - part;
    sum += part * reciprocals[static_cast<size_t>(j)];
  }
  values[0] = sum;
}

// The same for `width` <= kLinesTogether lines side by side, the places of a line `inner` apart.
void ExpandLines(double* values, int64_t codes, std::span<const double> reciprocals, size_t inner,
                 size_t width) {
  std::array<double, kLinesTogether> sums;
  const double* total = values + static_cast<size_t>(codes - 1) * inner;
  for (size_t i = 0; i < width; ++i) sums[i] = total[i] * reciprocals[static_cast<size_t>(codes)];
  for (auto j = static_cast<size_t>(codes - 1); j > 0; --j) {
    const double* from = values + (j - 1) * inner;
    double* to = values + j * inner;
    for (size_t i = 0; i < width; ++i) {
      const double part = from[i] * reciprocals[j + 1];
      to[i] = sums[i] - part;
      sums[i] += part * reciprocals[j];
    }
  }
  std::copy_n(sums.begin(), width, values);
}

void ExpandHelmert(std::span<double> values, std::span<const double> reciprocals, size_t outer,
                   size_t inner) {
  const auto codes = static_cast<int64_t>(reciprocals.size()) - 1;
  const size_t line = static_cast<size_t>(codes) * inner;
  for (size_t place = 0; place < outer; ++place) {
    double* own = values.data() + place * line;
    if (inner == 1) {
      ExpandLine(own, codes, reciprocals);
      continue;
    }
    for (size_t from = 0; from < inner; from += kLinesTogether)
      ExpandLines(own + from, codes, reciprocals, inner, std::min(kLinesTogether, inner - from));
  }
}

// The k-th contrast has weight 1 on the first k codes and -k on code k (from 0).
AxisError HelmertError(const CodeInterval& interval, int64_t codes) {
  const double all = static_cast<double>(codes);
  const double first = interval.first;
  const double last = interval.last;
  const double width = last - first + 1;
  // |(q P)_k| falls with k in both parts where it is not 0: first/(k (k + 1)) for first <= k <= last,
  // k >= 1; width/(k (k + 1)) beyond.
  const double within = interval.first > 0 ? 1 / (first + 1) : 0;
  const double beyond = interval.last + 1 < codes ? width / ((last + 1) * (last + 2)) : 0;
  return {.spread = width * (all - width) / all,
          .level = width / all * (width / all),
          .largest_spread = std::max(within, beyond)};
}

AxisError HelmertError(std::span<const double> weights) {
  const auto codes = static_cast<double>(weights.size());
  double sum = 0;  // of the first k weights
  AxisError error;
  for (size_t k = 0; k < weights.size(); ++k) {
    const auto number = static_cast<double>(k);
    if (k > 0) {
      const double entry = (sum - number * weights[k]) / (number * (number + 1));
      error.largest_spread = std::max(error.largest_spread, std::abs(entry));
    }
    sum += weights[k];
  }
  const double mean = sum / codes;
  for (const double weight : weights) error.spread += (weight - mean) * (weight - mean);
  error.level = mean * mean;
  return error;
}

// [R; 1^T]^-1 from rows of length 1; nothing when it is singular.
std::optional<AxisMatrix> InverseOfQueries(std::span<const int32_t> weights, Eigen::Index codes) {
  AxisMatrix rows = AxisMatrix::Ones(codes, codes);
  for (Eigen::Index row = 0; row + 1 < codes; ++row) {
    for (Eigen::Index code = 0; code < codes; ++code)
      rows(row, code) = weights[static_cast<size_t>(row * codes + code)];
  }
  const Eigen::VectorXd lengths = rows.rowwise().norm();
  if (lengths.minCoeff() == 0) return std::nullopt;
  rows.array().colwise() /= lengths.array();
  const Eigen::PartialPivLU<AxisMatrix> factors(rows);
  if (!(factors.rcond() > kLeastReciprocalCondition)) return std::nullopt;
  AxisMatrix inverse = factors.inverse();
  inverse.array().rowwise() /= lengths.transpose().array();
  return inverse;
}

}  // namespace

absl::StatusOr<AxisReading> AxisReading::Create(const AxisQueries& queries, int64_t codes) {
  if (codes < 2) return absl::InvalidArgumentError("an attribute of one code has no contrasts");
  AxisReading reading;
  reading.codes_ = codes;
  const auto size = static_cast<size_t>(codes);
  reading.offset_.assign(size, 1 / static_cast<double>(codes));
  if (queries.weights.empty()) {
    reading.reciprocals_.resize(size + 1);
    for (size_t k = 1; k <= size; ++k) reading.reciprocals_[k] = 1 / static_cast<double>(k);
    return reading;
  }
  if (queries.weights.size() > kMostAxisWeights)
    return absl::InvalidArgumentError(absl::StrCat("an axis has at most ", kMostAxisWeights, " weights"));
  if (static_cast<int64_t>(queries.weights.size()) != (codes - 1) * codes)
    return absl::InvalidArgumentError("an axis that is read has one query less than its attribute has codes");
  const std::optional<AxisMatrix> inverse = InverseOfQueries(queries.weights, codes);
  if (!inverse)
    return absl::InvalidArgumentError("queries over an axis that is read are linearly independent, and of 1");
  reading.inverse_.assign(inverse->data(), inverse->data() + inverse->size());
  reading.offset_sums_ = {0};
  AxisMatrix sums = AxisMatrix::Zero(codes + 1, codes - 1);
  for (Eigen::Index code = 0; code < codes; ++code) {
    const double offset = (*inverse)(code, codes - 1);
    reading.offset_[static_cast<size_t>(code)] = offset;
    reading.offset_sums_.push_back(reading.offset_sums_.back() + offset);
    sums.row(code + 1) = sums.row(code) + inverse->row(code).head(codes - 1);
  }
  const AxisMatrix products = sums * sums.transpose();
  reading.variance_factor_ = static_cast<double>(queries.variance_factor);
  reading.inner_products_.assign(products.data(), products.data() + products.size());
  return reading;
}

void AxisReading::Expand(std::span<double> values, size_t outer, size_t inner) const {
  if (is_helmert()) return ExpandHelmert(values, reciprocals_, outer, inner);
  MultiplyAlong(Eigen::Map<const AxisMatrix>(inverse_.data(), codes_, codes_), values, outer, inner);
}

AxisError AxisReading::ErrorOf(const CodeInterval& interval) const {
  if (is_helmert()) return HelmertError(interval, codes_);
  const size_t side = static_cast<size_t>(codes_) + 1;
  const size_t from = interval.first;
  const size_t to = size_t{interval.last} + 1;
  if (from == 0 && to + 1 == side) return {.spread = 0, .level = 1, .largest_spread = 0};  // 1^T P = 0
  const double squares =
      std::max(0.0, inner_products_[to * side + to] - 2 * inner_products_[from * side + to] +
                        inner_products_[from * side + from]);
  const double level = offset_sums_[to] - offset_sums_[from];
  return {.spread = variance_factor_ * squares, .level = level * level, .largest_spread = std::sqrt(squares)};
}

AxisError AxisReading::ErrorOf(std::span<const double> weights) const {
  if (is_helmert()) return HelmertError(weights);
  const Eigen::Map<const AxisMatrix> inverse(inverse_.data(), codes_, codes_);
  Eigen::RowVectorXd read = Eigen::RowVectorXd::Zero(codes_);  // q [P | c]
  for (size_t code = 0; code < weights.size(); ++code) {
    if (weights[code] != 0) read += weights[code] * inverse.row(static_cast<Eigen::Index>(code));
  }
  const auto parts = read.head(codes_ - 1);
  return {.spread = variance_factor_ * parts.squaredNorm(),
          .level = read(codes_ - 1) * read(codes_ - 1),
          .largest_spread = parts.cwiseAbs().maxCoeff()};
}

}  // namespace curator::dp
