// The continuous Gaussian mechanism, exactly: its privacy curve, both ways, and the least noise for a
// promise.
//
// With mu = L2 sensitivity / sigma: delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
// (Balle, Wang 2018, Thm 8). Adaptive composition of Gaussian mechanisms with fixed parameters is one with
// mu^2 the sum of the squares (Dong, Roth, Su 2022, Cor. 3.3). All this is for the continuous Gaussian only:
// the discrete one has its own curve (discrete_gaussian.h).
//
// Answers are doubles rounded up: certified. Thread-safe: pure functions.
#pragma once

#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// delta at `epsilon` >= 0, enclosed. mu > 0.
Interval GaussianDelta(const Interval& mu, const Interval& epsilon);

// The least epsilon >= 0 with delta at most `delta`; 0 < delta < 1.
double GaussianEpsilon(const Interval& mu, const Interval& delta);

// The least sigma for L2 sensitivity 1 that is (epsilon, delta)-DP; multiply by the sensitivity. epsilon > 0.
double GaussianSigma(const Interval& epsilon, const Interval& delta);

// The largest rho = 1/(2 sigma^2), in units, that is (epsilon, delta)-DP for L2 sensitivity 1; 0 when not
// even one unit is. Searched over integers with certified answers, so it is the same on every machine.
Rho LargestGaussianRho(Epsilon epsilon, Delta delta);

// sqrt(2 ln(1.25/delta))/epsilon, the textbook's sigma for L2 sensitivity 1 (Dwork, Roth 2014, Thm A.1). Its
// proof needs epsilon <= 1: INVALID_ARGUMENT above, where the result would not be private.
absl::StatusOr<double> ClassicGaussianSigma(const Interval& epsilon, const Interval& delta);

// The squared mu of a schedule of continuous Gaussian mechanisms (Gaussian DP). FAILED_PRECONDITION when
// there is any other: the discrete Gaussian does not obey it.
absl::StatusOr<Interval> SquaredMuOfSchedule(const Schedule& schedule);

}  // namespace curator::dp
