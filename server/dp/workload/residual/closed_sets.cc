#include "dp/workload/residual/closed_sets.h"

#include <algorithm>

#include "dp/queries/product_queries.h"

namespace curator::dp {

std::optional<ClosedSets> ClosedSets::Create(std::span<const AttributeSet> sets, size_t most) {
  ClosedSets closed;
  SetPositions found;
  const auto add = [&](const AttributeSet& set, size_t subset) {
    if (found.Contains(set, subset)) return;
    found.Add(set, subset, 0);
    closed.sets_.push_back(SubsetOf(set, subset));
  };
  add({}, 0);
  for (const AttributeSet& set : sets) {
    if (set.size() > kMostProductAxes) return std::nullopt;
    if (found.Contains(set, SubsetsOfSize(set.size()) - 1)) continue;  // and so are its subsets
    for (size_t subset = 1; subset < SubsetsOfSize(set.size()); ++subset) add(set, subset);
    if (closed.sets_.size() > most) return std::nullopt;
  }
  std::ranges::sort(closed.sets_, [](const AttributeSet& a, const AttributeSet& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  closed.positions_.Reserve(closed.sets_.size());
  for (uint32_t i = 0; i < closed.sets_.size(); ++i)
    closed.positions_.Add(closed.sets_[i], SubsetsOfSize(closed.sets_[i].size()) - 1, i);
  return closed;
}

}  // namespace curator::dp
