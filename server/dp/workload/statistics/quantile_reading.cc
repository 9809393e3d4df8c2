#include "dp/workload/statistics/quantile_reading.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <variant>

#include "dp/domain/number_column.h"
#include "dp/workload/noise_combination.h"

namespace curator::dp {
namespace {

constexpr double kLeastSmoothDeviation = 1.3;  // of smaller noise the lattice shows
constexpr double kKurtosisBins = 60;  // of the sum of fourth powers over the square of that of squares

// By how much a half width of so many deviations may differ within one of these bins (Cornish and Fisher).
double WidenedBy(double deviations) {
  constexpr double kLeast = 0.003;
  return std::max(kLeast, (deviations * deviations - 3) * 3 / (24 * kKurtosisBins));
}

// The first code of rising ranks, made of both running extremes, that reaches `wanted`.
int64_t FirstReaching(std::span<const double> ranks, double wanted) {
  std::vector<double> least(ranks.begin(), ranks.end());
  for (size_t i = least.size() - 1; i-- > 0;) least[i] = std::min(least[i], least[i + 1]);
  double most = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < ranks.size(); ++i) {
    most = std::max(most, ranks[i]);
    if ((most + least[i]) / 2 >= wanted) return static_cast<int64_t>(i);
  }
  return static_cast<int64_t>(ranks.size()) - 1;
}

}  // namespace

QuantileReader::QuantileReader(const IntervalTree& tree, const NoiseSpec& noise, int32_t thousandths,
                               double level, int64_t steps)
    : tree_(tree),
      noise_(noise),
      share_(static_cast<double>(thousandths) / 1000),
      level_(level),
      deviation_(ForecastError(noise).standard_deviation),
      widths_(static_cast<size_t>(tree.bins()), std::numeric_limits<double>::quiet_NaN()),
      steps_(steps) {
  // Adding up whole blocks takes less than this many values, and least squares errs no more than that.
  const auto most_values = static_cast<double>(tree.levels()) * static_cast<double>(tree.branching());
  cap_ = HalfWidthBound(noise, most_values, std::sqrt(most_values), level);
}

// Half widths in standard deviations.
double QuantileReader::DeviationsOf(int64_t code, const IntervalTree::WeightSums& sums) {
  const CodeInterval interval{.first = 0, .last = static_cast<uint32_t>(code)};
  const double deviation = deviation_ * std::sqrt(sums.squares);
  const bool is_smooth = deviation_ >= kLeastSmoothDeviation;
  const bool is_gaussian = noise_.mechanism == Mechanism::kDiscreteGaussian;
  const double kurtosis = is_gaussian ? 0 : sums.fourth / (sums.squares * sums.squares);
  const auto key = static_cast<int64_t>(kurtosis * kKurtosisBins);
  if (is_smooth) {
    const auto known = deviations_by_kurtosis_.find(key);
    if (known != deviations_by_kurtosis_.end()) return known->second;
  }
  const std::vector<WeightedValues> weights = tree_.WeightsOf(interval, -share_);
  const double largest = weights.front().weight;
  double width = HalfWidthBound(noise_, sums.squares, largest, level_);
  if (const std::optional<double> own = CombinationHalfWidth(noise_, weights, level_, steps_))
    width = std::min(width, *own);
  double deviations = width / deviation;
  // Of the bound, and of the weights, which are found in as many steps as the square of the levels.
  constexpr int64_t kStepsOfBound = 512;
  constexpr int64_t kStepsOfWeights = 16;
  const auto levels = static_cast<int64_t>(tree_.levels());
  steps_ -= kStepsOfBound + kStepsOfWeights * levels * levels;
  if (!is_smooth) return deviations;
  deviations *= 1 + WidenedBy(deviations);
  deviations_by_kurtosis_[key] = deviations;
  return deviations;
}

// Of weights of at most 1 each, whose sum of squares is rounded up to one of a geometric row.
double QuantileReader::BoundOf(double sum_of_squares) {
  constexpr double kPerFactorOfE = 64;
  constexpr double kOutward = 1 + 1e-9;  // for rounding
  const auto key = static_cast<int64_t>(std::ceil(std::log(sum_of_squares) * kPerFactorOfE));
  const auto [known, is_new] = bounds_by_squares_.try_emplace(key);
  if (is_new) {
    const double rounded = std::exp(static_cast<double>(key) / kPerFactorOfE) * kOutward;
    known->second = HalfWidthBound(noise_, rounded, 1, level_);
  }
  return known->second;
}

double QuantileReader::WidthOf(int64_t code) {
  const IntervalTree::WeightSums sums =
      tree_.WeightSumsOf({.first = 0, .last = static_cast<uint32_t>(code)}, -share_);
  if (!(sums.squares > 0 && deviation_ > 0)) return 0;
  if (steps_ <= 0 && deviation_ < kLeastSmoothDeviation) return BoundOf(sums.squares);
  return DeviationsOf(code, sums) * deviation_ * std::sqrt(sums.squares);
}

double QuantileReader::HalfWidth(int64_t code) {
  double& width = widths_[static_cast<size_t>(code)];
  if (std::isnan(width)) width = WidthOf(code);
  return width;
}

QuantileCodes QuantileReader::Read(std::span<const double> ranks) {
  const auto codes = static_cast<int64_t>(ranks.size());
  const double wanted = share_ * ranks.back();
  const auto over = [&](int64_t code) { return ranks[static_cast<size_t>(code)] - wanted; };
  QuantileCodes read{.code = std::nullopt, .low = 0, .high = codes - 1};
  while (read.low < codes && (over(read.low) < -cap_ || over(read.low) < -HalfWidth(read.low))) ++read.low;
  if (read.low == codes) read.low = 0;
  while (read.high > read.low &&
         (over(read.high - 1) > cap_ || over(read.high - 1) > HalfWidth(read.high - 1)))
    --read.high;
  if (ranks.back() > 0) read.code = FirstReaching(ranks, wanted);
  return read;
}

std::vector<double> RanksOf(const IntervalTree& tree, std::span<const int64_t> measured) {
  std::vector<double> ranks = tree.EstimateBins(measured);
  std::partial_sum(ranks.begin(), ranks.end(), ranks.begin());
  return ranks;
}

bool HasOrderedNumbers(const Domain& domain, uint32_t column) {
  if (column >= domain.size()) return true;
  const AttributeKind& kind = domain.attributes()[column].kind();
  return std::holds_alternative<IntegerKind>(kind) || std::holds_alternative<NumericKind>(kind);
}

BinNumbers NumbersOfCode(const Domain& domain, uint32_t column, int64_t code) {
  if (const std::optional<NumberColumn> number = NumberColumnAt(domain, column)) {
    const double value = number->ValueOf(number->low + code);
    return {.low = value, .middle = value, .high = value};
  }
  const AttributeKind& kind = domain.attributes()[column].kind();
  BinNumbers bin;
  if (const auto* integer = std::get_if<IntegerKind>(&kind)) {
    const int64_t first = integer->min + code * integer->bin_width;
    bin.low = static_cast<double>(first);
    bin.high = static_cast<double>(std::min(integer->max, first + integer->bin_width - 1));
  } else {
    const std::vector<double>& edges = std::get<NumericKind>(kind).edges;
    bin.low = edges[static_cast<size_t>(code)];
    bin.high = edges[static_cast<size_t>(code) + 1];
  }
  bin.middle = bin.low + (bin.high - bin.low) / 2;
  return bin;
}

}  // namespace curator::dp
