// The moment generating functions of the noise, on the complex line theta + i t: what noise_sum integrates.
//
// Thread-safe: immutable values.
#pragma once

#include <complex>
#include <optional>

#include "dp/workload/noise_spec.h"

namespace curator::dp {

// E exp(z X) for one noise value X.
class MomentFunction {
 public:
  using Real = long double;
  using Complex = std::complex<long double>;

  explicit MomentFunction(const NoiseSpec& noise);

  Real variance() const { return variance_; }

  // Where the function has its pole; none for Gaussian noise.
  std::optional<Real> pole() const;

  // ln M(z). Any branch of the logarithm: it is to be raised to whole powers.
  Complex Log(Complex z) const;

  // A bound of ln |M(theta + i t)| - ln M(theta) that holds for all of [t, pi].
  //
  // Laplace: 1/|M|^2 rises with |t| on [0, pi], so the value itself. Gaussian with sigma^2 >= 1/2: the terms
  // of the Poisson sum by absolute value, sigma^2 t^2 / 2 down and at most ln 2 up. Gaussian below: with the
  // tilted probabilities p_x, |sum p_x exp(i t x)|^2 = 1 - sum p_x p_y (1 - cos(t (x - y))), of which only
  // neighbours are kept.
  Real LogRatioBound(Real theta, Real t) const;

 private:
  Complex LogGaussian(Complex z) const;
  Real NeighbourMass(Real theta) const;

  const Mechanism mechanism_;
  Real parameter_ = 1;       // the scale, or sigma squared
  Real half_rate_sinh_ = 1;  // of Laplace noise: sinh(1 / (2 scale))
  Real variance_ = 0;
  Real log_at_zero_ = 0;  // of Gaussian noise, before it is normalised
};

}  // namespace curator::dp
