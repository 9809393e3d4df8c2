// Intervals of ratios of noisy numbers, and of what is made of several of them.
//
// Mean (Fieller, "Some problems in interval estimation", 1954). Let S be the noisy sum of deviations from a
// centre and N the noisy count, with independent noise of known laws. For the true mean t (as a deviation) S
// - t N is noise alone: X_S - t X_N. So the numbers t for which |S - t N| is at most the half width q(t) of
// that noise hold the true one with exactly the level, however few records there are. q is convex in t, and
// S - t N is linear, so on either side of S / N there is one end where N is larger than the half width of
// its own noise; else the set is unbounded.
//
// Variance. With Q the sum of squares, m the mean and v the variance, Q - 2 m S + m^2 N = v (N - 1) for the
// true numbers. So with the noisy ones, and S^2 less the variance of its noise, which its square has too
// much,
//
//   D(v) = Q - (S^2 - Var X_S) / N - v (N - 1)
//
// is noise: X_Q - 2 m X_S + (m^2 - v) X_N, to the first order; the noise of Q has a part of X_N as well,
// where squares are summed less a centre c: (c + m^2 - v) X_N. Of the second order, -(X_S^2 - Var X_S) / N
// is added as a fourth term of its own deviation. v is not excluded where |D(v)| is at most the half width
// of the sum of these four. The square of the mean is not known: S has an estimate of it, and so has Q, by Q
// / N - v for the v in question; both are averaged with the reciprocals of their variances as weights. (With
// S alone intervals hold their level less often near the bounds, 92% at N = 10 deviations, and with Q alone
// more often in the middle, 97%.) Where N - 1 is at most kClear half widths of its noise, nothing is said.
//
// Laws. Gaussian noise: a normal law of the discrete noise's variances. Laplace noise: with scales b_i, all
// different, a sum of independent Laplace values has
//
//   P(|X| > w) = sum_i exp(-w / b_i) product_{j != i} b_i^2 / (b_i^2 - b_j^2)
//
// by partial fractions of the characteristic function 1 / product (1 + b_i^2 u^2); scales that are nearly
// equal are moved apart, upwards, by a part in 5,000. Half a step of the lattice is added to half widths.
//
// Thread-safe: plain values and pure functions; the same input gives the same doubles.
#pragma once

#include <span>

#include "dp/noise/noise_spec.h"

namespace curator::dp {

// The law of sums of a few independent noise values of one kind, by their standard deviations.
class NoiseSums {
 public:
  // 0 < level < 1.
  NoiseSums(Mechanism mechanism, double level);

  // Whether such a sum is larger than `distance` in absolute value with less probability than 1 - level. At
  // most kMostTerms deviations, not negative.
  static constexpr size_t kMostTerms = 4;
  bool Excludes(double distance, std::span<const double> deviations) const;

  // The least distance that it excludes.
  double HalfWidth(std::span<const double> deviations) const;

  // Of the square of a value of this kind: its standard deviation, in units of the variance.
  double DeviationOfSquare() const;

 private:
  const bool is_laplace_;
  const double excluded_;
  double normal_ = 0;  // the half width of a standard normal value
};

struct EstimateWithEnds {
  double value = 0;
  double standard_deviation = 0;
  double low = 0;
  double high = 0;
};

// All in steps: the values of a column less a centre.
struct NoisyMoments {
  double count = 0;
  double sum = 0;
  double squares = 0;          // of the deviations from the centre
  double count_deviation = 0;  // standard deviations of the noise of each
  double sum_deviation = 0;
  double squares_deviation = 0;  // without the part that `count` has in it
  double centre_of_squares = 0;  // that part: how many times the count was added to the squares
  double step_of_squares = 1;    // squares were rounded to multiples of this
  double least = 0;              // the bounds of a deviation
  double most = 0;
};

// The mean deviation from the centre. NaN where the count is not positive; infinite ends where it is not
// clear of 0; else all within the bounds.
EstimateWithEnds MeanOf(const NoiseSums& noise, const NoisyMoments& moments);

// The variance, with the divisor count - 1, of the numbers in the bounds: at most that of as many at either
// end. NaN where the count is at most 1; infinite ends where it is not clear of 1.
inline constexpr double kClear = 3;
EstimateWithEnds VarianceOf(const NoiseSums& noise, const NoisyMoments& moments);

}  // namespace curator::dp
