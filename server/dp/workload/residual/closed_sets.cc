#include "dp/workload/residual/closed_sets.h"

#include <algorithm>
#include <utility>

#include "dp/queries/product_queries.h"

namespace curator::dp {

size_t ClosedSets::Hash::operator()(const AttributeSet& set) const {
  uint64_t hash = set.size();
  for (const uint32_t attribute : set) hash = (hash ^ attribute) * 0x9E3779B97F4A7C15;
  return static_cast<size_t>(hash ^ (hash >> 32));
}

std::optional<ClosedSets> ClosedSets::Create(std::span<const AttributeSet> sets, size_t most) {
  ClosedSets closed;
  const auto add = [&](AttributeSet set) {
    if (closed.positions_.try_emplace(set).second) closed.sets_.push_back(std::move(set));
  };
  add({});
  for (const AttributeSet& set : sets) {
    if (set.size() > kMostProductAxes) return std::nullopt;
    if (closed.positions_.contains(set)) continue;
    for (size_t subset = 1; subset < size_t{1} << set.size(); ++subset) add(SubsetOf(set, subset));
    if (closed.sets_.size() > most) return std::nullopt;
  }
  std::ranges::sort(closed.sets_, [](const AttributeSet& a, const AttributeSet& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (uint32_t i = 0; i < closed.sets_.size(); ++i) closed.positions_[closed.sets_[i]] = i;
  return closed;
}

std::vector<uint32_t> ClosedSets::SubsetsOf(const AttributeSet& set) const {
  std::vector<uint32_t> positions(size_t{1} << set.size());
  for (size_t subset = 0; subset < positions.size(); ++subset)
    positions[subset] = positions_.at(SubsetOf(set, subset));
  return positions;
}

AttributeSet SubsetOf(const AttributeSet& set, size_t subset) {
  AttributeSet chosen;
  for (size_t i = 0; i < set.size(); ++i) {
    if ((subset >> i) & 1) chosen.push_back(set[i]);
  }
  return chosen;
}

}  // namespace curator::dp
