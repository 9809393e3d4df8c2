// How badly a marginal is approximated, as an integer: the utility of Kernel::SelectWorstApproximated.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/kernel/transcript.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {

// Scores count steps of 2^-10 records.
inline constexpr int kScoreLatticeBits = 10;

// How often one record may count in all queries of one candidate together.
inline constexpr int64_t kLargestRecordInAGroup = int64_t{1} << 18;

// A candidate's public side, rounded to the lattice.
struct LatticeEstimate {
  std::vector<int64_t> cells;  // or whatever is asked, one after another
  int64_t penalty = 0;
};

// Whether a selection takes this penalty, which may be known long before the estimate. Errors:
// INVALID_ARGUMENT for one that is not finite, OUT_OF_RANGE above 2^50.
absl::Status CheckPenalty(double penalty);

// Errors: INVALID_ARGUMENT when the estimate has not one value for each answer or one that is not finite;
// OUT_OF_RANGE when the sum of their absolute values, or the penalty's, exceeds 2^50. So with counts that sum
// to less than 2^31 (kMaxRows), a score stays below 2^41 + 2^60 + 2^59 + 2^60 < 2^62 (the third term is the
// rounding of 2^28 cells, and far above it).
absl::StatusOr<LatticeEstimate> RoundToLattice(std::span<const double> estimate, double penalty,
                                               int64_t answers);
absl::StatusOr<LatticeEstimate> RoundToLattice(const ApproximatedMarginal& candidate, int64_t cells);

// The same for answers that are scored one by one: OUT_OF_RANGE when one of them, or the penalty, exceeds
// 2^50. So with answers below 2^(31 + 18) (kLargestRecordInAGroup), a score stays below
// 2^59 + 2^60 + 2^60 < 2^62.
absl::StatusOr<LatticeEstimate> RoundEachToLattice(std::span<const double> estimate, double penalty,
                                                   int64_t answers);

// How far one unit moves the error of a group, in records: its L1 sensitivity for the sum of the absolute
// errors, its largest movement of one answer for the largest of them.
//
// Proof: both errors are norms of answers - estimate, and norms obey the triangle inequality.
//
// Errors: those of QueriesSensitivity(); OUT_OF_RANGE when a record counts more often than
// kLargestRecordInAGroup, so that the answers, in steps, sum to less than 2^(31 + 18 + 10) = 2^59 in absolute
// value, and scores stay below 2^62 as above.
absl::StatusOr<int64_t> ErrorSensitivity(const Domain& domain, const UnitBound& unit,
                                         const ApproximatedGroup& candidate);

// How far apart one unit can move two candidates' scores, in steps: twice the largest ErrorSensitivity(),
// since one may rise and another fall.
absl::StatusOr<int64_t> ErrorRange(const Domain& domain, const UnitBound& unit,
                                   std::span<const ApproximatedGroup> candidates);

// The error of the answers minus the penalty, in steps of the lattice.
int64_t ScoreOf(std::span<const int64_t> answers, const LatticeEstimate& estimate, GroupError error);

// (sum over cells |count - estimate|) - penalty, in steps of the lattice.
//
// Claim: neighbours' scores differ by at most L1(one marginal) * 2^10. Proof: the triangle inequality in each
// cell; estimates and penalty are public, hence the same for both.
int64_t ScoreOf(std::span<const int64_t> counts, const LatticeEstimate& estimate);

// The factor of the exponential mechanism for scores whose changes span at most `range` steps:
// epsilon / range, rounded down where it does not fit (a smaller factor is more private).
//
// Claim: the selection has range epsilon, so it is epsilon-DP. Proof: ln P(i) - ln P'(i) = c - factor d_i
// with a c that is the same for all i; so the log-ratios of any two candidates differ by
// factor |d_i - d_j| <= epsilon, and as both distributions sum to 1, their log-ratios lie on both sides of 0
// (Dong, Durfee, Rogers 2020).
Rational FactorForRange(Epsilon epsilon, int64_t range);

// That factor where each score moves by at most sensitivity.l1 * 2^10 steps, in either direction: the range
// is twice that.
Rational SelectionFactor(Epsilon epsilon, const Sensitivity& one_marginal);

}  // namespace curator::dp
