#include "dp/domain/attribute_set.h"

#include <algorithm>
#include <iterator>

namespace curator::dp {

bool Contains(const AttributeSet& set, uint32_t attribute) {
  return std::ranges::binary_search(set, attribute);
}

bool IsSubset(const AttributeSet& subset, const AttributeSet& set) {
  return std::ranges::includes(set, subset);
}

AttributeSet Union(const AttributeSet& left, const AttributeSet& right) {
  AttributeSet all;
  std::ranges::set_union(left, right, std::back_inserter(all));
  return all;
}

AttributeSet Union(std::span<const AttributeSet> sets) {
  AttributeSet all;
  for (const AttributeSet& set : sets) all.insert(all.end(), set.begin(), set.end());
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

int64_t AttributesBeyondAFew(const AttributeSet& set) {
  constexpr int64_t kFew = 8;
  return std::max<int64_t>(0, std::ssize(set) - kFew);
}

AttributeSet Intersection(const AttributeSet& left, const AttributeSet& right) {
  AttributeSet both;
  std::ranges::set_intersection(left, right, std::back_inserter(both));
  return both;
}

AttributeSet Difference(const AttributeSet& set, const AttributeSet& removed) {
  AttributeSet rest;
  std::ranges::set_difference(set, removed, std::back_inserter(rest));
  return rest;
}

std::optional<size_t> PositionIn(const AttributeSet& set, uint32_t attribute) {
  const auto found = std::ranges::lower_bound(set, attribute);
  if (found == set.end() || *found != attribute) return std::nullopt;
  return static_cast<size_t>(found - set.begin());
}

}  // namespace curator::dp
