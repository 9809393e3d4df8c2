// Renyi and zero-concentrated differential privacy of a fixed schedule.
//
// Results are certified: epsilons, deltas and sigmas are rounded up, rhos are rounded down as budgets and up
// as costs. Thread-safe: pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// ---- Renyi DP
//
// The order is chosen after the fact, which is valid because the schedule is fixed beforehand; the RDP rule,
// which admits adaptive requests, has one order.

// The Renyi divergence of order alpha = `order_minus_one` + 1 of a whole schedule: the sum (Mironov 2017,
// Prop. 1), by the curves of divergence.h. FAILED_PRECONDITION for (epsilon, delta) mechanisms.
absl::StatusOr<Interval> RenyiOf(const Interval& order_minus_one, const Schedule& schedule);

// An epsilon and the order that gave it.
struct RenyiEpsilon {
  double epsilon = 0;
  double order = 0;
};

// For tests: 1.1 to 10.9 by tenths, 11 to 63, 128, 256, 512, 1024, the orders in common use.
std::vector<Rational> CommonOrders();

// For tests: the least epsilon at `delta` over `orders`, as the published numbers have it.
absl::StatusOr<RenyiEpsilon> RenyiEpsilonOnGrid(const Schedule& schedule, const Interval& delta,
                                                const std::vector<Rational>& orders);
// The least epsilon at `delta` over all real orders. The order is searched, then the epsilon evaluated there,
// so the result is valid even if a better order was missed.
absl::StatusOr<RenyiEpsilon> RenyiEpsilonOverReals(const Schedule& schedule, const Interval& delta);

// ---- zCDP: tight, and loose as first published

// The rho of a schedule, the sum over its mechanisms: as the ZCDP rule counts, but with the continuous
// Laplace's own rho. FAILED_PRECONDITION for (epsilon, delta) mechanisms.
absl::StatusOr<Interval> TightZcdp(const Schedule& schedule);
// For tests: the same with epsilon^2/2 for every mechanism that has an epsilon, and eta^2/8 for bounded range
// (Bun, Steinke 2016; Cesar, Rogers 2021).
absl::StatusOr<Interval> LooseZcdp(const Schedule& schedule);

// epsilon at `delta`. Loose: rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, Prop. 1.3); the tight one is
// EpsilonOfZcdp() of divergence.h (Canonne, Kamath, Steinke 2020).
double LooseZcdpEpsilon(const Interval& rho, const Interval& delta);

// delta at `epsilon`: inf over alpha > 1 of e^((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha/(alpha-1),
// at most 1.
double ZcdpDelta(const Interval& rho, const Interval& epsilon);

// The largest rho that fits a promise by the loose conversion; the tight one is LargestZcdp() of
// divergence.h.
double LooseZcdpBudget(const Interval& epsilon, const Interval& delta);

// sigma for L2 sensitivity 1 and a budget of rho: 1/sqrt(2 rho).
double GaussianSigmaOfZcdp(double rho);

}  // namespace curator::dp
