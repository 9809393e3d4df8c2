#include "dp/accounting/calculators/gaussian.h"

#include <cmath>

#include "absl/status/status.h"
#include "base/errors.h"
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

}  // namespace curator::dp
