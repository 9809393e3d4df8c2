#include "dp/synthesis/dpsyn/reconstruction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/dpsyn/consistency.h"
#include "dp/synthesis/models/nearest_non_negative.h"

namespace curator::dp {
namespace {

// Of one cell of the view's marginal over `set`.
double VarianceOver(const ViewTable& view, const AttributeSet& set) {
  return view.variance * static_cast<double>(Marginalization(view.set, view.sizes, set).ratio());
}

ViewTable MarginalOf(const ViewTable& view, const AttributeSet& set) {
  ViewTable marginal{
      .set = set, .sizes = {}, .cells = Marginalized(view, set), .variance = VarianceOver(view, set)};
  for (size_t i = 0; i < view.set.size(); ++i) {
    if (Contains(set, view.set[i])) marginal.sizes.push_back(view.sizes[i]);
  }
  return marginal;
}

// One marginal's turn; the largest movement of one of its cells.
double FitOne(const ViewTable& goal, ViewTable& table) {
  const Marginalization map(table.set, table.sizes, goal.set);
  std::vector<double> factors(map.cells());
  map.ForEachCell([&](size_t cell, size_t of_subset) { factors[of_subset] += table.cells[cell]; });
  std::vector<double> added(map.cells());
  double moved = 0;
  for (size_t cell = 0; cell < factors.size(); ++cell) {
    const double wanted = std::max(0.0, goal.cells[cell]);
    moved = std::max(moved, std::abs(wanted - factors[cell]));
    if (factors[cell] <= 1e-12) added[cell] = wanted / static_cast<double>(map.ratio());
    factors[cell] = factors[cell] > 1e-12 ? wanted / factors[cell] : 0;
  }
  map.ForEachCell([&](size_t cell, size_t of_subset) {
    table.cells[cell] = table.cells[cell] * factors[of_subset] + added[of_subset];
  });
  return moved;
}

// One marginal's turn of projections; the largest movement of one of its cells.
double ProjectOne(const ViewTable& goal, ViewTable& table) {
  const Marginalization map(table.set, table.sizes, goal.set);
  std::vector<std::vector<size_t>> groups(map.cells());
  map.ForEachCell([&](size_t cell, size_t of_subset) { groups[of_subset].push_back(cell); });
  double moved = 0;
  std::vector<double> counts;
  for (size_t of_subset = 0; of_subset < groups.size(); ++of_subset) {
    counts.clear();
    double sum = 0;
    for (const size_t cell : groups[of_subset]) {
      counts.push_back(table.cells[cell]);
      sum += table.cells[cell];
    }
    moved = std::max(moved, std::abs(sum - goal.cells[of_subset]));
    counts = NearestNonNegative(std::move(counts), std::max(0.0, goal.cells[of_subset]));
    for (size_t i = 0; i < counts.size(); ++i) table.cells[groups[of_subset][i]] = counts[i];
  }
  return moved;
}

// The subsets of all sets of `known`, without attributes of one value, small ones first, each with the
// marginal that covers it.
std::vector<std::pair<AttributeSet, const ViewTable*>> SetsBelow(std::span<const ViewTable> known) {
  std::map<AttributeSet, const ViewTable*> below;
  for (const ViewTable& marginal : known) {
    // An attribute of one value adds nothing; of attributes with two or more, 2^n is at most the number of
    // cells.
    AttributeSet informative;
    for (size_t i = 0; i < marginal.set.size(); ++i) {
      if (marginal.sizes[i] > 1) informative.push_back(marginal.set[i]);
    }
    for (size_t mask = 0; mask < size_t{1} << informative.size(); ++mask) {
      AttributeSet subset;
      for (size_t i = 0; i < informative.size(); ++i) {
        if ((mask >> i & 1) == 1) subset.push_back(informative[i]);
      }
      below.emplace(std::move(subset), &marginal);
    }
  }
  std::vector<std::pair<AttributeSet, const ViewTable*>> sorted(below.begin(), below.end());
  std::ranges::stable_sort(sorted, {}, [](const auto& entry) { return entry.first.size(); });
  return sorted;
}

}  // namespace

std::vector<std::pair<AttributeSet, size_t>> KnownSets(std::span<const ViewTable> views,
                                                       const AttributeSet& set) {
  std::map<AttributeSet, size_t> best;  // the view of each shared set
  for (size_t i = 0; i < views.size(); ++i) {
    const auto [entry, fresh] = best.emplace(Intersection(views[i].set, set), i);
    if (!fresh && VarianceOver(views[i], entry->first) < VarianceOver(views[entry->second], entry->first))
      entry->second = i;
  }
  std::vector<std::pair<AttributeSet, size_t>> known;
  for (const auto& [shared, view] : best) {
    const bool largest = std::ranges::none_of(best, [&shared = shared](const auto& other) {
      return other.first.size() > shared.size() && IsSubset(shared, other.first);
    });
    if (largest) known.emplace_back(shared, view);
  }
  return known;
}

std::vector<ViewTable> KnownMarginals(std::span<const ViewTable> views, const AttributeSet& set) {
  std::vector<ViewTable> known;
  for (const auto& [shared, view] : KnownSets(views, set)) known.push_back(MarginalOf(views[view], shared));
  return known;
}

absl::Status FitProportionally(std::span<const ViewTable> known, double tolerance, int most_sweeps,
                               ViewTable& start, Pacer& pacer) {
  const double total = known.empty() ? 1 : std::max(1.0, TotalOf(known.front()));
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double moved = 0;
    for (const ViewTable& goal : known) {
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(start.cells.size())));
      moved = std::max(moved, FitOne(goal, start));
    }
    if (moved <= tolerance * total || known.size() == 1) break;
  }
  return absl::OkStatus();
}

absl::Status ProjectOnto(std::span<const ViewTable> known, double tolerance, int most_sweeps,
                         ViewTable& table, Pacer& pacer) {
  const double total = known.empty() ? 1 : std::max(1.0, TotalOf(known.front()));
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double moved = 0;
    for (const ViewTable& goal : known) {
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(table.cells.size())));
      moved = std::max(moved, ProjectOne(goal, table));
    }
    if (moved <= tolerance * total) break;
  }
  return absl::OkStatus();
}

absl::Status FitLeastSquares(std::span<const ViewTable> known, ViewTable& table, Pacer& pacer) {
  std::ranges::fill(table.cells, 0.0);
  double total = 0;
  for (const auto& [subset, source] : SetsBelow(known)) {
    if (subset.empty()) total = TotalOf(*source);
    // What is missing of this marginal, after the smaller ones have been met, has no marginals of its own:
    // spread evenly, it disturbs none of them.
    const std::vector<double> goal = Marginalized(*source, subset);
    const Marginalization map(table.set, table.sizes, subset);
    std::vector<double> missing = goal;
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(table.cells.size())));
    map.ForEachCell([&](size_t cell, size_t of_subset) { missing[of_subset] -= table.cells[cell]; });
    for (double& each : missing) each /= static_cast<double>(map.ratio());
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(table.cells.size())));
    map.ForEachCell([&](size_t cell, size_t of_subset) { table.cells[cell] += missing[of_subset]; });
  }
  table.cells = NearestNonNegative(std::move(table.cells), std::max(0.0, total));
  return absl::OkStatus();
}

}  // namespace curator::dp
