#include "dp/accounting/calculators/discrete_gaussian.h"

#include <cmath>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/gaussian.h"

namespace curator::dp {
namespace {

constexpr double kMostVariance = 1e8;
// A sum stops when its terms are this small against its first; what is left is bounded by a geometric series.
const Interval& Negligible() {
  static const Interval negligible = Exp(Interval(-100));
  return negligible;
}
// Grid points of sigma, in thousandths, that must hold above the answer.
constexpr int64_t kPointsAbove = 30;

// The sum of e^(-(y^2 - first^2)/(2 sigma^2)) over y = first, first + 1, ...; first >= 0.
Interval TailOverFirst(int64_t first, const Interval& variance) {
  const Interval step = Exp(Interval(-1) / variance);
  Interval ratio = Exp(-(Interval(2) * Interval(first) + Interval(1)) / (Interval(2) * variance));
  Interval term(1);
  Interval sum(0);
  while (term.CertainlyAbove(Negligible())) {
    sum = sum + term;
    term = term * ratio;
    ratio = ratio * step;
  }
  return sum + Interval::ZeroUpTo(term / (Interval(1) - ratio));
}

Interval Weight(int64_t y, const Interval& variance) {
  return Exp(-(Interval(y) * Interval(y)) / (Interval(2) * variance));
}

// The sum of the weights of y >= first.
Interval Tail(int64_t first, const Interval& variance) {
  if (first >= 0) return Weight(first, variance) * TailOverFirst(first, variance);
  const Interval whole = Interval(2) * TailOverFirst(0, variance) - Interval(1);
  const int64_t mirrored = 1 - first;  // y < first is -y >= 1 - first
  return whole - Weight(mirrored, variance) * TailOverFirst(mirrored, variance);
}

}  // namespace

absl::StatusOr<Interval> DiscreteGaussianDelta(Rational sigma_squared, int64_t shift,
                                               const Interval& epsilon) {
  if (sigma_squared.numerator <= 0 || sigma_squared.denominator <= 0) {
    return InvalidField("sigma_squared", "must be positive");
  }
  if (shift < 1 || shift > 1'000'000'000) return InvalidField("sensitivity", "must be between 1 and 1e9");
  if (epsilon.IsNan() || Interval(0).CertainlyAbove(epsilon))
    return InvalidField("epsilon", "must not be negative");
  const Interval variance = Interval::Of(sigma_squared);
  if (variance.Upper() > kMostVariance) return absl::OutOfRangeError("sigma^2 is above 1e8");

  // Outcomes y (of the unshifted neighbour's noise, seen from the other) favour the claim exactly when
  // y > epsilon sigma^2/shift - shift/2; any set of outcomes gives a lower bound, this one the supremum. The
  // threshold's integer part is taken from the lower end and from the upper end alike, or the larger delta of
  // both.
  const Interval threshold = epsilon * variance / Interval(shift) - Quotient({shift}, {2});
  const double least = threshold.Lower();
  if (least > 4e9) return Interval::ZeroUpTo(Weight(4'000'000'000, variance));
  const Interval whole = Interval(2) * TailOverFirst(0, variance) - Interval(1);
  const auto delta_from = [&](int64_t first) {
    return (Tail(first, variance) - Exp(epsilon) * Tail(first + shift, variance)) / whole;
  };
  const auto first = static_cast<int64_t>(std::floor(least)) + 1;
  Interval delta = delta_from(first);
  // When the ends disagree about the integer part, the true set is one of two; their deltas are then nearly
  // equal.
  if (std::floor(threshold.Upper()) != std::floor(least)) delta = Max(delta, delta_from(first + 1));
  return Max(delta, Interval(0));
}

absl::StatusOr<int64_t> DiscreteGaussianSigmaThousandths(const Interval& epsilon, const Interval& delta,
                                                         int64_t shift) {
  if (!epsilon.CertainlyAbove(Interval(0))) return InvalidField("epsilon", "must be positive");
  if (!delta.CertainlyAbove(Interval(0)) || !Interval(1).CertainlyAbove(delta)) {
    return InvalidField("delta", "must be between 0 and 1");
  }
  const auto holds = [&](int64_t thousandths) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const Interval at,
                     DiscreteGaussianDelta({thousandths * thousandths, 1'000'000}, shift, epsilon));
    return at.CertainlyAtMost(delta);
  };
  const double continuous = GaussianSigma(epsilon, delta) * static_cast<double>(shift) * 1000;
  if (!(continuous < 1e7)) return absl::OutOfRangeError("sigma^2 is above 1e8");
  const int64_t start = static_cast<int64_t>(std::ceil(continuous)) + kPointsAbove;

  // Up from the start until enough points in a row hold, then down until enough in a row fail.
  int64_t least = start;
  int64_t held = 0;
  for (int64_t at = start; held <= kPointsAbove; ++at) {
    ASSIGN_OR_RETURN(const bool ok, holds(at));
    held = ok ? held + 1 : 0;
    if (!ok) least = at + 1;
  }
  int64_t at = least - 1;
  for (; at >= 1; --at) {
    ASSIGN_OR_RETURN(const bool ok, holds(at));
    if (!ok) break;
    least = at;
  }
  return least;
}

}  // namespace curator::dp
