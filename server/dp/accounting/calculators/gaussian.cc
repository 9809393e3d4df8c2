#include "dp/accounting/calculators/gaussian.h"

#include <cmath>

#include "absl/status/status.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/search.h"

namespace curator::dp {
namespace {

// The distribution function of the standard normal.
Interval Phi(const Interval& x) {
  return Erfc(-x / Sqrt(Interval(2))) / Interval(2);
}

// delta in plain doubles: a guide for searches, never an answer.
double RoughDelta(double mu, double epsilon) {
  const auto phi = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  const double other = phi(-mu / 2 - epsilon / mu);
  return phi(mu / 2 - epsilon / mu) - (other > 0 ? std::exp(epsilon + std::log(other)) : 0);
}

}  // namespace

Interval GaussianDelta(const Interval& mu, const Interval& epsilon) {
  const Interval half = mu / Interval(2);
  const Interval shift = epsilon / mu;
  return Max(Phi(half - shift) - Exp(epsilon) * Phi(-half - shift), Interval(0));
}

double GaussianEpsilon(const Interval& mu, const Interval& delta) {
  if (GaussianDelta(mu, Interval(0)).CertainlyAtMost(delta)) return 0;
  const double guess = LeastPositive(1, [mu = mu.Upper(), target = delta.Upper()](double epsilon) {
    return RoughDelta(mu, epsilon) <= target;
  });
  return LeastPositive(std::isfinite(guess) ? guess : 1, [&](double epsilon) {
    return GaussianDelta(mu, Interval::OfDouble(epsilon)).CertainlyAtMost(delta);
  });
}

double GaussianSigma(const Interval& epsilon, const Interval& delta) {
  const double guess = LeastPositive(1, [epsilon = epsilon.Upper(), target = delta.Upper()](double sigma) {
    return RoughDelta(1 / sigma, epsilon) <= target;
  });
  return LeastPositive(std::isfinite(guess) ? guess : 1, [&](double sigma) {
    return GaussianDelta(Interval(1) / Interval::OfDouble(sigma), epsilon).CertainlyAtMost(delta);
  });
}

Rho LargestGaussianRho(Epsilon epsilon, Delta delta) {
  const Interval promise = Interval::Of(epsilon);
  const Interval target = Interval::Of(delta);
  const auto holds = [&](int64_t units) {
    return GaussianDelta(Sqrt(Interval(2) * Interval::Of(Rho(units))), promise).CertainlyAtMost(target);
  };
  int64_t low = 0;
  int64_t high = 1;
  constexpr int64_t kMost = int64_t{1} << 60;
  while (high < kMost && holds(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return Rho(low);
}

absl::StatusOr<double> ClassicGaussianSigma(const Interval& epsilon, const Interval& delta) {
  if (!epsilon.CertainlyAtMost(Interval(1))) {
    return InvalidField("epsilon",
                        "must be at most 1 for the classic formula: above, its noise is not private");
  }
  return (Sqrt(Interval(2) * Log(Quotient({5}, {4}) / delta)) / epsilon).Upper();
}

absl::StatusOr<Interval> SquaredMuOfSchedule(const Schedule& schedule) {
  Interval sum(0);
  for (const CountedEvent& part : schedule) {
    if (!std::holds_alternative<GaussianEvent>(part.event.what)) {
      return absl::FailedPreconditionError("Gaussian DP counts continuous Gaussian mechanisms only, not " +
                                           Describe(part.event));
    }
    sum = sum + Interval(part.count) * *SquaredMuOf(part.event);
  }
  return sum;
}

namespace {

constexpr double kMostVariance = 1e18;
constexpr int64_t kMostShift = 1'000'000'000;
// From this variance on, sums are not summed.
constexpr double kSmoothVariance = 4000;
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

// The sum of f(y) = e^(-y^2/(2 V)) over y >= first >= 0, by Euler and Maclaurin: the integral, then
//   f/2 - f'/12 + f'''/720 - f^(5)/30240 + f^(7)/1209600 at `first`, +- R,
//   R <= 2 zeta(8)/(2 pi)^8 integral of |f^(8)| = (1/1209600) integral of |f^(8)|.
// With t = first/sqrt(V), f^(k) = (-1)^k V^(-k/2) He_k(t) f. He8 > 0 beyond its last root, 4.144...: there
// the integral is |f^(7)|. Anywhere it is at most
//   V^(-7/2) sqrt(2 pi) E|He8(Z)| <= V^(-7/2) sqrt(2 pi 8!) < 504 V^(-7/2).
Interval SmoothTail(int64_t first, const Interval& variance) {
  const Interval root = Sqrt(variance);
  const Interval t = Interval(first) / root;
  const Interval square = t * t;
  const Interval weight = Weight(first, variance);
  const Interval hermite3 = t * (square - Interval(3));
  const Interval hermite5 = t * (square * (square - Interval(10)) + Interval(15));
  const Interval hermite7 = t * (square * (square * (square - Interval(21)) + Interval(105)) - Interval(105));
  const Interval power3 = variance * root;
  const Interval power5 = variance * power3;
  const Interval power7 = variance * power5;
  const Interval integral = root * Sqrt(Interval::Pi() / Interval(2)) * Erfc(t / Sqrt(Interval(2)));
  const Interval series = Quotient({1}, {2}) + t / (Interval(12) * root) -
                          hermite3 / (Interval(720) * power3) + hermite5 / (Interval(30240) * power5) -
                          hermite7 / (Interval(1'209'600) * power7);
  const bool beyond_roots = t.CertainlyAbove(Quotient({415}, {100}));
  const Interval remainder =
      (beyond_roots ? hermite7 * weight : Interval(504)) / (Interval(1'209'600) * power7);
  return integral + series * weight - remainder + Interval::ZeroUpTo(Interval(2) * remainder);
}

Interval NonNegativeTail(int64_t first, const Interval& variance) {
  if (variance.Lower() >= kSmoothVariance) return SmoothTail(first, variance);
  return Weight(first, variance) * TailOverFirst(first, variance);
}

// The sum of all weights.
Interval Whole(const Interval& variance) {
  return Interval(2) * NonNegativeTail(0, variance) - Interval(1);
}

// The sum of the weights of y >= first. Below 0: y < first is -y >= 1 - first.
Interval Tail(int64_t first, const Interval& variance) {
  if (first >= 0) return NonNegativeTail(first, variance);
  return Whole(variance) - NonNegativeTail(1 - first, variance);
}

absl::Status CheckVariance(Rational sigma_squared) {
  if (sigma_squared.numerator > 0 && sigma_squared.denominator > 0) return absl::OkStatus();
  return InvalidField("sigma_squared", "must be positive");
}

absl::StatusOr<Interval> DeltaOf(const Interval& variance, int64_t shift, const Interval& epsilon) {
  if (shift < 1 || shift > kMostShift) return InvalidField("sensitivity", "must be between 1 and 1e9");
  if (epsilon.IsNan() || Interval(0).CertainlyAbove(epsilon))
    return InvalidField("epsilon", "must not be negative");
  if (variance.Upper() > kMostVariance) return absl::OutOfRangeError("sigma^2 is above 1e18");

  // Outcomes y (of the unshifted neighbour's noise, seen from the other) favour the claim exactly when
  // y > epsilon sigma^2/shift - shift/2; any set of outcomes gives a lower bound, this one the supremum. The
  // threshold's integer part is taken from the lower end and from the upper end alike, or the larger delta of
  // both.
  const Interval threshold = epsilon * variance / Interval(shift) - Quotient({shift}, {2});
  const double least = threshold.Lower();
  constexpr int64_t kFarAway = int64_t{1} << 52;
  if (least > static_cast<double>(kFarAway)) return Interval::ZeroUpTo(Tail(kFarAway, variance));
  const Interval whole = Whole(variance);
  const auto delta_from = [&](int64_t first) {
    const Interval mass = Tail(first, variance);
    const Interval excess = mass - Exp(epsilon) * Tail(first + shift, variance);
    return (excess.IsNan() ? Interval::ZeroUpTo(mass) : excess) /
           whole;  // NaN where an exponential overflows
  };
  const auto first = static_cast<int64_t>(std::floor(least)) + 1;
  Interval delta = delta_from(first);
  // When the ends disagree about the integer part, the true set is one of two; their deltas are then nearly
  // equal.
  if (std::floor(threshold.Upper()) != std::floor(least)) delta = Max(delta, delta_from(first + 1));
  return TighterUpperBound(Max(delta, Interval(0)), Interval(1));
}

// ((1+e)/(1-e))^(n-1) of UnitShiftsDelta(), which is 1 but for a hair or refused; the sum in e is below a
// geometric series.
absl::StatusOr<Interval> SumFactor(const Interval& variance, int64_t shifted) {
  if (shifted == 1) return Interval(1);
  const Interval ratio = Exp(-(Interval::Pi() * Interval::Pi() * variance));
  const Interval error = Interval(2) * ratio / (Interval(1) - ratio);
  if (!Quotient({1}, {10'000'000}).CertainlyAbove(Interval(shifted) * error)) {
    return absl::OutOfRangeError("sigma^2 is too small for so many coordinates");
  }
  return Exp(Interval(shifted - 1) * (Log1p(error) - Log1p(-error)));
}

}  // namespace

absl::StatusOr<Interval> DiscreteGaussianDelta(Rational sigma_squared, int64_t shift,
                                               const Interval& epsilon) {
  RETURN_IF_ERROR(CheckVariance(sigma_squared));
  return DeltaOf(Interval::Of(sigma_squared), shift, epsilon);
}

absl::StatusOr<Interval> UnitShiftsDelta(Rational sigma_squared, int64_t shifted, const Interval& epsilon) {
  RETURN_IF_ERROR(CheckVariance(sigma_squared));
  if (shifted < 1) return InvalidField("sensitivity", "must be at least 1");
  const Interval variance = Interval::Of(sigma_squared);
  ASSIGN_OR_RETURN(const Interval factor, SumFactor(variance, shifted));
  ASSIGN_OR_RETURN(const Interval one_shift, DeltaOf(Interval(shifted) * variance, shifted, epsilon));
  return factor * one_shift;
}

absl::StatusOr<double> UnitShiftsEpsilon(Rational sigma_squared, int64_t shifted, const Interval& delta) {
  ASSIGN_OR_RETURN(const Interval at_zero, UnitShiftsDelta(sigma_squared, shifted, Interval(0)));
  if (at_zero.CertainlyAtMost(delta)) return 0;
  const double guess = GaussianEpsilon(Sqrt(Interval(shifted) / Interval::Of(sigma_squared)), delta);
  return LeastPositive(guess > 0 && std::isfinite(guess) ? guess : 1, [&](double epsilon) {
    return UnitShiftsDelta(sigma_squared, shifted, Interval::OfDouble(epsilon))->CertainlyAtMost(delta);
  });
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
  if (!(continuous < 1e9)) return absl::OutOfRangeError("sigma^2 is above 1e12");
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
