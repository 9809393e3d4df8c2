// Discrete Laplace of rate r = 1/scale, in a form in which nothing cancels:
//
//   M(z) = (1 - q)^2 / ((1 - q e^z) (1 - q e^-z)) = 1 / (1 - (sinh(z/2) / sinh(r/2))^2).
//
// Discrete Gaussian: the sum of exp(-x^2 / (2 sigma^2) + z x) over the integers near its largest term when
// sigma is small, else by Poisson summation exp(sigma^2 z^2 / 2) times the sum over k of
// exp(-2 pi^2 sigma^2 k^2 + 2 pi i k sigma^2 z), of which |k| <= 2 leaves exp(-8 pi^2 sigma^2).
#include "dp/workload/moment_function.h"

#include <cmath>
#include <numbers>

#include "dp/noise/discrete_distributions.h"

namespace curator::dp {
namespace {

using Real = MomentFunction::Real;
using Complex = MomentFunction::Complex;

constexpr Real kPi = std::numbers::pi_v<Real>;
constexpr Real kPoissonFrom = 0.5;  // sigma squared
constexpr int kNearTerms = 12;      // on either side: 17 sigma at least

Real Value(Rational rational) {
  return static_cast<Real>(rational.numerator) / static_cast<Real>(rational.denominator);
}

}  // namespace

MomentFunction::MomentFunction(const NoiseSpec& noise)
    : mechanism_(noise.mechanism), parameter_(Value(noise.parameter)) {
  if (mechanism_ == Mechanism::kDiscreteLaplace) {
    half_rate_sinh_ = std::sinh(1 / (2 * parameter_));
    variance_ = DiscreteLaplaceVariance(noise.parameter);
  } else {
    variance_ = DiscreteGaussianVariance(noise.parameter);
    log_at_zero_ = LogGaussian(0).real();
  }
}

std::optional<Real> MomentFunction::pole() const {
  if (mechanism_ == Mechanism::kDiscreteGaussian) return std::nullopt;
  return 1 / parameter_;
}

Complex MomentFunction::Log(Complex z) const {
  if (mechanism_ == Mechanism::kDiscreteGaussian) return LogGaussian(z) - log_at_zero_;
  const Complex ratio = std::sinh(z / Real{2}) / half_rate_sinh_;
  const Complex square = ratio * ratio;
  if (z.imag() == 0) return -std::log1p(-square.real());
  return -std::log(Real{1} - square);
}

Complex MomentFunction::LogGaussian(Complex z) const {
  if (parameter_ >= kPoissonFrom) {
    Complex sum = 1;
    for (int k = 1; k <= 2; ++k) {
      const Real decay = -2 * kPi * kPi * parameter_ * k * k;
      const Complex turn = Complex(0, 2 * kPi * k * parameter_) * z;
      sum += std::exp(decay + turn) + std::exp(decay - turn);
    }
    return parameter_ * z * z / Real{2} + std::log(sum);
  }
  const Real centre = std::round(parameter_ * z.real());
  const Real largest = centre * (z.real() - centre / (2 * parameter_));
  Complex sum = 0;
  for (int step = -kNearTerms; step <= kNearTerms; ++step) {
    const Real x = centre + step;
    const Real size = x * (z.real() - x / (2 * parameter_)) - largest;
    sum += std::exp(size) * Complex(std::cos(z.imag() * x), std::sin(z.imag() * x));
  }
  return largest + std::log(sum);
}

Real MomentFunction::LogRatioBound(Real theta, Real t) const {
  if (mechanism_ == Mechanism::kDiscreteLaplace)
    return Log(Complex(theta, t)).real() - Log(Complex(theta, 0)).real();
  if (parameter_ >= kPoissonFrom) {
    const Real first =
        std::exp(-2 * kPi * parameter_ * (kPi - t)) + std::exp(-2 * kPi * parameter_ * (kPi + t));
    const Real rest = 3 * std::exp(-4 * kPi * kPi * parameter_);   // k = 2 and -2, and all beyond
    const Real floor = 3 * std::exp(-2 * kPi * kPi * parameter_);  // what M(theta) may lack
    return -parameter_ * t * t / 2 + std::log1p(first + rest) - std::log1p(-floor);
  }
  const Real half_sine = std::sin(t / 2);
  return std::log1p(-4 * NeighbourMass(theta) * half_sine * half_sine) / 2;
}

Real MomentFunction::NeighbourMass(Real theta) const {
  const Real centre = std::round(parameter_ * theta);
  const auto weight = [&](Real x) {
    return std::exp(x * (theta - x / (2 * parameter_)) - centre * (theta - centre / (2 * parameter_)));
  };
  Real total = 0;
  Real pairs = 0;
  for (int step = -kNearTerms; step <= kNearTerms; ++step) {
    total += weight(centre + step);
    pairs += weight(centre + step) * weight(centre + step + 1);
  }
  return pairs / (total * total);
}

}  // namespace curator::dp
