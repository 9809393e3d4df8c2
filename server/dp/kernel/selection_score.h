// How badly a marginal is approximated, as an integer: the utility of Kernel::SelectWorstApproximated.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/kernel/transcript.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {

// Scores count steps of 2^-10 records.
inline constexpr int kScoreLatticeBits = 10;

// A candidate's public side, rounded to the lattice.
struct LatticeEstimate {
  std::vector<int64_t> cells;
  int64_t penalty = 0;
};

// Errors: INVALID_ARGUMENT when the estimate has not `cells` values or one that is not finite; OUT_OF_RANGE
// when the sum of their absolute values, or the penalty's, exceeds 2^50. So with counts that sum to less than
// 2^31 (kMaxRows), a score stays below 2^41 + 2^60 + 2^59 + 2^60 < 2^62 (the third term is the rounding of
// 2^28 cells, and far above it).
absl::StatusOr<LatticeEstimate> RoundToLattice(const ApproximatedMarginal& candidate, int64_t cells);

// (sum over cells |count - estimate|) - penalty, in steps of the lattice.
//
// Claim: neighbours' scores differ by at most L1(one marginal) * 2^10. Proof: the triangle inequality in each
// cell; estimates and penalty are public, hence the same for both.
int64_t ScoreOf(std::span<const int64_t> counts, const LatticeEstimate& estimate);

// The factor of the exponential mechanism that makes the selection epsilon-DP: epsilon / (2 * sensitivity.l1
// * 2^10), rounded down where it does not fit (a smaller factor is more private).
Rational SelectionFactor(Epsilon epsilon, const Sensitivity& one_marginal);

}  // namespace curator::dp
