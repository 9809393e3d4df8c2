// Concentrated differential privacy, both ways, tight and as in the papers.
//
// Answers are certified: epsilons, deltas and sigmas rounded up, rhos rounded down when they are budgets and
// up when they are costs. Thread-safe: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// The rho of a schedule: the sum. FAILED_PRECONDITION for (epsilon, delta) mechanisms. Tight as the ZCDP rule
// counts, but with the continuous Laplace's own rho; loose: epsilon^2/2 for whatever has an epsilon, eta^2/8
// for bounded range (Bun, Steinke 2016; Cesar, Rogers 2021).
absl::StatusOr<Interval> TightZcdp(const Schedule& schedule);
absl::StatusOr<Interval> LooseZcdp(const Schedule& schedule);

// epsilon at `delta`. Loose: rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, Prop. 1.3); the tight one is
// EpsilonOfZcdp() of zcdp_conversion.h (Canonne, Kamath, Steinke 2020).
double LooseZcdpEpsilon(const Interval& rho, const Interval& delta);

// delta at `epsilon`: inf over alpha > 1 of e^((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha/(alpha-1),
// at most 1.
double ZcdpDelta(const Interval& rho, const Interval& epsilon);

// The largest rho that fits a promise by the loose conversion; the tight one is LargestZcdp() of
// zcdp_conversion.h.
double LooseZcdpBudget(const Interval& epsilon, const Interval& delta);

// sigma for L2 sensitivity 1 and a budget of rho: 1/sqrt(2 rho).
double GaussianSigmaOfZcdp(double rho);

}  // namespace curator::dp
