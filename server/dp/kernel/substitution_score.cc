#include "dp/kernel/substitution_score.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "dp/queries/linear_queries.h"

namespace curator::dp {

absl::StatusOr<LatticeSubstitution> RoundSubstitution(const Domain& domain,
                                                      const SubstitutableMarginal& candidate) {
  const int64_t cells = domain.CellCount(candidate.attributes).value_or(0);
  LatticeSubstitution rounded;
  ASSIGN_OR_RETURN(rounded.estimate,
                   RoundToLattice(candidate.estimate, candidate.penalty, cells, candidate.weight));
  if (candidate.substitute.empty()) return rounded;
  ASSIGN_OR_RETURN(rounded.substitute, RoundToLattice(candidate.substitute, candidate.substitute_penalty,
                                                      cells, candidate.weight));
  return rounded;
}

absl::StatusOr<int64_t> SubstitutionRange(const Domain& domain, const UnitBound& unit,
                                          std::span<const SubstitutableMarginal> candidates) {
  ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(unit, 1));
  int64_t largest = 0;
  for (const SubstitutableMarginal& candidate : candidates) {
    const QueryGroup group{.attributes = candidate.attributes, .queries = EveryCell()};
    RETURN_IF_ERROR(ValidateQueries(domain, std::span(&group, 1)));
    if (candidate.weight < 1 || candidate.weight > kLargestRecordInAGroup)
      return absl::InvalidArgumentError("a candidate's weight must be from 1 to 2^18");
    const int64_t distances = candidate.substitute.empty() ? 1 : 2;
    const int64_t most = std::numeric_limits<int64_t>::max() / 4 / (distances * candidate.weight);
    if (one_marginal.l1 > most >> kScoreLatticeBits)
      return absl::OutOfRangeError("one unit moves a candidate's weighted error too far");
    largest = std::max(largest, distances * candidate.weight * one_marginal.l1);
  }
  return 2 * largest << kScoreLatticeBits;
}

void AddScores(size_t index, const SubstitutableMarginal& candidate, std::span<const int64_t> counts,
               const LatticeSubstitution& rounded, ScoredSubstitutions& scored) {
  const int64_t measured = ScoreOf(counts, rounded.estimate);
  scored.choices.push_back({.candidate = index, .is_public = false});
  scored.scores.push_back(candidate.weight * measured);
  if (candidate.substitute.empty()) return;
  const int64_t error = measured + rounded.estimate.penalty;
  const int64_t of_substitute = ScoreOf(counts, rounded.substitute) + rounded.substitute.penalty;
  scored.choices.push_back({.candidate = index, .is_public = true});
  scored.scores.push_back(candidate.weight * (error - of_substitute - rounded.substitute.penalty));
}

}  // namespace curator::dp
