// How badly each candidate of some families is approximated, as integers: the utility of
// Kernel::SelectWorstCandidate.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/transcript.h"

namespace curator::dp {

// How far apart one unit can move two candidates' scores, in steps of the lattice: twice the largest movement
// D of one candidate's error. For a whole marginal D is the L1 sensitivity of one marginal, for a query the
// largest movement of any answer of its group; for a cell or threshold (`at_least`) the number of records
// that a unit may own, as each counts once or not at all, before and after.
//
// Proof: an error is a norm of answers - estimate, of all cells or of one answer, and norms obey the triangle
// inequality; one score may rise by D and another fall by D.
//
// Errors: those of ValidateQueries(); INVALID_ARGUMENT for an `at_least` beyond the marginal's attributes or
// of another group than every cell; OUT_OF_RANGE when a record counts more than kLargestRecordInAGroup
// times in one candidate (so scores stay below 2^62, see selection_score.h).
absl::StatusOr<int64_t> CandidateRange(const Domain& domain, const UnitBound& unit,
                                       std::span<const CandidateFamily> families);

// What RoundFamily() wants of a family beside its estimate. Errors: those of CheckPenalty(); INVALID_ARGUMENT
// unless the excluded candidates rise strictly and exist.
absl::Status CheckPenaltyAndExcluded(const Domain& domain, const CandidateFamily& family);

// A family's public side, rounded. Errors: those of CheckPenaltyAndExcluded(), and of RoundToLattice() for a
// whole marginal, of RoundEachToLattice() for queries.
absl::StatusOr<LatticeEstimate> RoundFamily(const Domain& domain, const CandidateFamily& family);

// How many candidates a valid family has that are not excluded.
int64_t NumberOfCandidates(const Domain& domain, const CandidateFamily& family);

// What a valid family's candidates, excluded ones too, count: or all cells of a whole marginal.
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

// Adds those of family `index`. Estimates and penalties are public, hence the same for neighbours.
void AddScores(size_t index, const CandidateFamily& family, std::span<const int64_t> answers,
               const LatticeEstimate& estimate, ScoredCandidates& scored);

}  // namespace curator::dp
