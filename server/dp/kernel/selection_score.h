// Scores of selections: how badly a candidate is approximated, as an integer, and how far one unit can move
// scores apart. Used by PrivateQueries::SelectWorstCandidates.
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
#include "dp/kernel/private_queries.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {

// Scores count steps of 2^-10 records.
inline constexpr int kScoreLatticeBits = 10;

// Limit of how much one record counts in all queries of one candidate together.
inline constexpr int64_t kLargestRecordInAGroup = int64_t{1} << 18;

// A candidate's public side, rounded to the lattice.
struct LatticeEstimate {
  std::vector<int64_t> cells;  // or other answers of the candidate, in order
  int64_t penalty = 0;
};

// Checks a penalty, which may be known long before the estimate. Errors: INVALID_ARGUMENT for one that is not
// finite, OUT_OF_RANGE above 2^50.
absl::Status CheckPenalty(double penalty);

// Rounds a candidate's estimate and penalty. Errors: INVALID_ARGUMENT when the estimate has not one value for
// each answer or a value that is not finite; OUT_OF_RANGE when the sum of their absolute values, or the
// penalty's, exceeds 2^50 divided by `weight`. So with counts that sum to less than 2^31 (kMaxRows), a score,
// which counts `weight` <= 2^18 times, stays below 2^59 + 2^60 + 2^59 + 2^60 < 2^62 (the third term is the
// rounding of 2^28 cells, and far above it).
absl::StatusOr<LatticeEstimate> RoundToLattice(std::span<const double> estimate, double penalty,
                                               int64_t answers, int64_t weight = 1);

// The same for answers that are scored one by one: OUT_OF_RANGE when one of them, or the penalty, exceeds
// 2^50 divided by `weight`. So with answers below 2^(31 + 18) / weight (kLargestRecordInAGroup), a score
// stays below 2^59 + 2^60 + 2^60 < 2^62.
absl::StatusOr<LatticeEstimate> RoundEachToLattice(std::span<const double> estimate, double penalty,
                                                   int64_t answers, int64_t weight = 1);

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

// How far apart one unit can move two candidates' scores of families, in steps of the lattice: twice the
// largest movement D of one candidate's error. For a whole marginal D is the L1 sensitivity of one marginal,
// for a query the largest movement of any answer of its group; for a cell or threshold (`at_least`) the
// number of records that a unit may own, as each counts once or not at all, before and after. Each D counts
// as often as its family's weight says.
//
// Proof: an error is a norm of answers - estimate, of all cells or of one answer, and norms obey the triangle
// inequality; one score may rise by weight * D and another fall by weight * D, where weights are public.
//
// Errors: those of ValidateQueries(); INVALID_ARGUMENT for an `at_least` beyond the marginal's attributes or
// of another group than every cell, or for a weight that is not from 1 to kLargestRecordInAGroup;
// OUT_OF_RANGE when a record counts more than kLargestRecordInAGroup times, with its weight, in one candidate
// (so scores stay below 2^62, as above).
absl::StatusOr<int64_t> CandidateRange(const Domain& domain, const UnitBound& unit,
                                       std::span<const CandidateFamily> families);

// Checks everything of a family but its estimate. Errors: those of CheckPenalty(); INVALID_ARGUMENT
// unless the excluded candidates rise strictly and exist.
absl::Status CheckPenaltyAndExcluded(const Domain& domain, const CandidateFamily& family);

// A family's public side, rounded. Errors: those of CheckPenaltyAndExcluded(), and of RoundToLattice() for a
// whole marginal, of RoundEachToLattice() for queries.
absl::StatusOr<LatticeEstimate> RoundFamily(const Domain& domain, const CandidateFamily& family);

// How many candidates a valid family has that are not excluded.
int64_t NumberOfCandidates(const Domain& domain, const CandidateFamily& family);

// The exact answers of a valid family's candidates, excluded ones included, from the counts of its marginal's
// cells; all cells for a whole marginal.
std::vector<int64_t> AnswersOf(const Domain& domain, const CandidateFamily& family,
                               std::span<const int64_t> counts);

// The query that is the `index`-th of those that are not excluded.
int64_t QueryAt(const CandidateFamily& family, int64_t index);

// The candidates of all families that are not excluded, and the error of each minus its penalty, in steps.
// `answers[i]` are the exact answers of families[i], `estimates[i]` its rounded public side.
struct ScoredCandidates {
  std::vector<FamilyChoice> candidates;
  std::vector<int64_t> scores;
};

// Appends the candidates of family `index`. Estimates and penalties are public, hence the same for
// neighbours.
void AddScores(size_t index, const CandidateFamily& family, std::span<const int64_t> answers,
               const LatticeEstimate& estimate, ScoredCandidates& scored);

}  // namespace curator::dp
