// Log-probabilities of the noise distributions in floating point: the reference of statistical tests.
//
// Correct to 1e-9 relative for scales and sigmas from 1e-3 to 1e12. Thread-safe: pure functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "dp/accounting/units.h"

namespace curator::dp {

// ln P(X = x) for P(x) ~ exp(-|x| / scale).
inline double DiscreteLaplaceLogProbability(Rational scale, int64_t x) {
  using Real = long double;
  const Real rate = static_cast<Real>(scale.denominator) / static_cast<Real>(scale.numerator);
  return static_cast<double>(std::log(std::tanh(rate / 2)) - std::fabs(static_cast<Real>(x)) * rate);
}

// ln P(X = x) for P(x) ~ exp(-x^2 / (2 sigma_squared)). The normaliser is summed directly for a sigma below
// 1, else by Poisson summation; either way the terms left out are below exp(-300) of it.
inline double DiscreteGaussianLogProbability(Rational sigma_squared, int64_t x) {
  using Real = long double;
  constexpr Real kPi = std::numbers::pi_v<Real>;
  const Real variance =
      static_cast<Real>(sigma_squared.numerator) / static_cast<Real>(sigma_squared.denominator);
  const bool is_wide = variance >= 1;
  const Real rate = is_wide ? 2 * kPi * kPi * variance : 1 / (2 * variance);
  Real normaliser = 0;
  for (int k = is_wide ? 4 : 40; k >= 1; --k) normaliser += 2 * std::exp(-rate * k * k);
  normaliser += 1;
  if (is_wide) normaliser *= std::sqrt(2 * kPi * variance);
  const auto real = static_cast<Real>(x);
  return static_cast<double>(-real * real / (2 * variance) - std::log(normaliser));
}

}  // namespace curator::dp
