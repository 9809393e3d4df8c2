// Composition of mechanisms known only by a stated (epsilon, delta): the textbook theorems.
//
// Each answer is an epsilon, rounded up, at which the whole schedule is (epsilon, delta)-DP; infinity when
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

// What a schedule states; none when some mechanism states no epsilon (Gaussian, zCDP).
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

}  // namespace curator::dp
