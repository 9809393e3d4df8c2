#include "dp/synthesis/dpsyn/view_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {

ViewTable MakeView(const Domain& domain, const AttributeSet& set, double value, double variance) {
  ViewTable view{.set = set, .sizes = domain.SizesOf(set), .cells = {}, .variance = variance};
  size_t cells = 1;
  for (const int64_t size : view.sizes) cells *= static_cast<size_t>(size);
  view.cells.assign(cells, value);
  return view;
}

double TotalOf(const ViewTable& view) {
  return std::accumulate(view.cells.begin(), view.cells.end(), 0.0);
}

Marginalization::Marginalization(const AttributeSet& set, std::span<const int64_t> sizes,
                                 const AttributeSet& subset) {
  const std::vector<int64_t> strides = StridesWithin(set, sizes, subset);
  for (size_t i = 0; i < set.size(); ++i) {
    const auto size = static_cast<size_t>(sizes[i]);
    whole_cells_ *= size;
    if (strides[i] > 0) subset_cells_ *= size;
  }
  if (set.empty()) return;
  outer_sizes_.assign(sizes.begin(), sizes.end() - 1);
  outer_strides_.assign(strides.begin(), strides.end() - 1);
  last_size_ = sizes.back();
  last_stride_ = static_cast<size_t>(strides.back());
}

std::vector<double> Marginalized(const ViewTable& view, const AttributeSet& subset) {
  const Marginalization map(view.set, view.sizes, subset);
  std::vector<double> sums(map.cells());
  map.ForEachCell([&](size_t cell, size_t of_subset) { sums[of_subset] += view.cells[cell]; });
  return sums;
}

namespace {

// The L1 distance between the table and the product of its marginals over `known` and `added`, as a share.
double Dependence(const ViewTable& view, const OrderedView& step) {
  if (step.known.empty()) return 0;
  const double total = TotalOf(view);
  if (total <= 0) return 0;
  const std::vector<double> known = Marginalized(view, step.known);
  const std::vector<double> added = Marginalized(view, step.added);
  std::vector<size_t> row(view.cells.size());
  Marginalization(view.set, view.sizes, step.known).ForEachCell([&](size_t cell, size_t of_subset) {
    row[cell] = of_subset;
  });
  double distance = 0;
  Marginalization(view.set, view.sizes, step.added).ForEachCell([&](size_t cell, size_t of_subset) {
    distance += std::abs(view.cells[cell] - known[row[cell]] * added[of_subset] / total);
  });
  return distance / total;
}

OrderedView StepOf(std::span<const ViewTable> views, size_t view, const AttributeSet& there) {
  const AttributeSet& set = views[view].set;
  return {.view = view, .known = Intersection(set, there), .added = Difference(set, there)};
}

}  // namespace

std::vector<OrderedView> TopologicalOrder(std::span<const ViewTable> views, size_t first) {
  std::vector<OrderedView> order;
  AttributeSet there;
  std::vector<bool> used(views.size());
  const auto take = [&](OrderedView step) {
    there = Union(there, step.added);
    used[step.view] = true;
    order.push_back(std::move(step));
  };
  take(StepOf(views, first, {}));
  while (true) {
    std::vector<OrderedView> fewest;
    for (size_t view = 0; view < views.size(); ++view) {
      if (used[view]) continue;
      OrderedView step = StepOf(views, view, there);
      if (step.added.empty()) {
        used[view] = true;
        continue;
      }
      if (!fewest.empty() && step.added.size() > fewest.front().added.size()) continue;
      if (!fewest.empty() && step.added.size() < fewest.front().added.size()) fewest.clear();
      fewest.push_back(std::move(step));
    }
    if (fewest.empty()) return order;
    size_t best = 0;
    double most = -1;
    for (size_t i = 0; i < fewest.size(); ++i) {
      const double dependence = Dependence(views[fewest[i].view], fewest[i]);
      if (dependence > most + 1e-12) std::tie(most, best) = std::pair(dependence, i);
    }
    take(std::move(fewest[best]));
  }
}

}  // namespace curator::dp
