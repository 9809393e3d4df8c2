#include "dp/workload/half_widths.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/workload/noise_combination.h"
#include "dp/workload/noise_sum.h"

namespace curator::dp {
namespace {

constexpr double kSumGrid = 1.05;
constexpr double kKurtosisStep = 0.004;
constexpr double kSpareWidth = 0.001;
// A measured value's. Below it the lattice of the noise shows in estimates.
constexpr double kLeastDeviation = 1.3;
// Of a half width that is scaled: by so much a bound that is proved may be wider.
constexpr double kMostForProof = 1.005;

// The bound is this times the root of the variance factor and half of the largest weight.
std::optional<double> NormalWidth(const NoiseSpec& noise, double level) {
  if (noise.mechanism != Mechanism::kDiscreteGaussian) return std::nullopt;
  constexpr double kRoot = 0x1p30;  // beside it half of a weight of 1 is nothing
  return HalfWidthBound(noise, kRoot * kRoot, 1, level) / kRoot;
}

// The largest value of the grid that is at most `terms`, and the smallest above it.
std::pair<int64_t, int64_t> GridAround(int64_t terms) {
  const double place = std::floor(std::log(static_cast<double>(terms)) / std::log(kSumGrid));
  const auto below = static_cast<int64_t>(std::floor(std::pow(kSumGrid, place)));
  const auto above = static_cast<int64_t>(std::ceil(std::pow(kSumGrid, place + 1)));
  return {std::clamp<int64_t>(below, 1, terms), std::clamp<int64_t>(above, terms, kMostSummedValues)};
}

}  // namespace

EstimateWeights WeightsIn(const IntervalTree& tree) {
  return [&tree](const AnswerError& error) { return tree.WeightsOf(error.interval); };
}

HalfWidths::HalfWidths(const NoiseSpec& noise, double level)
    : noise_(noise),
      level_(level),
      deviation_(ForecastError(noise).standard_deviation),
      normal_width_(NormalWidth(noise, level)) {}

absl::StatusOr<double> HalfWidths::Of(const AnswerError& error, const EstimateWeights& weights) {
  if (!(level_ > 0 && level_ < 1))
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  return error.terms > 0 ? OfSum(error.terms) : OfEstimate(error, weights);
}

absl::StatusOr<double> HalfWidths::DeviationsOf(int64_t terms) {
  const auto found = sum_ratios_.find(terms);
  if (found != sum_ratios_.end()) return found->second;
  ASSIGN_OR_RETURN(const int64_t width, SumConfidenceHalfWidth(noise_, terms, level_));
  return sum_ratios_[terms] = (static_cast<double>(width) + 0.5) / std::sqrt(static_cast<double>(terms));
}

absl::StatusOr<double> HalfWidths::OfSum(int64_t terms) {
  const auto found = sums_.find(terms);
  if (found != sums_.end()) return found->second;
  if (sums_.size() < kMostExact) {
    ASSIGN_OR_RETURN(const int64_t width, SumConfidenceHalfWidth(noise_, terms, level_));
    return sums_[terms] = static_cast<double>(width);
  }
  const auto [below, above] = GridAround(terms);
  ASSIGN_OR_RETURN(const double shorter, DeviationsOf(below));
  ASSIGN_OR_RETURN(const double longer, DeviationsOf(above));
  const double root = std::sqrt(static_cast<double>(terms));
  return std::ceil(std::max(shorter, longer) * root * (1 + kSpareWidth / 2) - 0.5);
}

absl::StatusOr<double> HalfWidths::OfEstimate(const AnswerError& error, const EstimateWeights& weights) {
  const std::pair key{static_cast<float>(error.variance_factor), static_cast<float>(error.fourth_factor)};
  const auto found = estimates_.find(key);
  if (found != estimates_.end()) return found->second;
  if (!weights) return HalfWidthOf(noise_, error, level_);
  const bool is_exact = steps_ > 0 && estimates_.size() < kMostExact;
  if (is_exact) {
    ASSIGN_OR_RETURN(const double own, OfItsOwn(error, weights, steps_));
    return estimates_[key] = own;
  }
  if (deviation_ < kLeastDeviation) return HalfWidthOf(noise_, error, level_);
  const double squared = error.variance_factor * error.variance_factor;
  const auto cell = static_cast<int64_t>(error.fourth_factor / squared / kKurtosisStep);
  const double root = std::sqrt(error.variance_factor);
  auto ratio = estimate_ratios_.find(cell);
  if (ratio == estimate_ratios_.end()) {
    ASSIGN_OR_RETURN(const double own, OfItsOwn(error, weights, ratio_steps_));
    const double deviations = own / root / deviation_;
    const double spare = kSpareWidth + kKurtosisStep * deviations * deviations / 8;
    ratio = estimate_ratios_.emplace(cell, deviations * deviation_ * (1 + spare)).first;
  }
  const double scaled = ratio->second * root;
  if (!normal_width_) return scaled;
  const double proved = *normal_width_ * root + std::sqrt(std::sqrt(error.fourth_factor)) / 2;
  return proved <= scaled * kMostForProof ? proved : scaled;
}

absl::StatusOr<double> HalfWidths::OfItsOwn(const AnswerError& error, const EstimateWeights& weights,
                                            int64_t& steps) const {
  ASSIGN_OR_RETURN(const double bound, HalfWidthOf(noise_, error, level_));
  return std::min(bound, CombinationHalfWidth(noise_, weights(error), level_, steps).value_or(bound));
}

}  // namespace curator::dp
