// Renyi differential privacy of a fixed schedule: the best order afterwards.
//
// Choosing the order after the fact is valid here because the schedule is fixed beforehand; the RDP rule,
// which gates adaptive requests, has one order. Answers are certified. Thread-safe: pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// The Renyi divergence of order alpha = `order_minus_one` + 1 of a whole schedule: the sum (Mironov 2017,
// Prop. 1), by the curves of divergence.h. FAILED_PRECONDITION for (epsilon, delta) mechanisms.
absl::StatusOr<Interval> RenyiOf(const Interval& order_minus_one, const Schedule& schedule);

// An epsilon and the order that gave it.
struct RenyiEpsilon {
  double epsilon = 0;
  double order = 0;
};

// 1.1 to 10.9 by tenths, 11 to 63, 128, 256, 512, 1024: the orders in common use.
std::vector<Rational> CommonOrders();

// The least epsilon at `delta` over `orders`, or over all real orders (searched, then evaluated at the order
// found: valid whatever the search missed).
absl::StatusOr<RenyiEpsilon> RenyiEpsilonOnGrid(const Schedule& schedule, const Interval& delta,
                                                const std::vector<Rational>& orders);
absl::StatusOr<RenyiEpsilon> RenyiEpsilonOverReals(const Schedule& schedule, const Interval& delta);

}  // namespace curator::dp
