#include "dp/workload/noise_combination.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace curator::dp {
namespace {

constexpr double kPiReal = std::numbers::pi;
constexpr double kOutward = 1 + 1e-9;    // for rounding
constexpr double kLeastExcluded = 1e-7;  // below it, rounding would show
constexpr double kBlur = 0.004;          // h, in standard deviations
constexpr double kLeftOut = 1e-4;        // each part that is left out, of the probability that is excluded
constexpr int64_t kMostPoints = int64_t{1} << 17;

double AsReal(const Rational& value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// ln E exp(u X) of discrete Laplace noise, |u| < 1/scale: the sum over k of 2 q^k (cosh(k u) - 1) / k.
double LaplaceLogMoment(double scale, double u) {
  return 2 * std::log1p(-std::exp(-1 / scale)) - std::log1p(-std::exp(u - 1 / scale)) -
         std::log1p(-std::exp(-u - 1 / scale));
}

// The least of a convex `value` over (0, end): every argument gives a bound, so the search may stop anywhere.
template <typename Value>
double LeastWithin(double end, const Value& value) {
  double low = 0;
  double high = end;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 60; ++i) {
    const double one = low + (high - low) / 3;
    const double other = high - (high - low) / 3;
    const double at_one = value(one);
    const double at_other = value(other);
    least = std::min({least, at_one, at_other});
    (at_one < at_other ? high : low) = at_one < at_other ? other : one;
  }
  return least;
}

double SumOfSquares(std::span<const WeightedValues> values) {
  double sum = 0;
  for (const WeightedValues& each : values) sum += each.count * each.weight * each.weight;
  return sum;
}

// A combination whose moments are at least as large, of few different weights: what lies beyond the largest
// is taken as fewer values of its largest weight.
std::vector<WeightedValues> Coarse(std::span<const WeightedValues> values) {
  constexpr size_t kMostWeights = 8;
  const std::span<const WeightedValues> kept = values.first(std::min(values.size(), kMostWeights));
  std::vector<WeightedValues> coarse(kept.begin(), kept.end());
  const std::span<const WeightedValues> rest = values.subspan(kept.size());
  if (rest.empty()) return coarse;
  const double largest = rest.front().weight;
  coarse.push_back({.weight = largest, .count = SumOfSquares(rest) / (largest * largest)});
  return coarse;
}

// The smallest w for which Chernoff's bound of P(|S| > w) is at most `excluded`.
double ChernoffHalfWidthOfGaussians(double variance, double excluded) {
  return kOutward * std::sqrt(2 * std::log(2 / excluded) * variance);
}

double ChernoffHalfWidth(const NoiseSpec& noise, std::span<const WeightedValues> values, double excluded) {
  const double parameter = AsReal(noise.parameter);
  if (noise.mechanism == Mechanism::kDiscreteGaussian)
    return ChernoffHalfWidthOfGaussians(parameter * SumOfSquares(values), excluded);
  const double log_odds = std::log(2 / excluded);
  const auto bound = [&](double u) {
    double log_moment = 0;
    for (const WeightedValues& each : values)
      log_moment += each.count * LaplaceLogMoment(parameter, each.weight * u);
    return (log_odds + log_moment) / u;
  };
  return kOutward * LeastWithin(1 / (parameter * values.front().weight), bound);
}

// The characteristic function of one noise value: positive, and falling on [0, pi].
class CharacteristicFunction {
 public:
  explicit CharacteristicFunction(const NoiseSpec& noise)
      : mechanism_(noise.mechanism), parameter_(AsReal(noise.parameter)) {
    variance_ = mechanism_ == Mechanism::kDiscreteLaplace ? DiscreteLaplaceVariance(noise.parameter)
                                                          : DiscreteGaussianVariance(noise.parameter);
    if (mechanism_ == Mechanism::kDiscreteLaplace) return;
    for (size_t x = 0; x < masses_.size(); ++x) {
      const auto real = static_cast<double>(x);
      masses_[x] = (x == 0 ? 1 : 2) * std::exp(-real * real / (2 * parameter_));
    }
    log_at_zero_ = LogTheta(0);
  }

  double variance() const { return variance_; }

  // That one value of Log() takes.
  int64_t steps() const {
    if (mechanism_ == Mechanism::kDiscreteLaplace) return 1;
    return parameter_ < 0.5 ? std::ssize(masses_) : 4;
  }

  double Log(double t) const {
    if (mechanism_ == Mechanism::kDiscreteGaussian) return LogTheta(t) - log_at_zero_;
    const double sine = std::sin(t / 2);
    return -std::log1p(2 * variance_ * sine * sine);
  }

 private:
  // ln of the sum over the integers x of exp(-x^2 / (2 sigma^2)) cos(t x), but for a constant.
  double LogTheta(double t) const {
    if (parameter_ < 0.5) {
      double sum = 0;
      for (size_t x = 0; x < masses_.size(); ++x) sum += masses_[x] * std::cos(static_cast<double>(x) * t);
      return std::log(sum);
    }
    const double rest = std::abs(std::remainder(t, 2 * kPiReal));
    double neighbours = 0;  // Poisson's sum over 2 pi k, relative to k = 0
    for (const int k : {-2, -1, 1, 2})
      neighbours += std::exp(-2 * kPiReal * parameter_ * k * (kPiReal * k + rest));
    return -parameter_ * rest * rest / 2 + std::log1p(neighbours);
  }

  const Mechanism mechanism_;
  const double parameter_;
  double variance_ = 0;
  double log_at_zero_ = 0;
  std::array<double, 14>
      masses_{};  // of Gaussian noise with sigma^2 < 1/2: what is beyond is below exp(-169)
};

// P(|S + V| > x) at most, for all x from the points of its characteristic function that are not negligible.
class BlurredTail {
 public:
  // `reach` is a bound of |S| that holds but for the probability that may be left out, and `most` the largest
  // x.
  BlurredTail(const NoiseSpec& noise, std::span<const WeightedValues> values, double excluded, double reach,
              double most)
      : values_(values), one_(noise), negligible_(std::log(1e-8 * excluded)) {
    blur_ = kBlur * std::sqrt(one_.variance() * SumOfSquares(values));
    sharpness_ = std::asinh(1 / (kLeftOut * excluded));
    left_out_ = 3 * kLeftOut * excluded;  // beyond the last point, beyond the reach, and negligible points
    step_ = 2 * kPiReal / (reach + most + 2 * blur_);
    last_ = std::ceil(sharpness_ / (blur_ * step_));
  }

  double blur() const { return blur_; }
  bool IsFeasible() const { return last_ <= static_cast<double>(kMostPoints); }

  // False when `steps` are used up before the end.
  bool Sum(int64_t& steps) {
    const auto last = static_cast<int64_t>(last_);
    int64_t next_try = 1;
    for (int64_t k = 1; k <= last && steps > 0; ++k) {
      const double log_value = LogUpTo(static_cast<double>(k) * step_, steps);
      if (log_value >= negligible_) {
        points_.push_back(
            {static_cast<double>(k), std::exp(log_value) * Blur(static_cast<double>(k) * step_)});
        continue;
      }
      if (k < next_try) continue;
      const int64_t from = k;
      while (k < last && IsNegligible(k, std::min(last, Jump(k)), steps)) k = std::min(last, Jump(k));
      if (k == from) next_try = k + 16;
    }
    return steps > 0;
  }

  double At(double x, int64_t& steps) const {
    if (x <= 0) return 1;
    steps -= std::ssize(points_);
    double sum = x;
    for (const Point& point : points_)
      sum += 2 * std::sin(x * point.place * step_) / (point.place * step_) * point.value;
    return 1 - step_ / kPiReal * sum + left_out_;
  }

 private:
  struct Point {
    double place;
    double value;
  };

  static int64_t Jump(int64_t k) { return k + std::max<int64_t>(1, k / 8); }

  // The logarithm of f(t), or something below `negligible_` where it is.
  double LogUpTo(double t, int64_t& steps) const {
    double log_value = 0;
    for (const WeightedValues& each : values_) {
      log_value += each.count * one_.Log(each.weight * t);
      steps -= one_.steps();
      if (log_value < negligible_) break;
    }
    return log_value;
  }

  // Whether f is negligible between these points: by the values whose factor falls there.
  bool IsNegligible(int64_t from, int64_t to, int64_t& steps) const {
    double log_value = 0;
    for (const WeightedValues& each : values_) {
      if (each.weight * static_cast<double>(to) * step_ > kPiReal) continue;
      log_value += each.count * one_.Log(each.weight * static_cast<double>(from) * step_);
      steps -= one_.steps();
      if (log_value < negligible_) return true;
    }
    return false;
  }

  double Blur(double t) const {
    const double square = sharpness_ * sharpness_ - blur_ * blur_ * t * t;
    const double root = std::sqrt(std::abs(square));
    const double shape = root < 1e-4 ? 1 : (square > 0 ? std::sinh(root) : std::sin(root)) / root;
    return sharpness_ / std::sinh(sharpness_) * shape;
  }

  const std::span<const WeightedValues> values_;
  const CharacteristicFunction one_;
  const double negligible_;
  double blur_ = 0;       // h
  double sharpness_ = 0;  // b
  double left_out_ = 0;
  double step_ = 0;
  double last_ = 0;
  std::vector<Point> points_;
};

// For Gaussian noise: whether the bound by a normal value holds, its factor, and the bound.
constexpr double kLeastSmooth = 2;  // sigma^2

double NormalFactor(double least_parameter) {
  return (1 + 1e-7) * std::exp(1 / (24 * least_parameter)) * kOutward;
}

// The least x, up to its last digits, with erfc(x) <= allowed.
double InverseErfc(double allowed) {
  double low = 0;
  double high = 40;  // erfc is 0 there
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle) <= allowed ? high : low) = middle;
  }
  return high;
}

double NormalHalfWidth(double least_parameter, double variance, double largest_weight, double excluded) {
  struct Quantile {
    double allowed = 0;
    double value = 40;
  };
  // The last one of this thread: the answers of a group have the same.
  thread_local Quantile last;
  const double allowed = excluded / NormalFactor(least_parameter);
  if (last.allowed != allowed) last = {.allowed = allowed, .value = InverseErfc(allowed)};
  return kOutward * (last.value * std::sqrt(2 * variance) + largest_weight / 2);
}

}  // namespace

std::vector<WeightedValues> Compacted(std::vector<WeightedValues> values) {
  for (WeightedValues& each : values) each.weight = std::abs(each.weight);
  std::ranges::sort(values,
                    [](const WeightedValues& a, const WeightedValues& b) { return a.weight > b.weight; });
  std::vector<WeightedValues> compact;
  for (const WeightedValues& each : values) {
    if (each.weight == 0 || each.count == 0) continue;
    if (!compact.empty() && compact.back().weight - each.weight <= 1e-12 * compact.back().weight) {
      compact.back().count += each.count;
    } else {
      compact.push_back(each);
    }
  }
  return compact;
}

std::optional<double> CombinationHalfWidth(const NoiseSpec& noise, std::span<const WeightedValues> values,
                                           double level, int64_t& steps) {
  const double excluded = 1 - level;
  if (excluded < kLeastExcluded || steps <= 0) return std::nullopt;
  const std::vector<WeightedValues> coarse = Coarse(values);
  const double most = ChernoffHalfWidth(noise, coarse, excluded);
  BlurredTail tail(noise, values, excluded, ChernoffHalfWidth(noise, coarse, kLeftOut * excluded), most);
  if (!tail.IsFeasible() || !tail.Sum(steps)) return std::nullopt;
  double enough = most;
  double short_of = 0;
  for (int i = 0; i < 16; ++i) {
    const double middle = (enough + short_of) / 2;
    (tail.At(middle - tail.blur(), steps) <= excluded ? enough : short_of) = middle;
  }
  return enough;
}

double MeanAbsoluteValue(const NoiseSpec& noise, std::span<const WeightedValues> values) {
  const double deviation = std::sqrt(CharacteristicFunction(noise).variance() * SumOfSquares(values));
  if (noise.mechanism == Mechanism::kDiscreteGaussian) return deviation * std::sqrt(2 / kPiReal);
  // With t = tan(x) / deviation, by Simpson's rule over x from 0 to pi/2: 1/2 and 1 at the ends.
  constexpr int kIntervals = 200;
  const double sum_of_squares = SumOfSquares(values);
  double sum = 0.5 + 1;
  for (int i = 1; i < kIntervals; ++i) {
    const double tangent = std::tan(kPiReal / 2 * i / kIntervals);
    double log_value = 0;
    for (const WeightedValues& each : values)
      log_value -=
          each.count * std::log1p(each.weight * each.weight / sum_of_squares * tangent * tangent / 2);
    const double cosine_squared = 1 / (1 + tangent * tangent);
    sum += (i % 2 == 1 ? 4 : 2) * -std::expm1(log_value) / (tangent * tangent * cosine_squared);
  }
  return 2 / kPiReal * deviation * sum * (kPiReal / 2 / kIntervals) / 3;
}

double HalfWidthBound(const NoiseSpec& noise, double sum_of_squares, double largest_weight, double level) {
  if (noise.mechanism == Mechanism::kDiscreteGaussian) {
    const double parameter = AsReal(noise.parameter);
    return HalfWidthBoundOfGaussians(parameter, parameter * sum_of_squares, largest_weight, level);
  }
  const WeightedValues alike{.weight = largest_weight,
                             .count = sum_of_squares / (largest_weight * largest_weight)};
  return ChernoffHalfWidth(noise, std::span(&alike, 1), 1 - level);
}

double TailBound(const NoiseSpec& noise, double sum_of_squares, double largest_weight, double w) {
  const double parameter = AsReal(noise.parameter);
  if (noise.mechanism == Mechanism::kDiscreteGaussian)
    return TailBoundOfGaussians(parameter, parameter * sum_of_squares, largest_weight, w);
  const double count = sum_of_squares / (largest_weight * largest_weight);
  const double log_tail = LeastWithin(1 / (parameter * largest_weight), [&](double u) {
    return count * LaplaceLogMoment(parameter, largest_weight * u) - u * w;
  });
  return std::min(1.0, kOutward * 2 * std::exp(log_tail));
}

double HalfWidthBoundOfGaussians(double least_parameter, double variance, double largest_weight,
                                 double level) {
  const double excluded = 1 - level;
  const double chernoff = ChernoffHalfWidthOfGaussians(variance, excluded);
  if (least_parameter < kLeastSmooth) return chernoff;
  return std::min(chernoff, NormalHalfWidth(least_parameter, variance, largest_weight, excluded));
}

double TailBoundOfGaussians(double least_parameter, double variance, double largest_weight, double w) {
  const double chernoff = std::min(1.0, kOutward * 2 * std::exp(-w * w / (2 * variance)));
  if (least_parameter < kLeastSmooth || w <= largest_weight / 2) return chernoff;
  return std::min(chernoff, NormalFactor(least_parameter) *
                                std::erfc((w - largest_weight / 2) / std::sqrt(2 * variance)));
}

}  // namespace curator::dp
