// The distribution of a linear combination of many independent noise values: the error of a least-squares
// estimate, S = sum of a_i X_i with known weights a_i.
//
// Half widths. Let V be a random value in [-h, h], independent of S. |S| > w implies |S + V| > w - h, so
//
//   P(|S| > w) <= P(|S + V| > w - h).
//
// The right side is computed by Fourier inversion. With the characteristic functions f of S and g of V, both
// real, the trapezoidal rule with steps of 2 pi / L for
//
//   P(|S + V| <= x) = 2/pi integral over t >= 0 of sin(x t) / t f(t) g(t) dt
//
// gives exactly the sum over all integers j of P(|S + V - j L| <= x) (Poisson's sum), which is too large by
// at most P(|S + V| > L - x); L is chosen by Chernoff's bound. V has the density of Kaiser and Bessel,
// proportional to I0(b sqrt(1 - (v/h)^2)), with
//
//   g(t) = b / sinh(b) sinh(r) / r,   r = sqrt(b^2 - (h t)^2), a sine where r is imaginary.
//
// Points with h t > b are not summed: |g(t)| / t is below a falling function there, and the integral of
// min(1, 1/|r|) / t is at most pi / (2 b), so they add 1 / sinh(b) at most. All that is left out is added to
// the result, and is below 0.05% of it; h is 0.4% of a standard deviation. So a half width is never too
// small, and is larger than the smallest possible by 0.5% of a standard deviation at most. (Abate and Whitt
// 1992 have the inversion with Poisson's sum; Kaiser and Schafer 1980 the density and its transform.)
//
// Bounds. Where the weights are not known, or the probability is below 1e-7, bounds from the sum of squares v
// and the largest weight m are used:
//
//   - Chernoff's, from ln E exp(u X) = u^2/2 times a function that rises with |u| (Laplace), or at most
//     sigma^2 u^2 / 2 (Gaussian; Canonne, Kamath, Steinke 2020, Lemma 5.2).
//   - For Gaussian values whose parameters s_i may differ, all at least s >= 2: P(|S| > w) <= (1 + 1e-7)
//     exp(1/(24 s)) P(|N| > w - m/2) with a normal N whose variance is the sum of s_i a_i^2. Let |a_i| fall,
//     so |a_1| = m. The probabilities of X_1 are at most exp(1/(24 s_1)) times those of a normal value of
//     variance s_1 rounded to an integer (Jensen's inequality for the integral around each integer; Poisson's
//     sum for the constant). With the normal value itself in its place, S moves by m/2 at most. Each
//     further a_i X_i is then added to a value whose density is at most C times a normal one of variance B,
//     the sum of s_j a_j^2 for j < i. By Poisson's sum the density of the sum is at most
//     C (1 + 2 (r + r^4 + r^9 + ...)) times a normal one of variance B + s_i a_i^2, with
//     r = exp(-2 pi^2 u) and 1/u = 1/s_i + a_i^2/B. Since B >= (i - 1) s a_i^2, u >= s (i - 1)/i >=
//     2 (i - 1)/i. So the logarithms of these factors sum to less than 1e-8 for 2^26 values.
//
// Thread-safe: immutable values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dp/noise/noise_spec.h"

namespace curator::dp {

// Values that enter a combination with the same weight. Bounds are also for a `count` that is not whole.
struct WeightedValues {
  double weight = 1;  // its absolute value, which is all that counts: the noise is symmetric
  double count = 1;
  bool operator==(const WeightedValues&) const = default;
};

// The combination with equal weights taken together, up to 1e-12 of them, the largest first; without weights
// of 0.
std::vector<WeightedValues> Compacted(std::vector<WeightedValues> values);

// The half width of the interval around an estimate that holds the true value with probability `level`, as
// above. `steps`, of some 20 ns each, is reduced by those that it takes. Nothing where they are used up
// before the end, where 1 - level is below 1e-7, or where more than 2^17 points would be summed: noise that
// is almost always 0. `noise` valid, `values` not empty and Compacted(), 0 < level < 1.
std::optional<double> CombinationHalfWidth(const NoiseSpec& noise, std::span<const WeightedValues> values,
                                           double level, int64_t& steps);

// E|S|, of a continuous noise of the same kind and variance: for forecasts. From the characteristic function
// f, 2/pi times the integral over t >= 0 of (1 - f(t)) / t^2. `values` not empty.
double MeanAbsoluteValue(const NoiseSpec& noise, std::span<const WeightedValues> values);

// The bounds above of a half width, and of P(|S| > w), w >= 0, from v and m.
double HalfWidthBound(const NoiseSpec& noise, double sum_of_squares, double largest_weight, double level);
double TailBound(const NoiseSpec& noise, double sum_of_squares, double largest_weight, double w);

// The same for Gaussian values whose parameters differ: `variance` is the sum of each one's parameter times
// its squared weight, `least_parameter` the least of the parameters. TailBoundOfGaussians() at the half width
// is at most 1 - level. Many half widths of one `least_parameter` and `level` in turn take a few steps each.
double HalfWidthBoundOfGaussians(double least_parameter, double variance, double largest_weight,
                                 double level);
double TailBoundOfGaussians(double least_parameter, double variance, double largest_weight, double w);

}  // namespace curator::dp
