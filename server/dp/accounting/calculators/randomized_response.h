// The exact privacy of composed randomised response, which is the worst that mechanisms with stated privacy
// can do.
//
// Answers are epsilons, rounded up; infinity when the stated deltas alone use up `delta`. Thread-safe: pure
// functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/stated_composition.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// The least (t - 2i) eps whose delta_i is at most d' (Kairouz, Oh, Viswanath 2015, Thm 3.3, on its own grid).
// OUT_OF_RANGE for more than 200,000 repetitions.
absl::StatusOr<double> KairouzOhViswanathGrid(const Stated& stated, const Interval& delta);

// The least epsilon over the reals at which every schedule of such mechanisms is (epsilon, delta)-DP
// (Kairouz, Oh, Viswanath 2015 for equal mechanisms, Murtagh, Vadhan 2016 for different ones). Different
// epsilons must have a common measure, whose multiples are summed: OUT_OF_RANGE when that takes more than
// 2^22 cells or 4e9 steps, or for more than 200,000 repetitions.
absl::StatusOr<double> OptimalPureEpsilon(const std::vector<Stated>& stated, const Interval& delta);

}  // namespace curator::dp
