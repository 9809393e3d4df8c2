// Scores of marginals that may be measured or taken from public counts, as integers, and how far one unit can
// move two of them apart. Used by PrivateQueries::SelectMeasuredOrPublic.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/kernel/selection_score.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {

// A candidate's public side, rounded to the lattice of selection_score.h. Without public counts `substitute`
// has no cells.
struct LatticeSubstitution {
  LatticeEstimate estimate;    // with the penalty of a measurement
  LatticeEstimate substitute;  // with the penalty of taking it
};

// Rounds a candidate's public side. Errors: those of RoundToLattice(), of its estimate or its public counts.
absl::StatusOr<LatticeSubstitution> RoundSubstitution(const Domain& domain,
                                                      const SubstitutableMarginal& candidate);

// How far apart one unit can move two scores, in steps of the lattice: with D the L1 sensitivity of one
// marginal, 4 D times the largest weight of a candidate that has public counts, or 2 D times that of one that
// has none, whichever is more.
//
// Proof. Let c and c' be a marginal's counts on neighbours, |c - c'|_1 <= D, e its estimate and p its public
// counts, which are the same on both, as penalties and weights are. The distance |c - e|_1 moves by at most
// D, and so does |c - p|_1 (the triangle inequality); so the score of a measurement moves by at most w D, and
// that of the public counts, a difference of two distances, by at most 2 w D. Two scores may move in opposite
// directions, each as far as it can.
// It is reached: one record that enters where a count is above the estimate and below the public count
// raises the first distance by 1 and lowers the second by 1; in another marginal it may do the reverse. So
// 2 D, which is enough for measurements alone, is not.
//
// Errors: those of ValidateQueries(); INVALID_ARGUMENT for a weight that is not from 1 to
// kLargestRecordInAGroup; OUT_OF_RANGE where a range does not fit into 63 bits.
absl::StatusOr<int64_t> SubstitutionRange(const Domain& domain, const UnitBound& unit,
                                          std::span<const SubstitutableMarginal> candidates);

// The choices among candidates, and the score of each, in steps: weight (|c - e|_1 - penalty) for a
// measurement, weight (|c - e|_1 - |c - p|_1 - substitute_penalty) for public counts p.
struct ScoredSubstitutions {
  std::vector<SubstitutionChoice> choices;
  std::vector<int64_t> scores;
};

// Appends the choices of candidate `index`, of exact counts `counts`. A distance is not negative, so the
// difference of two is at most the larger one, and with what RoundToLattice() admits all scores stay below
// 2^62.
void AddScores(size_t index, const SubstitutableMarginal& candidate, std::span<const int64_t> counts,
               const LatticeSubstitution& rounded, ScoredSubstitutions& scored);

}  // namespace curator::dp
