#include "dp/synthesis/dpsyn/view_table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace curator::dp {

std::vector<int64_t> SizesOf(const Domain& domain, const AttributeSet& set) {
  std::vector<int64_t> sizes;
  for (const uint32_t attribute : set) sizes.push_back(domain.attributes()[attribute].size());
  return sizes;
}

ViewTable MakeView(const Domain& domain, const AttributeSet& set, double value, double variance) {
  ViewTable view{.set = set, .sizes = SizesOf(domain, set), .cells = {}, .variance = variance};
  size_t cells = 1;
  for (const int64_t size : view.sizes) cells *= static_cast<size_t>(size);
  view.cells.assign(cells, value);
  return view;
}

double TotalOf(const ViewTable& view) {
  return std::accumulate(view.cells.begin(), view.cells.end(), 0.0);
}

bool IsSubset(const AttributeSet& subset, const AttributeSet& set) {
  return std::ranges::includes(set, subset);
}

AttributeSet Intersection(const AttributeSet& left, const AttributeSet& right) {
  AttributeSet both;
  std::ranges::set_intersection(left, right, std::back_inserter(both));
  return both;
}

Fold::Fold(const AttributeSet& set, std::span<const int64_t> sizes, const AttributeSet& subset) {
  std::vector<size_t> strides(set.size());
  for (size_t i = set.size(); i-- > 0;) {
    const auto size = static_cast<size_t>(sizes[i]);
    whole_cells_ *= size;
    if (!std::ranges::binary_search(subset, set[i])) continue;
    strides[i] = folded_cells_;
    folded_cells_ *= size;
  }
  if (set.empty()) return;
  outer_sizes_.assign(sizes.begin(), sizes.end() - 1);
  outer_strides_.assign(strides.begin(), strides.end() - 1);
  last_size_ = sizes.back();
  last_stride_ = strides.back();
}

std::vector<double> Folded(const ViewTable& view, const AttributeSet& subset) {
  const Fold fold(view.set, view.sizes, subset);
  std::vector<double> sums(fold.cells());
  fold.ForEachCell([&](size_t cell, size_t folded) { sums[folded] += view.cells[cell]; });
  return sums;
}

std::vector<double> NearestNonNegative(std::vector<double> counts, double total) {
  std::vector<double> falling = counts;
  std::ranges::sort(falling, std::greater<>());
  double sum = 0;
  double excess = 0;
  for (size_t i = 0; i < falling.size(); ++i) {
    sum += falling[i];
    const double shift = (sum - total) / static_cast<double>(i + 1);
    if (falling[i] <= shift) break;
    excess = shift;
  }
  for (double& count : counts) count = std::max(0.0, count - excess);
  return counts;
}

}  // namespace curator::dp
