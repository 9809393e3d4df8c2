// The privacy curves of the continuous and of the discrete Gaussian mechanism, in both directions, and the
// least noise for a promise.
//
// The continuous one, with mu = L2 sensitivity / sigma:
//   delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)  (Balle, Wang 2018, Thm 8).
// Adaptive composition of Gaussian mechanisms with fixed parameters is a Gaussian mechanism whose mu^2 is the
// sum of theirs (Dong, Roth, Su 2022, Cor. 3.3). Neither holds for the discrete Gaussian, which has its own
// curve.
//
// Results are doubles rounded up: certified. Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/interval.h"
#include "dp/accounting/units.h"

namespace curator::dp {

// delta at `epsilon` >= 0, enclosed. mu > 0.
Interval GaussianDelta(const Interval& mu, const Interval& epsilon);

// The least epsilon >= 0 with delta at most `delta`; 0 < delta < 1.
double GaussianEpsilon(const Interval& mu, const Interval& delta);

// The least sigma for L2 sensitivity 1 that is (epsilon, delta)-DP; multiply by the sensitivity. epsilon > 0.
double GaussianSigma(const Interval& epsilon, const Interval& delta);

// The largest rho = 1/(2 sigma^2), in units, that is (epsilon, delta)-DP for L2 sensitivity 1; 0 when one
// unit is too much. Searched over integers with certified answers, so it is the same on every machine.
Rho LargestGaussianRho(Epsilon epsilon, Delta delta);

// sqrt(2 ln(1.25/delta))/epsilon, the textbook's sigma for L2 sensitivity 1 (Dwork, Roth 2014, Thm A.1). Its
// proof needs epsilon <= 1: INVALID_ARGUMENT above, where the result would not be private.
absl::StatusOr<double> ClassicGaussianSigma(const Interval& epsilon, const Interval& delta);

// The squared mu of a schedule of continuous Gaussian mechanisms (Gaussian DP). FAILED_PRECONDITION when
// it has any other mechanism, discrete Gaussians included.
absl::StatusOr<Interval> SquaredMuOfSchedule(const Schedule& schedule);

// ---- The discrete Gaussian: its own curve (Canonne, Kamath, Steinke 2020, Thm 7) and calibration
//
// It is not the curve of the continuous Gaussian of the same variance: at integer shifts it lies sometimes
// above and sometimes below. Supported: one coordinate shifted by an integer, or many shifted by 1. Results
// are certified.

// delta at `epsilon` >= 0, enclosed, of noise with parameter sigma^2 (P(x) ~ e^(-x^2/(2 sigma^2))) on a count
// that a neighbour changes by `shift` >= 1:
//   P[X > epsilon sigma^2/shift - shift/2] - e^epsilon P[X > epsilon sigma^2/shift + shift/2].
// Sums of more than some thousand terms are evaluated by the Euler-Maclaurin formula with its remainder.
// Errors: INVALID_ARGUMENT for numbers out of range; OUT_OF_RANGE when sigma^2 exceeds 1e18.
absl::StatusOr<Interval> DiscreteGaussianDelta(Rational sigma_squared, int64_t shift,
                                               const Interval& epsilon);

// delta at `epsilon`, rounded up, when at most `shifted` >= 1 coordinates of a vector shift, each by 1, and
// every coordinate gets noise of its own; several draws are one longer vector.
//
// Proof. The loss is (n - 2K)/(2 sigma^2), where K is the sum of the n shifted coordinates' noise, so only
// the law of K counts; fewer shifted coordinates are a projection of more. Let K_j be the sum of j. Adding
// one more,
//   P[K_j = i] P[X = k - i] = F(i) exp(-k^2/(2 (j+1) sigma^2)) exp(-(i - c_k)^2/(2 v)),  v = sigma^2 j/(j+1),
// and by Poisson summation the sum over i of the last factor is, for every c_k, within 1 +- e of one
// constant, e = 2 sum of exp(-2 pi^2 v i^2) over i >= 1. So the law of K_n is at most ((1+e)/(1-e))^(n-1)
// times the discrete Gaussian's of variance n sigma^2, point by point, with e taken at v = sigma^2/2, the
// least; and for that law shifted by n the loss at k is (n - 2k)/(2 sigma^2) too: delta is at most that
// factor times DiscreteGaussianDelta(n sigma^2, n, epsilon). (The factor is the one of Kairouz, Liu, Steinke
// 2021 for sums of discrete Gaussians.) Errors: as above; OUT_OF_RANGE when sigma^2 is so small (about 2)
// that the factor exceeds 1 by 1e-6.
absl::StatusOr<Interval> UnitShiftsDelta(Rational sigma_squared, int64_t shifted, const Interval& epsilon);

// The least epsilon >= 0, to about 50 bits and rounded up, at which UnitShiftsDelta() is at most `delta`.
absl::StatusOr<double> UnitShiftsEpsilon(Rational sigma_squared, int64_t shifted, const Interval& delta);

// The least sigma, in thousandths, that is (epsilon, delta)-DP together with every larger one tried up to a
// little above the continuous Gaussian's sigma (delta is not monotone in sigma: an isolated smaller value
// that happens to qualify is not taken). Errors: as above, and INVALID_ARGUMENT unless epsilon > 0 and 0 <
// delta < 1.
absl::StatusOr<int64_t> DiscreteGaussianSigmaThousandths(const Interval& epsilon, const Interval& delta,
                                                         int64_t shift);

}  // namespace curator::dp
