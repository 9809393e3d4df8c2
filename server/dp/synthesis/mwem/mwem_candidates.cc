#include "dp/synthesis/mwem/mwem_candidates.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "dp/kernel/selection_score.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

bool HasAny(const AttributeSet& set, const AttributeSet& wanted) {
  return std::ranges::any_of(
      set, [&wanted](uint32_t attribute) { return std::ranges::binary_search(wanted, attribute); });
}

}  // namespace

MwemCandidates::MwemCandidates(const Domain& domain, std::span<const QueryGroup> workload) : domain_(domain) {
  families_.reserve(workload.size());
  for (const QueryGroup& group : workload) families_.push_back({.group = group, .estimate = {}});
}

void MwemCandidates::Restart(double penalty) {
  for (CandidateFamily& family : families_) {
    const bool whole = IsWholeMarginal(family.group);
    const int64_t answers = whole ? NumberOfQueries(domain_, family.group) : 1;
    family.penalty = penalty * static_cast<double>(answers);
    family.excluded.clear();
  }
}

void MwemCandidates::DropUnfit(const FactoredFit& fit) {
  std::erase_if(families_,
                [&fit](const CandidateFamily& family) { return !fit.Fits(family.group.attributes); });
}

absl::Status MwemCandidates::Estimate(FactoredFit& fit, const std::optional<AttributeSet>& changed,
                                      Pacer& pacer) {
  std::vector<AttributeSet> sets;
  std::vector<size_t> of;
  for (size_t i = 0; i < families_.size(); ++i) {
    const AttributeSet& set = families_[i].group.attributes;
    if (changed && !HasAny(set, *changed)) continue;
    sets.push_back(set);
    of.push_back(i);
  }
  ASSIGN_OR_RETURN(const std::vector<std::vector<double>> cells, fit.Marginals(sets, pacer));
  for (size_t i = 0; i < of.size(); ++i) {
    CandidateFamily& family = families_[of[i]];
    family.estimate = AnswersFromEstimates(domain_, family.group, cells[i]);
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(family.estimate.size())));
  }
  return absl::OkStatus();
}

int64_t MwemCandidates::left() const {
  int64_t left = 0;
  for (const CandidateFamily& family : families_) left += NumberOfCandidates(domain_, family);
  return left;
}

FamilyChoice MwemCandidates::First() const {
  FamilyChoice first;
  while (NumberOfCandidates(domain_, families_[first.family]) == 0) ++first.family;
  for (const int64_t excluded : families_[first.family].excluded) {
    if (excluded != static_cast<int64_t>(first.query)) break;
    ++first.query;
  }
  return first;
}

void MwemCandidates::Exclude(FamilyChoice choice) {
  std::vector<int64_t>& excluded = families_[choice.family].excluded;
  const auto query = static_cast<int64_t>(choice.query);
  excluded.insert(std::ranges::lower_bound(excluded, query), query);
}

QueryGroup MwemCandidates::GroupOf(FamilyChoice choice) const {
  const QueryGroup& group = families_[choice.family].group;
  return IsWholeMarginal(group) ? group : SingleQuery(group, choice.query);
}

std::vector<double> MwemCandidates::EstimateOf(FamilyChoice choice) const {
  const CandidateFamily& family = families_[choice.family];
  if (IsWholeMarginal(family.group)) return family.estimate;
  return {family.estimate[choice.query]};
}

}  // namespace curator::dp
