#include "dp/workload/statistics/fieller.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace curator::dp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kApart = 1.0002;  // least ratio of two scales

double Square(double value) {
  return value * value;
}

double NormalHalfWidthOf(double excluded) {
  double low = 0;
  double high = 40;  // erfc is 0 there
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle) <= excluded ? high : low) = middle;
  }
  return high * std::numbers::sqrt2;
}

double LaplaceTail(double distance, std::span<const double> deviations) {
  std::array<double, NoiseSums::kMostTerms> scales{};
  size_t terms = 0;
  for (const double deviation : deviations) {
    if (!(deviation > 0)) continue;
    const double scale = deviation / std::numbers::sqrt2;
    size_t at = terms++;
    for (; at > 0 && scales[at - 1] > scale; --at) scales[at] = scales[at - 1];
    scales[at] = scale;
  }
  const std::span<double> used(scales.data(), terms);
  for (size_t i = 1; i < terms; ++i) used[i] = std::max(used[i], used[i - 1] * kApart);
  double tail = 0;
  for (const double scale : used) {
    double share = std::exp(-distance / scale);
    for (const double other : used) {
      if (other != scale) share *= Square(scale) / (Square(scale) - Square(other));
    }
    tail += share;
  }
  return tail;
}

// The end of an interval: `kept` is not excluded, and between it and `bound` what lies beyond an excluded
// number is excluded as well. Rounded outward.
template <typename Excluded>
double EndTowards(double kept, double bound, const Excluded& excluded) {
  constexpr int kHalvings = 48;
  if (!excluded(bound)) return bound;
  double outside = bound;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = kept + (outside - kept) / 2;
    (excluded(middle) ? outside : kept) = middle;
  }
  return outside;
}

// The interval around `estimate` within least..most, and the estimate itself.
template <typename Excluded>
void SetWithin(double least, double most, double estimate, const Excluded& excluded,
               EstimateWithEnds& result) {
  result.value = std::clamp(estimate, least, most);
  result.low = estimate <= least ? least : std::min(most, EndTowards(estimate, least, excluded));
  result.high = estimate >= most ? most : std::max(least, EndTowards(estimate, most, excluded));
}

EstimateWithEnds Unknown(double value, double deviation) {
  return {.value = value, .standard_deviation = deviation, .low = -kInfinity, .high = kInfinity};
}

EstimateWithEnds NoNumber() {
  return Unknown(std::numeric_limits<double>::quiet_NaN(), kInfinity);
}

// Of the square of the mean, given a variance.
double SquareOfMean(const NoiseSums& noise, const NoisyMoments& of, double variance) {
  const double largest = Square(std::max(std::abs(of.least), std::abs(of.most)));
  const double sum_variance = Square(of.sum_deviation);
  const double from_sum = std::clamp((Square(of.sum) - sum_variance) / Square(of.count), 0.0, largest);
  const double from_squares = std::clamp(of.squares / of.count - variance, 0.0, largest);
  const double error_of_sum =
      (4 * from_sum * sum_variance + Square(noise.DeviationOfSquare() * sum_variance / of.count)) /
      Square(of.count);
  const double error_of_squares =
      (Square(of.squares_deviation) +
       Square((of.centre_of_squares - from_sum - variance) * of.count_deviation)) /
      Square(of.count);
  if (!(error_of_sum > 0 && error_of_squares > 0)) return from_sum;
  return (from_sum / error_of_sum + from_squares / error_of_squares) /
         (1 / error_of_sum + 1 / error_of_squares);
}

// The deviations of the four terms of D(v).
std::array<double, 4> TermsOf(const NoiseSums& noise, const NoisyMoments& of, double variance) {
  const double square = SquareOfMean(noise, of, variance);
  return {of.squares_deviation, 2 * std::sqrt(square) * of.sum_deviation,
          std::abs(of.centre_of_squares + square - variance) * of.count_deviation,
          noise.DeviationOfSquare() * Square(of.sum_deviation) / of.count};
}

}  // namespace

NoiseSums::NoiseSums(Mechanism mechanism, double level)
    : is_laplace_(mechanism == Mechanism::kDiscreteLaplace), excluded_(1 - level) {
  normal_ = NormalHalfWidthOf(excluded_);
}

bool NoiseSums::Excludes(double distance, std::span<const double> deviations) const {
  if (!(distance > 0)) return false;
  if (is_laplace_) return LaplaceTail(distance, deviations) < excluded_;
  double variance = 0;
  for (const double deviation : deviations) variance += Square(deviation);
  return distance > normal_ * std::sqrt(variance);
}

double NoiseSums::HalfWidth(std::span<const double> deviations) const {
  double variance = 0;
  double sum = 0;
  for (const double deviation : deviations) {
    variance += Square(deviation);
    sum += deviation;
  }
  if (!is_laplace_) return normal_ * std::sqrt(variance);
  // Beyond it each of the values would have to be larger than its own tail of excluded / 4 allows.
  const double most = sum * std::log(4 / excluded_);
  return most > 0 ? EndTowards(0, 2 * most, [&](double w) { return Excludes(w, deviations); }) : 0;
}

double NoiseSums::DeviationOfSquare() const {
  return is_laplace_ ? std::sqrt(5.0) : std::numbers::sqrt2;
}

EstimateWithEnds MeanOf(const NoiseSums& noise, const NoisyMoments& of) {
  constexpr double kHalfStep = 0.5;
  if (!(of.count > 0)) return NoNumber();
  const double estimate = of.sum / of.count;
  const double within = std::clamp(estimate, of.least, of.most);
  const double deviation = std::hypot(of.sum_deviation, within * of.count_deviation) / of.count;
  const std::array<double, 1> of_count = {of.count_deviation};
  if (!noise.Excludes(of.count, of_count)) return Unknown(within, deviation);
  EstimateWithEnds result{.value = within, .standard_deviation = deviation, .low = 0, .high = 0};
  SetWithin(
      of.least, of.most, estimate,
      [&](double mean) {
        const std::array<double, 2> terms = {of.sum_deviation, std::abs(mean) * of.count_deviation};
        return noise.Excludes(std::abs(of.sum - mean * of.count) - kHalfStep, terms);
      },
      result);
  return result;
}

EstimateWithEnds VarianceOf(const NoiseSums& noise, const NoisyMoments& of) {
  if (!(of.count > 1)) return NoNumber();
  const std::array<double, 1> of_count = {of.count_deviation};
  const double count_width = noise.HalfWidth(of_count);
  // Of n numbers, half at either end: (range / 2)^2 n / (n - 1).
  const double least_count = std::max(2.0, of.count - count_width);
  const double most = Square((of.most - of.least) / 2) * least_count / (least_count - 1);
  const double corrected = of.squares - (Square(of.sum) - Square(of.sum_deviation)) / of.count;
  const double estimate = corrected / (of.count - 1);
  const double within = std::clamp(estimate, 0.0, most);
  double variance = 0;
  for (const double term : TermsOf(noise, of, within)) variance += Square(term);
  const double deviation = std::sqrt(variance) / (of.count - 1);
  if (of.count - 1 <= kClear * count_width) return Unknown(within, deviation);

  // Squares that were rounded are off by half a step each at most.
  const double rounding = of.step_of_squares > 1 ? of.count * of.step_of_squares / 2 : 0;
  const double allowed = rounding + of.step_of_squares / 2;
  EstimateWithEnds result{.value = within, .standard_deviation = deviation, .low = 0, .high = 0};
  SetWithin(
      0, most, estimate,
      [&](double value) {
        return noise.Excludes(std::abs(corrected - value * (of.count - 1)) - allowed,
                              TermsOf(noise, of, value));
      },
      result);
  return result;
}

}  // namespace curator::dp
