// The epsilon of one schedule at one delta by every calculator that can count it: for reports, planning and
// checks.
//
// No admission decision uses these numbers. Each is an epsilon at which the whole schedule is (epsilon,
// delta)-DP, rounded up; the one lower bound is rounded down. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/numerical/composition.h"
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
  // count the schedule, OUT_OF_RANGE where it takes more than the effort allows; the message says why.
  absl::StatusOr<double> epsilon;
  std::string remark;  // the rho, the order; may be empty
};

enum class Effort {
  kThorough,  // minutes for hundreds of thousands of mechanisms, and 1 GiB: for command-line programs
  kBounded,   // for a server: what follows, from the schedule alone, before anything is computed
};

// Under Effort::kBounded
//
//   more than kMostMechanismsBounded different mechanisms are counted by closed forms only, a few hundredths
//   of a millisecond for each mechanism and calculator;
//   numerical composition has at most kBoundedLimits: its grid is made coarser until the forecast of its
//   steps fits, so the upper bound is looser and still a bound, or it is left out.
//
// So LeastUpperBound() of at most 2,048 mechanisms takes less than 0.5 s of processor time (optimised) and
// CompareCalculators() less than 1 s; both take less than kBoundedBytes of memory (docs/results/bounds.md).
inline constexpr size_t kMostMechanismsBounded = 64;
inline constexpr NumericalLimits kBoundedLimits = {.most_cells_at_once = 1 << 19,
                                                   .most_cells_in_all = 1 << 21,
                                                   .most_steps = 1 << 22,
                                                   .most_atoms = 1 << 19};
inline constexpr int64_t kBoundedBytes = 100'000'000;

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
// counts do not add up in an int64; CANCELLED within some tenths of a second once `stop` is requested.
absl::StatusOr<std::vector<CalculatedEpsilon>> CompareCalculators(const Schedule& schedule, Delta delta,
                                                                  Effort effort,
                                                                  const std::stop_token& stop = {});

// The row of CompareCalculators() under Effort::kBounded with the least upper bound; where a calculator is
// exact, its row. Errors: as above; FAILED_PRECONDITION when no calculator can count the schedule;
// OUT_OF_RANGE when none finds a finite epsilon.
absl::StatusOr<CalculatedEpsilon> LeastUpperBound(const Schedule& schedule, Delta delta,
                                                  const std::stop_token& stop = {});

}  // namespace curator::dp
