#include "dp/synthesis/dpsyn/view_order.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace curator::dp {
namespace {

// The L1 distance between the table and the product of its marginals over `known` and `added`, as a share.
double Dependence(const ViewTable& view, const OrderedView& step) {
  if (step.known.empty()) return 0;
  const double total = TotalOf(view);
  if (total <= 0) return 0;
  const std::vector<double> known = Folded(view, step.known);
  const std::vector<double> added = Folded(view, step.added);
  std::vector<size_t> row(view.cells.size());
  Fold(view.set, view.sizes, step.known).ForEachCell([&](size_t cell, size_t folded) { row[cell] = folded; });
  double distance = 0;
  Fold(view.set, view.sizes, step.added).ForEachCell([&](size_t cell, size_t folded) {
    distance += std::abs(view.cells[cell] - known[row[cell]] * added[folded] / total);
  });
  return distance / total;
}

OrderedView StepOf(std::span<const ViewTable> views, size_t view, const AttributeSet& there) {
  OrderedView step{.view = view, .known = Intersection(views[view].set, there), .added = {}};
  std::ranges::set_difference(views[view].set, there, std::back_inserter(step.added));
  return step;
}

}  // namespace

std::vector<OrderedView> TopologicalOrder(std::span<const ViewTable> views, size_t first) {
  std::vector<OrderedView> order;
  AttributeSet there;
  std::vector<bool> used(views.size());
  const auto take = [&](OrderedView step) {
    AttributeSet both;
    std::ranges::set_union(there, step.added, std::back_inserter(both));
    there = std::move(both);
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
