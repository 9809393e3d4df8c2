// Renyi divergences of single mechanisms, enclosed, which the zCDP and RDP rules charge; and the conversion
// between zCDP or RDP and (epsilon, delta).
//
// All arguments and results are plain reals (not units). Thread-safe: pure functions.
#pragma once

#include "dp/accounting/event.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// The smallest rho such that every epsilon-DP mechanism is rho-zCDP: epsilon tanh(epsilon/2), attained by
// randomised response (Bun, Steinke 2016, Prop. 3.3, tightened by Harrison, Manurangsi 2025).
Interval ZcdpOfPure(const Interval& epsilon);

// The rho of an exponential mechanism of bounded range eta: the smaller of eta^2/8 (Cesar, Rogers 2021) and
// r - 1 - ln r with r = eta/(e^eta - 1) (Harrison, Manurangsi 2025).
Interval ZcdpOfBoundedRange(const Interval& range);

// The rho of continuous Laplace noise with epsilon = L1/scale: epsilon + e^-epsilon - 1, its Kullback-Leibler
// divergence (Harrison, Manurangsi 2025). For calculators only: no noise that a computer draws is continuous.
Interval ZcdpOfContinuousLaplace(const Interval& epsilon);

// The rho of discrete Laplace noise on an integer vector: per coordinate shifted by the integer D, with
// eps = D/s,
//   eps - (1/s)(1 - e^-eps)/sinh(1/s),
// the Kullback-Leibler divergence of the shift, which is the supremum of D_alpha/alpha (for D = 1 it is
// epsilon tanh(epsilon/2)). It is convex in D and 0 at D = 0, so over all shifts within the L1 and Linf
// sensitivities the sum is largest where as many coordinates as possible move by Linf and one moves by the
// rest.
Interval ZcdpOfDiscreteLaplace(const DiscreteLaplaceEvent& event);

// The Renyi divergence of order alpha > 1 of randomised response, the worst epsilon-DP mechanism (Mironov
// 2017, Prop. 5). `order_minus_one` is alpha - 1.
Interval RenyiOfPure(const Interval& order_minus_one, const Interval& epsilon);

// The Renyi divergence of continuous Laplace noise with epsilon = L1/scale (Mironov 2017, Prop. 6). It is
// convex in the shift and 0 at 0, so the worst case is one coordinate that takes the whole L1 sensitivity.
Interval RenyiOfLaplace(const Interval& order_minus_one, const Interval& epsilon);

// The Renyi divergence of an exponential mechanism of bounded range eta: at most KL + (alpha - 1) eta^2/8
// with KL = r - 1 - ln r, r = eta/(e^eta - 1), by Hoeffding's lemma on the privacy loss, which lies in an
// interval of length eta and has mean at most KL (Dong, Durfee, Rogers 2020); and at most eta.
Interval RenyiOfBoundedRange(const Interval& order_minus_one, const Interval& range);

// The Renyi divergence of discrete Laplace noise: the geometric sums of p(x)^alpha q(x)^(1-alpha) in closed
// form. Convex in the shift, as above.
Interval RenyiOfDiscreteLaplace(const Interval& order_minus_one, const DiscreteLaplaceEvent& event);

// ---- Conversion between zCDP or RDP and (epsilon, delta) (Canonne, Kamath, Steinke 2020, Prop. 12, Cor. 13)
//
// A mechanism whose Renyi divergence of order alpha is at most tau is (epsilon, delta)-DP with
//   epsilon = tau + ln(1/(alpha delta))/(alpha - 1) + ln(1 - 1/alpha);
// under rho-zCDP tau = alpha rho for every alpha > 1, so every alpha gives a valid epsilon and the best is
// the least.

// The conversion's summand beside tau. `order_minus_one` is alpha - 1 > 0; 0 < delta < 1.
Interval ConversionPenalty(const Interval& order_minus_one, const Interval& delta);

// A point close to the alpha - 1 that makes the conversion least for `rho` (the root of
// rho (alpha-1)^2 + ln alpha = ln(1/delta)); and, for a promised epsilon, close to the one that allows the
// largest rho. The conversion is valid at any order; these give the best result.
Interval BestOrderMinusOneForRho(const Interval& rho, const Interval& delta);
Interval BestOrderMinusOneForEpsilon(const Interval& epsilon, const Interval& delta);

// The least epsilon, never below 0, at which rho-zCDP implies (epsilon, delta)-DP by the conversion.
Interval EpsilonOfZcdp(const Interval& rho, const Interval& delta);

// The largest rho whose conversion at `delta` is at most `epsilon`. The lower end of the interval is the safe
// value; it is negative or NaN when no rho fits.
Interval LargestZcdp(const Interval& epsilon, const Interval& delta);

}  // namespace curator::dp
