// Composition of mechanisms known only by a stated (epsilon, delta): the theorems of the literature, and the
// exact optimum.
//
// Each result is an epsilon, rounded up, at which the whole schedule is (epsilon, delta)-DP; infinity when
// the stated deltas alone use up `delta`. For schedules with parameters fixed beforehand (only the Whitehouse
// value is a filter's). Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// A mechanism's stated privacy, `count` times.
struct Stated {
  Interval epsilon;
  Interval delta;
  int64_t count;
};

// The stated privacy of each mechanism; none when some mechanism states no epsilon (Gaussian, zCDP).
std::optional<std::vector<Stated>> StatedOf(const Schedule& schedule);

// d' with 1 - (1 - d') prod(1 - delta_i) = delta, what the stated deltas leave of `delta` < 1; negative when
// they leave nothing, also where the product is 0 or too small for a number. Never NaN.
Interval SlackOf(const std::vector<Stated>& stated, const Interval& delta);

// Basic composition: the sum of epsilons. Each Gaussian is charged its exact epsilon at an equal share of
// what the stated deltas leave of `delta`. FAILED_PRECONDITION for zCDP and discrete Gaussian mechanisms,
// which have no such curve here; OUT_OF_RANGE when the Gaussians' number does not fit 64 bits.
absl::StatusOr<double> BasicEpsilon(const Schedule& schedule, const Interval& delta);

// `count` times the same mechanism.
// sqrt(2 t ln(1/d')) eps + t eps (e^eps - 1), d' = delta - t delta_i (Dwork, Rothblum, Vadhan 2010).
double DworkRothblumVadhan(const Stated& stated, const Interval& delta);
// t eps tanh(eps/2) + eps sqrt(2 t ln(1/d')), d' = SlackOf() (Kairouz, Oh, Viswanath 2015, Thm 3.4).
double KairouzOhViswanathSimple(const Stated& stated, const Interval& delta);

// The least of the three bounds of Kairouz, Oh, Viswanath 2015, Thm 3.5, for different mechanisms, in the
// paper's order.
struct HeterogeneousBound {
  std::array<double, 3> terms;
  double least() const;
};
HeterogeneousBound KairouzOhViswanathHeterogeneous(const std::vector<Stated>& stated, const Interval& delta);

// sqrt(2 ln(1/d') S2) + S2/2, d' = delta - sum delta_i: the value of the fully adaptive filter (Whitehouse,
// Ramdas, Rogers, Wu 2023).
double WhitehouseValue(const std::vector<Stated>& stated, const Interval& delta);

// ---- The optimum: composed randomised response is the worst case of mechanisms with stated privacy

// The least (t - 2i) eps whose delta_i is at most d' (Kairouz, Oh, Viswanath 2015, Thm 3.3, on its own grid).
// For tests: the published numbers are on that grid, which OptimalPureEpsilon() does not need. OUT_OF_RANGE
// for more than 200,000 repetitions.
absl::StatusOr<double> KairouzOhViswanathGrid(const Stated& stated, const Interval& delta);

// The least epsilon over the reals at which every schedule of such mechanisms is (epsilon, delta)-DP
// (Kairouz, Oh, Viswanath 2015 for equal mechanisms, Murtagh, Vadhan 2016 for different ones). Different
// epsilons must have a common measure, whose multiples are summed: OUT_OF_RANGE when that takes more than
// 2^22 cells or 4e9 steps, or for more than 200,000 repetitions.
absl::StatusOr<double> OptimalPureEpsilon(const std::vector<Stated>& stated, const Interval& delta);

}  // namespace curator::dp
