// From zCDP and RDP to (epsilon, delta) and back (Canonne, Kamath, Steinke 2020, Prop. 12 and Cor. 13).
//
// A mechanism whose Renyi divergence of order alpha is at most tau is (epsilon, delta)-DP with
//   epsilon = tau + ln(1/(alpha delta))/(alpha - 1) + ln(1 - 1/alpha);
// under rho-zCDP tau = alpha rho for every alpha > 1, so every alpha gives a valid epsilon and the best is
// the least. Thread-safe: pure functions.
#pragma once

#include "dp/accounting/interval.h"

namespace curator::dp {

// What the conversion adds to tau. `order_minus_one` is alpha - 1 > 0; 0 < delta < 1.
Interval ConversionPenalty(const Interval& order_minus_one, const Interval& delta);

// A point close to the alpha - 1 that makes the conversion least for `rho` (the root of
// rho (alpha-1)^2 + ln alpha = ln(1/delta)); and for a promised epsilon, the one at which the largest rho is
// found. Any value is valid; these are best.
Interval BestOrderMinusOneForRho(const Interval& rho, const Interval& delta);
Interval BestOrderMinusOneForEpsilon(const Interval& epsilon, const Interval& delta);

// The least epsilon, never below 0, at which rho-zCDP implies (epsilon, delta)-DP by the conversion.
Interval EpsilonOfZcdp(const Interval& rho, const Interval& delta);

// The largest rho whose conversion at `delta` is at most `epsilon`. The lower end is safe; it may be negative
// or NaN when there is none.
Interval LargestZcdp(const Interval& epsilon, const Interval& delta);

}  // namespace curator::dp
