// The operators of the kernel that choose.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/candidate_families.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/utility_scores.h"
#include "dp/noise/exponential_mechanism.h"
#include "dp/workload/linear_queries.h"
#include "dp/workload/marginals.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {
namespace {

// The sets of the candidates, once each has been found well-formed.
absl::StatusOr<std::vector<AttributeSet>> SetsOf(const Domain& domain,
                                                 std::span<const ApproximatedMarginal> candidates) {
  std::vector<AttributeSet> sets;
  sets.reserve(candidates.size());
  for (const ApproximatedMarginal& candidate : candidates) sets.push_back(candidate.attributes);
  RETURN_IF_ERROR(ValidateMarginals(domain, sets));
  return sets;
}

}  // namespace

absl::Status Kernel::CheckCells(std::vector<AttributeSet> sets) const {
  std::ranges::sort(sets);
  const auto repeated = std::ranges::unique(sets);
  sets.erase(repeated.begin(), repeated.end());
  return TotalCells(domain_, sets).status();
}

absl::StatusOr<std::vector<std::span<const int64_t>>> Kernel::RememberedCounts(
    const std::vector<AttributeSet>& sets) {
  std::vector<AttributeSet> missing;
  for (const AttributeSet& set : sets) {
    if (!counted_.contains(set)) missing.push_back(set);
  }
  std::ranges::sort(missing);
  const auto repeated = std::ranges::unique(missing);
  missing.erase(repeated.begin(), repeated.end());
  if (!missing.empty()) {
    ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts,
                     CountMarginals(*table_, domain_, missing, *executor_));
    for (size_t i = 0; i < missing.size(); ++i) counted_.emplace(std::move(missing[i]), std::move(counts[i]));
  }
  std::vector<std::span<const int64_t>> found;
  for (const AttributeSet& set : sets) found.emplace_back(counted_.at(set));
  return found;
}

absl::StatusOr<size_t> Kernel::SelectWorstApproximated(std::span<const ApproximatedMarginal> candidates,
                                                       Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> sets, SetsOf(domain_, candidates));
  std::vector<LatticeEstimate> estimates;
  for (const ApproximatedMarginal& candidate : candidates) {
    ASSIGN_OR_RETURN(LatticeEstimate estimate,
                     RoundToLattice(candidate, domain_.CellCount(candidate.attributes).value_or(0)));
    estimates.push_back(std::move(estimate));
  }
  ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(unit_, 1));
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const SelectionDraw recorded, NextRecorded<SelectionDraw>());
    if (!std::equal(candidates.begin(), candidates.end(), recorded.candidates.begin(),
                    recorded.candidates.end()) ||
        recorded.epsilon != epsilon) {
      return AnotherQuestion();
    }
    return recorded.selected;
  }
  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, RememberedCounts(sets));
  std::vector<int64_t> scores;
  scores.reserve(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) scores.push_back(ScoreOf(counts[i], estimates[i]));
  ASSIGN_OR_RETURN(const size_t selected,
                   DrawExponential(*bits_, scores, SelectionFactor(epsilon, one_marginal)));
  if (record_ != nullptr) {
    record_->push_back(SelectionDraw{
        .candidates = {candidates.begin(), candidates.end()}, .epsilon = epsilon, .selected = selected});
  }
  return selected;
}

absl::StatusOr<size_t> Kernel::SelectWorstApproximated(std::span<const ApproximatedGroup> candidates,
                                                       Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  if (candidates.empty()) return absl::InvalidArgumentError("there are no candidates to choose from");
  std::vector<AttributeSet> sets;
  std::vector<LatticeEstimate> estimates;
  for (const ApproximatedGroup& candidate : candidates) {
    RETURN_IF_ERROR(ValidateQueries(domain_, std::span(&candidate.group, 1)));
    ASSIGN_OR_RETURN(LatticeEstimate estimate, RoundToLattice(candidate.estimate, candidate.penalty,
                                                              NumberOfQueries(domain_, candidate.group)));
    sets.push_back(candidate.group.attributes);
    estimates.push_back(std::move(estimate));
  }
  RETURN_IF_ERROR(CheckCells(sets));
  ASSIGN_OR_RETURN(const int64_t range, ErrorRange(domain_, unit_, candidates));
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const GroupSelectionDraw recorded, NextRecorded<GroupSelectionDraw>());
    if (!std::ranges::equal(candidates, recorded.candidates) || recorded.epsilon != epsilon)
      return AnotherQuestion();
    return recorded.selected;
  }
  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, RememberedCounts(sets));
  std::vector<int64_t> scores;
  scores.reserve(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    scores.push_back(ScoreOf(AnswersFromCounts(domain_, candidates[i].group, counts[i]), estimates[i],
                             candidates[i].error));
  }
  ASSIGN_OR_RETURN(const size_t selected, DrawExponential(*bits_, scores, FactorForRange(epsilon, range)));
  if (record_ != nullptr) {
    record_->push_back(GroupSelectionDraw{
        .candidates = {candidates.begin(), candidates.end()}, .epsilon = epsilon, .selected = selected});
  }
  return selected;
}

absl::StatusOr<FamilyChoice> Kernel::SelectWorstCandidate(std::span<const CandidateFamily> families,
                                                          Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  ASSIGN_OR_RETURN(const int64_t range, CandidateRange(domain_, unit_, families));
  std::vector<AttributeSet> sets;
  std::vector<LatticeEstimate> estimates;
  sets.reserve(families.size());
  estimates.reserve(families.size());
  int64_t left = 0;
  for (const CandidateFamily& family : families) {
    ASSIGN_OR_RETURN(LatticeEstimate estimate, RoundFamily(domain_, family));
    sets.push_back(family.group.attributes);
    estimates.push_back(std::move(estimate));
    left += NumberOfCandidates(domain_, family);
  }
  if (left == 0) return absl::InvalidArgumentError("there are no candidates to choose from");
  RETURN_IF_ERROR(CheckCells(sets));
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const FamilySelectionDraw recorded, NextRecorded<FamilySelectionDraw>());
    if (!std::ranges::equal(families, recorded.families) || recorded.epsilon != epsilon)
      return AnotherQuestion();
    return recorded.selected;
  }
  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, RememberedCounts(sets));
  ScoredCandidates scored;
  for (size_t i = 0; i < families.size(); ++i)
    AddScores(i, families[i], AnswersOf(domain_, families[i], counts[i]), estimates[i], scored);
  ASSIGN_OR_RETURN(const size_t selected,
                   DrawExponential(*bits_, scored.scores, FactorForRange(epsilon, range)));
  const FamilyChoice choice = scored.candidates[selected];
  if (record_ != nullptr) {
    record_->push_back(FamilySelectionDraw{
        .families = {families.begin(), families.end()}, .epsilon = epsilon, .selected = choice});
  }
  return choice;
}

const Kernel::ScoredQuestion* Kernel::RememberedScores(const Utility& utility,
                                                       std::span<const double> bonuses) const {
  const bool is_same =
      scored_.has_value() && scored_->utility == utility && std::ranges::equal(scored_->bonuses, bonuses);
  return is_same ? &*scored_ : nullptr;
}

absl::StatusOr<size_t> Kernel::SelectByUtility(const Utility& utility, std::span<const double> bonuses,
                                               Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  // Whatever was scored has passed these checks.
  const ScoredQuestion* known = RememberedScores(utility, bonuses);
  LatticeUtility lattice;
  if (known == nullptr) {
    ASSIGN_OR_RETURN(lattice, ToLattice(utility, bonuses, domain_, unit_));
    if (table_ != nullptr) RETURN_IF_ERROR(CheckGrouping(lattice, *table_, unit_));
  }
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const UtilityDraw recorded, NextRecorded<UtilityDraw>());
    if (recorded.utility != utility || recorded.epsilon != epsilon ||
        !std::equal(bonuses.begin(), bonuses.end(), recorded.bonuses.begin(), recorded.bonuses.end())) {
      return AnotherQuestion();
    }
    return recorded.selected;
  }
  std::vector<int64_t> computed;
  if (known == nullptr) {
    ASSIGN_OR_RETURN(computed, ScoresOf(lattice, *table_, domain_, *executor_));
  }
  const std::vector<int64_t>& scores = known == nullptr ? computed : known->scores;
  const int64_t range = known == nullptr ? lattice.range : known->range;
  ASSIGN_OR_RETURN(const size_t selected, DrawExponential(*bits_, scores, FactorForRange(epsilon, range)));
  if (known == nullptr && std::holds_alternative<LatticeGroups>(lattice.kind)) {
    scored_ = ScoredQuestion{.utility = utility,
                             .bonuses = {bonuses.begin(), bonuses.end()},
                             .range = range,
                             .scores = std::move(computed)};
  }
  if (record_ != nullptr) {
    record_->push_back(UtilityDraw{.utility = utility,
                                   .bonuses = {bonuses.begin(), bonuses.end()},
                                   .epsilon = epsilon,
                                   .selected = selected});
  }
  return selected;
}

}  // namespace curator::dp
