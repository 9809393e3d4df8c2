// The operator of the kernel that chooses among more candidates than are held at once.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/candidate_families.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/selection_score.h"
#include "dp/noise/blockwise_selection.h"
#include "dp/noise/exponential_mechanism.h"

namespace curator::dp {
namespace {

// What has been chosen, by family.
using Chosen = std::map<size_t, std::set<int64_t>>;

CandidateFamily Without(const Chosen& chosen, size_t index, CandidateFamily family) {
  const auto found = chosen.find(index);
  if (found == chosen.end()) return family;
  std::vector<int64_t> excluded;
  std::ranges::set_union(family.excluded, found->second, std::back_inserter(excluded));
  family.excluded = std::move(excluded);
  return family;
}

absl::StatusOr<std::vector<CandidateFamily>> All(const FamilyStream& stream, const Chosen& chosen) {
  std::vector<CandidateFamily> families;
  for (size_t i = 0; i < stream.size(); ++i) {
    ASSIGN_OR_RETURN(CandidateFamily family, stream.Family(i));
    families.push_back(Without(chosen, i, std::move(family)));
  }
  return families;
}

}  // namespace

absl::StatusOr<std::vector<FamilyChoice>> Kernel::SelectWorstCandidates(const FamilyStream& stream,
                                                                        int64_t count, Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  int64_t range = 0;
  int64_t candidates = 0;
  for (size_t i = 0; i < stream.size(); ++i) {
    const CandidateFamily family = stream.Candidates(i);
    ASSIGN_OR_RETURN(const int64_t own, CandidateRange(domain_, unit_, std::span(&family, 1)));
    range = std::max(range, own);
    RETURN_IF_ERROR(CheckPenaltyAndExcluded(domain_, family));
    candidates += NumberOfCandidates(domain_, family);
    if (candidates > static_cast<int64_t>(kMaxCandidates))
      return absl::InvalidArgumentError("a selection is among at most 2^28 candidates");
    RETURN_IF_ERROR(CheckCells({family.group.attributes}));
  }
  if (count < 0 || candidates < count)
    return absl::InvalidArgumentError("there are fewer candidates than are to be chosen");
  for (int64_t i = 0; i < count; ++i) RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));
  if (count == 0) return std::vector<FamilyChoice>{};
  if (table_ == nullptr) return RecordedChoices(stream, count, epsilon);

  Chosen chosen;
  const auto scores_of = [&](size_t index) -> absl::StatusOr<std::vector<int64_t>> {
    ASSIGN_OR_RETURN(CandidateFamily family, stream.Family(index));
    family = Without(chosen, index, std::move(family));
    ASSIGN_OR_RETURN(const LatticeEstimate estimate, RoundFamily(domain_, family));
    ASSIGN_OR_RETURN(const auto counts,
                     CountMarginals(*table_, domain_, {family.group.attributes}, *executor_));
    ScoredCandidates scored;
    AddScores(index, family, AnswersOf(domain_, family, counts.front()), estimate, scored);
    return std::move(scored.scores);
  };
  ASSIGN_OR_RETURN(BlockwiseSelection selection,
                   BlockwiseSelection::Create(stream.size(), scores_of, FactorForRange(epsilon, range)));
  std::vector<FamilyChoice> choices;
  while (true) {
    ASSIGN_OR_RETURN(const BlockChoice drawn, selection.Draw(*bits_));
    const CandidateFamily family = Without(chosen, drawn.block, stream.Candidates(drawn.block));
    const int64_t query = QueryAt(family, static_cast<int64_t>(drawn.index));
    choices.push_back({drawn.block, static_cast<size_t>(query)});
    if (record_ != nullptr) {
      ASSIGN_OR_RETURN(std::vector<CandidateFamily> families, All(stream, chosen));
      record_->push_back(FamilySelectionDraw{
          .families = std::move(families), .epsilon = epsilon, .selected = choices.back()});
    }
    if (static_cast<int64_t>(choices.size()) == count) return choices;
    chosen[drawn.block].insert(query);
    RETURN_IF_ERROR(selection.Rescore(drawn.block));
  }
}

absl::StatusOr<std::vector<FamilyChoice>> Kernel::RecordedChoices(const FamilyStream& stream, int64_t count,
                                                                  Epsilon epsilon) {
  Chosen chosen;
  std::vector<FamilyChoice> choices;
  for (int64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const FamilySelectionDraw recorded, NextRecorded<FamilySelectionDraw>());
    ASSIGN_OR_RETURN(const std::vector<CandidateFamily> families, All(stream, chosen));
    if (families != recorded.families || recorded.epsilon != epsilon) return AnotherQuestion();
    choices.push_back(recorded.selected);
    chosen[recorded.selected.family].insert(static_cast<int64_t>(recorded.selected.query));
  }
  return choices;
}

}  // namespace curator::dp
