// Renyi divergences of single mechanisms, enclosed: what the zCDP and RDP rules charge.
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

// Of continuous Laplace noise with epsilon = L1/scale (Mironov 2017, Prop. 6). It is convex in the shift and
// 0 at 0, so one coordinate taking the whole L1 sensitivity is the worst.
Interval RenyiOfLaplace(const Interval& order_minus_one, const Interval& epsilon);

// Of an exponential mechanism of bounded range eta: at most KL + (alpha - 1) eta^2/8 with KL = r - 1 - ln r,
// r = eta/(e^eta - 1), by Hoeffding's lemma on the privacy loss, which lies in an interval of length eta and
// has mean at most KL (Dong, Durfee, Rogers 2020); and at most eta.
Interval RenyiOfBoundedRange(const Interval& order_minus_one, const Interval& range);

// Of discrete Laplace noise: the geometric sums of p(x)^alpha q(x)^(1-alpha) in closed form. Convex in the
// shift, as above.
Interval RenyiOfDiscreteLaplace(const Interval& order_minus_one, const DiscreteLaplaceEvent& event);

}  // namespace curator::dp
