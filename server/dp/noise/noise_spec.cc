// Discrete Laplace: closed forms in q = exp(-1/scale), written with hyperbolic functions so that nothing
// cancels.
//
// Discrete Gaussian: below kSeriesFromSigma, sums over the integers up to 40 sigma (the rest is below
// exp(-800)). Above it, Poisson summation for the normaliser Z and the variance,
// Z = sqrt(2 pi sigma^2) (1 + 2 sum_k exp(-2 pi^2 sigma^2 k^2)), whose terms are then below exp(-19), and the
// Euler-Maclaurin formula for one-sided sums, whose first neglected terms are given at each use.
#include "dp/noise/noise_spec.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.h"

namespace curator::dp {
namespace {

using Real = long double;
constexpr Real kPi = std::numbers::pi_v<Real>;
constexpr Real kSeriesFromSigma = 200;

Real Value(Rational rational) {
  return static_cast<Real>(rational.numerator) / static_cast<Real>(rational.denominator);
}

// The largest magnitude that a sum over the integers includes.
int64_t LastTerm(Real sigma_squared) {
  return static_cast<int64_t>(40 * std::sqrt(sigma_squared)) + 2;
}

Real Density(Real sigma_squared, Real x) {
  return std::exp(-x * x / (2 * sigma_squared));
}

// sum over all integers x of exp(-x^2 / (2 sigma^2)).
Real Normaliser(Real sigma_squared) {
  if (sigma_squared >= 1) {
    Real sum = 1;
    for (int k = 1; k <= 3; ++k) sum += 2 * std::exp(-2 * kPi * kPi * sigma_squared * k * k);
    return std::sqrt(2 * kPi * sigma_squared) * sum;
  }
  Real sum = 0;
  for (int64_t x = LastTerm(sigma_squared); x >= 1; --x)
    sum += 2 * Density(sigma_squared, static_cast<Real>(x));
  return sum + 1;
}

// P(|X| > w) for sigma >= kSeriesFromSigma, relative to its own size: the midpoint form of Euler-Maclaurin,
// sum_{x > w} f(x) = integral from w + 1/2 of f + f'(w + 1/2)/24 - ..., the next term being smaller by
// (z/sigma)^2 for w = z sigma, that is, below 1e-3 times an f'/24 that is itself below z/(24 sigma^2) times
// the sum.
Real GaussianTail(Real sigma_squared, Real w) {
  const Real sigma = std::sqrt(sigma_squared);
  const Real edge = w + Real{0.5};
  const Real integral = sigma * std::sqrt(kPi / 2) * std::erfc(edge / (sigma * std::numbers::sqrt2_v<Real>));
  const Real slope = -edge / sigma_squared * Density(sigma_squared, edge);
  return 2 * (integral + slope / 24) / Normaliser(sigma_squared);
}

absl::Status CheckLevel(double level) {
  if (level > 0 && level < 1) return absl::OkStatus();
  return InvalidField("level", "must be above 0 and below 1");
}

int64_t SmallSigmaHalfWidth(Real sigma_squared, Real excluded) {
  const Real allowed = excluded * Normaliser(sigma_squared);
  Real tail = 0;
  int64_t w = LastTerm(sigma_squared);
  for (; w >= 1; --w) {
    tail += 2 * Density(sigma_squared, static_cast<Real>(w));  // now P(|X| > w - 1), times the normaliser
    if (tail > allowed) break;
  }
  return w;
}

int64_t LargeSigmaHalfWidth(Real sigma_squared, Real excluded) {
  int64_t enough = LastTerm(sigma_squared);
  int64_t short_of = -1;
  while (enough - short_of > 1) {
    const int64_t middle = short_of + (enough - short_of) / 2;
    (GaussianTail(sigma_squared, static_cast<Real>(middle)) <= excluded ? enough : short_of) = middle;
  }
  return enough;
}

}  // namespace

std::string_view MechanismName(Mechanism mechanism) {
  return mechanism == Mechanism::kDiscreteLaplace ? "discrete Laplace" : "discrete Gaussian";
}

absl::Status Validate(const NoiseSpec& noise) {
  if (noise.parameter.numerator <= 0 || noise.parameter.denominator <= 0) {
    return absl::InvalidArgumentError("the noise parameter must be a positive quotient of positive integers");
  }
  return absl::OkStatus();
}

ErrorForecast ForecastError(const NoiseSpec& noise) {
  if (noise.mechanism == Mechanism::kDiscreteLaplace) {
    return {.standard_deviation = std::sqrt(DiscreteLaplaceVariance(noise.parameter)),
            .expected_absolute_error = DiscreteLaplaceMeanAbsoluteValue(noise.parameter)};
  }
  return {.standard_deviation = std::sqrt(DiscreteGaussianVariance(noise.parameter)),
          .expected_absolute_error = DiscreteGaussianMeanAbsoluteValue(noise.parameter)};
}

absl::StatusOr<int64_t> ConfidenceHalfWidth(const NoiseSpec& noise, double level) {
  if (!(level > 0 && level < 1)) {
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  }
  return noise.mechanism == Mechanism::kDiscreteLaplace ? DiscreteLaplaceHalfWidth(noise.parameter, level)
                                                        : DiscreteGaussianHalfWidth(noise.parameter, level);
}

double DiscreteLaplaceVariance(Rational scale) {
  if (scale.numerator == 0) return 0;
  const Real s = std::sinh(1 / (2 * Value(scale)));
  return static_cast<double>(1 / (2 * s * s));
}

double DiscreteLaplaceMeanAbsoluteValue(Rational scale) {
  if (scale.numerator == 0) return 0;
  return static_cast<double>(1 / std::sinh(1 / Value(scale)));
}

// P(|X| > w) = 2 q^(w+1) / (1 + q) <= 1 - level.
absl::StatusOr<int64_t> DiscreteLaplaceHalfWidth(Rational scale, double level) {
  if (absl::Status status = CheckLevel(level); !status.ok()) return status;
  if (scale.numerator == 0) return 0;
  const Real b = Value(scale);
  const Real excluded = 1 - static_cast<Real>(level);
  const Real w = std::ceil(b * (std::log(2 / excluded) - std::log1p(std::exp(-1 / b)))) - 1;
  return std::max<int64_t>(0, static_cast<int64_t>(w));
}

double DiscreteGaussianVariance(Rational sigma_squared) {
  if (sigma_squared.numerator == 0) return 0;
  const Real s2 = Value(sigma_squared);
  if (s2 >= 1) {  // minus the derivative of ln Z by 1/(2 sigma^2)
    Real sum = 1;
    Real weighted = 0;
    for (int k = 1; k <= 3; ++k) {
      const Real term = 2 * std::exp(-2 * kPi * kPi * s2 * k * k);
      sum += term;
      weighted += k * k * term;
    }
    return static_cast<double>(s2 - 4 * kPi * kPi * s2 * s2 * weighted / sum);
  }
  Real moment = 0;
  for (int64_t x = LastTerm(s2); x >= 1; --x) {
    const auto real = static_cast<Real>(x);
    moment += 2 * real * real * Density(s2, real);
  }
  return static_cast<double>(moment / Normaliser(s2));
}

double DiscreteGaussianMeanAbsoluteValue(Rational sigma_squared) {
  if (sigma_squared.numerator == 0) return 0;
  const Real s2 = Value(sigma_squared);
  Real moment = 0;
  if (s2 >= kSeriesFromSigma * kSeriesFromSigma) {
    // Euler-Maclaurin at 0 for x exp(-x^2 / (2 sigma^2)): the next term is below 1/(2000 sigma^4).
    moment = 2 * (s2 - Real{1} / 12 - 1 / (240 * s2));
  } else {
    for (int64_t x = LastTerm(s2); x >= 1; --x) {
      moment += 2 * static_cast<Real>(x) * Density(s2, static_cast<Real>(x));
    }
  }
  return static_cast<double>(moment / Normaliser(s2));
}

absl::StatusOr<int64_t> DiscreteGaussianHalfWidth(Rational sigma_squared, double level) {
  if (absl::Status status = CheckLevel(level); !status.ok()) return status;
  if (sigma_squared.numerator == 0) return 0;
  const Real s2 = Value(sigma_squared);
  const Real excluded = 1 - static_cast<Real>(level);
  return s2 >= kSeriesFromSigma * kSeriesFromSigma ? LargeSigmaHalfWidth(s2, excluded)
                                                   : SmallSigmaHalfWidth(s2, excluded);
}

}  // namespace curator::dp
