// The epsilon of one schedule at one delta by every calculator that can count it: for reports, planning and
// checks.
//
// No admission decision uses these numbers. Each is an epsilon at which the whole schedule is (epsilon,
// delta)-DP, rounded up; the one lower bound is rounded down. Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/units.h"

namespace curator::dp {

// Whether the same number would also hold had each mechanism been chosen after seeing the earlier answers.
enum class Validity { kAdaptive, kFixedSchedule };

enum class BoundSide { kUpper, kLower };

struct CalculatedEpsilon {
  std::string_view calculator;  // as listed below
  Validity validity = Validity::kFixedSchedule;
  BoundSide side = BoundSide::kUpper;
  // Infinite where the stated deltas alone use up delta. FAILED_PRECONDITION where the calculator cannot
  // count the schedule, OUT_OF_RANGE where it would take too long; the message says why.
  absl::StatusOr<double> epsilon;
  std::string remark;  // the rho, the order; may be empty
};

enum class Effort {
  kThorough,  // up to some seconds and 1 GiB: for command-line programs
  kBounded,   // calculators that take longer than about a tenth of a second are left out: for a server
};

// At most this many different mechanisms are counted by more than closed forms under Effort::kBounded.
inline constexpr size_t kMostMechanismsBounded = 64;

// In a fixed order:
//
//   basic                   the sum of epsilons, each Gaussian at its share of delta; adaptive where every
//                           mechanism states its privacy
//   dwork-rothblum-vadhan   stated privacy only, and equal mechanisms only
//   kairouz-oh-viswanath    stated privacy only: the least of their closed forms (2015, Thms 3.4 and 3.5)
//   optimal                 stated privacy only: the exact optimum; not under kBounded
//   advanced                stated privacy only: the value of the fully adaptive filter (Whitehouse et al.
//                           2023), so adaptive
//   zcdp-loose, zcdp-tight  the sum of tight rhos by either conversion; a sum is a filter, so adaptive. A
//                           continuous Laplace counts with its own rho, where the ZCDP rule charges more.
//   rdp                     the best of all orders, chosen afterwards
//   gaussian-dp             exact: continuous Gaussians only
//   discrete-gaussian       close to exact: discrete Gaussians of one variance only, whose coordinates shift
//                           by at most 1
//   numerical               certified composition of privacy losses
//   numerical-lower         a lower bound for every calculator; only where the losses are attained
//
// The order of `schedule` does not matter. Errors: INVALID_ARGUMENT unless 0 < delta < 1; OUT_OF_RANGE when
// counts do not add up in an int64.
absl::StatusOr<std::vector<CalculatedEpsilon>> CompareCalculators(const Schedule& schedule, Delta delta,
                                                                  Effort effort);

// The row of CompareCalculators() under Effort::kBounded with the least upper bound; where a calculator is
// exact, its row. Errors: as above; FAILED_PRECONDITION when no calculator can count the schedule;
// OUT_OF_RANGE when none finds a finite epsilon.
absl::StatusOr<CalculatedEpsilon> LeastUpperBound(const Schedule& schedule, Delta delta);

}  // namespace curator::dp
