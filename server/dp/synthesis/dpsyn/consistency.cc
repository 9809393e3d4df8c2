#include "dp/synthesis/dpsyn/consistency.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::dp {
namespace {

// Each view's marginal over a shared set, and their weighted average.
struct Estimates {
  std::vector<Marginalization> maps;
  std::vector<std::vector<double>> marginals;
  std::vector<double> average;
};

enum class TrustOrder { kByVariance, kSingleAttributesFirst };

// The share of each view in the average.
std::vector<double> WeightsFor(const SharedSet& shared, const std::vector<ViewTable>& views,
                               const std::vector<Marginalization>& maps, TrustOrder trust) {
  std::vector<double> weights;
  double sum = 0;
  for (size_t i = 0; i < shared.views.size(); ++i) {
    const ViewTable& view = views[shared.views[i]];
    weights.push_back(1 / (static_cast<double>(maps[i].ratio()) * std::max(view.variance, 1e-12)));
    if (trust == TrustOrder::kSingleAttributesFirst && view.set == shared.set) {
      std::vector<double> all(shared.views.size());
      all[i] = 1;
      return all;
    }
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

absl::StatusOr<Estimates> EstimatesOf(const SharedSet& shared, const std::vector<ViewTable>& views,
                                      TrustOrder trust, Pacer& pacer) {
  Estimates estimates;
  for (const size_t view : shared.views) {
    const ViewTable& table = views[view];
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(table.cells.size())));
    estimates.maps.emplace_back(table.set, table.sizes, shared.set);
    std::vector<double>& sums = estimates.marginals.emplace_back(estimates.maps.back().cells());
    estimates.maps.back().ForEachCell(
        [&](size_t cell, size_t of_subset) { sums[of_subset] += table.cells[cell]; });
  }
  const std::vector<double> weights = WeightsFor(shared, views, estimates.maps, trust);
  estimates.average.assign(estimates.marginals.front().size(), 0.0);
  for (size_t i = 0; i < weights.size(); ++i) {
    for (size_t cell = 0; cell < estimates.average.size(); ++cell)
      estimates.average[cell] += weights[i] * estimates.marginals[i][cell];
  }
  return estimates;
}

// One pass of proportional adjustment; the largest movement of a marginal's cell.
absl::StatusOr<double> RakeOnce(const std::vector<SharedSet>& all, std::vector<ViewTable>& views,
                                Pacer& pacer) {
  double moved = 0;
  for (const SharedSet& shared : all) {
    const TrustOrder trust =
        shared.set.size() <= 1 ? TrustOrder::kSingleAttributesFirst : TrustOrder::kByVariance;
    ASSIGN_OR_RETURN(const Estimates estimates, EstimatesOf(shared, views, trust, pacer));
    for (size_t i = 0; i < shared.views.size(); ++i) {
      const Marginalization& map = estimates.maps[i];
      std::vector<double> factors(map.cells());
      std::vector<double> added(map.cells());
      for (size_t cell = 0; cell < factors.size(); ++cell) {
        const double own = estimates.marginals[i][cell];
        const double goal = estimates.average[cell];
        moved = std::max(moved, std::abs(goal - own));
        if (own > 1e-12) {
          factors[cell] = goal / own;
        } else {
          added[cell] = goal / static_cast<double>(map.ratio());
        }
      }
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(views[shared.views[i]].cells.size())));
      std::vector<double>& cells = views[shared.views[i]].cells;
      map.ForEachCell([&](size_t cell, size_t of_subset) {
        cells[cell] = cells[cell] * factors[of_subset] + added[of_subset];
      });
    }
  }
  return moved;
}

// Which of some sets hold an attribute: sets that share none are not compared.
class Holders {
 public:
  explicit Holders(const std::vector<AttributeSet>& sets) : sets_(sets), common_(sets.size()) {
    for (size_t i = 0; i < sets.size(); ++i) {
      for (const uint32_t attribute : sets[i]) {
        if (attribute >= of_.size()) of_.resize(attribute + 1);
        of_[attribute].push_back(i);
      }
    }
    known_.resize(of_.size());
  }

  // Calls visit(intersection) for the sets below `end` that share an attribute with `set`, one of these. A
  // single attribute is visited once in the life of this object. Of a small `set` each intersection is
  // visited once: thousands of views have no more than 2^|set| of them.
  template <typename Visit>
  void Intersect(const AttributeSet& set, size_t end, Visit visit) {
    std::vector<size_t> touched;
    for (size_t place = 0; place < set.size(); ++place) {
      for (const size_t i : of_[set[place]]) {
        if (i >= end) break;
        if (common_[i].number++ == 0) touched.push_back(i);
        common_[i].last = set[place];
        if (place < kMostMarked) common_[i].places |= 1U << place;
      }
    }
    const bool marks = set.size() <= kMostMarked;
    std::vector<bool> visited(marks ? size_t{1} << set.size() : 0);  // by places
    for (const size_t i : touched) {
      const Common common = std::exchange(common_[i], {});
      if (common.number > 1) {
        if (marks && visited[common.places]) continue;
        if (marks) visited[common.places] = true;
        visit(Intersection(set, sets_[i]));
      } else if (!known_[common.last]) {
        known_[common.last] = true;
        visit(AttributeSet{common.last});
      }
    }
  }

  // The positions of the sets that hold all of `set`, rising.
  std::vector<size_t> OfAll(const AttributeSet& set) const {
    std::vector<size_t> holders;
    if (set.empty()) {
      holders.resize(sets_.size());
      std::iota(holders.begin(), holders.end(), size_t{0});
      return holders;
    }
    const uint32_t rarest = *std::ranges::min_element(set, {}, [&](uint32_t a) { return of_[a].size(); });
    std::ranges::copy_if(of_[rarest], std::back_inserter(holders),
                         [&](size_t i) { return IsSubset(set, sets_[i]); });
    return holders;
  }

 private:
  static constexpr size_t kMostMarked = 16;

  struct Common {
    size_t number = 0;  // of attributes
    uint32_t last = 0;
    uint32_t places = 0;  // of the first kMostMarked attributes of the set, those that are shared
  };

  const std::vector<AttributeSet>& sets_;
  std::vector<std::vector<size_t>> of_;  // by attribute, rising
  std::vector<Common> common_;           // all 0 between calls
  std::vector<bool> known_;              // single attributes that were visited
};

}  // namespace

size_t MostShared(size_t sets) {
  const size_t compared = kMostIntersections / std::max<size_t>(1, sets);
  return compared <= sets / 2 ? 0 : std::min(kMostSharedSets, compared - sets / 2);
}

absl::StatusOr<std::vector<SharedSet>> SharedSets(const std::vector<AttributeSet>& sets, Pacer& pacer) {
  const size_t most = MostShared(sets.size());
  const auto too_many = [&] {
    return InvalidField(
        "settings.views",
        absl::StrCat(sets.size(), " views, single attributes and the total among them, overlap in more than ",
                     most, " ways, the most of so many views; ", sets.size() / 2, " views may overlap in ",
                     MostShared(sets.size() / 2),
                     ": ask for fewer attributes, or list fewer or smaller views"));
  };
  std::set<AttributeSet> found;
  if (sets.size() > 1) found.insert(AttributeSet{});
  if (found.size() > most) return too_many();
  Holders holders(sets);
  std::vector<AttributeSet> fresh;
  for (size_t i = 0; i < sets.size(); ++i) {
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(i)));
    holders.Intersect(sets[i], i, [&](AttributeSet both) {
      if (found.insert(both).second) fresh.push_back(std::move(both));
    });
    if (found.size() > most) return too_many();
  }
  // A shared set cut by a view is shared by that view and by those that shared it.
  while (!fresh.empty()) {
    std::vector<AttributeSet> next;
    for (const AttributeSet& shared : fresh) {
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(sets.size())));
      holders.Intersect(shared, sets.size(), [&](AttributeSet both) {
        if (found.insert(both).second) next.push_back(std::move(both));
      });
      if (found.size() > most) return too_many();
    }
    fresh = std::move(next);
  }
  std::vector<SharedSet> all;
  for (const AttributeSet& set : found) {
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(sets.size())));
    all.push_back({.set = set, .views = holders.OfAll(set)});
  }
  std::ranges::stable_sort(all, {}, [](const SharedSet& shared) { return shared.set.size(); });
  return all;
}

absl::StatusOr<std::vector<SharedSet>> SharedSets(const std::vector<AttributeSet>& sets) {
  Pacer patient{std::stop_token()};
  return SharedSets(sets, patient);
}

absl::Status MakeConsistent(const std::vector<SharedSet>& shared_sets, std::vector<ViewTable>& views,
                            Pacer& pacer) {
  for (const SharedSet& shared : shared_sets) {
    ASSIGN_OR_RETURN(const Estimates estimates, EstimatesOf(shared, views, TrustOrder::kByVariance, pacer));
    for (size_t i = 0; i < shared.views.size(); ++i) {
      const Marginalization& map = estimates.maps[i];
      std::vector<double> added(map.cells());
      for (size_t cell = 0; cell < added.size(); ++cell) {
        added[cell] =
            (estimates.average[cell] - estimates.marginals[i][cell]) / static_cast<double>(map.ratio());
      }
      std::vector<double>& cells = views[shared.views[i]].cells;
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(cells.size())));
      map.ForEachCell([&](size_t cell, size_t of_subset) { cells[cell] += added[of_subset]; });
    }
  }
  return absl::OkStatus();
}

absl::Status RakeConsistent(const std::vector<SharedSet>& shared, double tolerance, int most_sweeps,
                            std::vector<ViewTable>& views, Pacer& pacer) {
  if (views.empty()) return absl::OkStatus();
  const double total = std::max(1.0, TotalOf(views.front()));
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    ASSIGN_OR_RETURN(const double moved, RakeOnce(shared, views, pacer));
    if (moved <= tolerance * total) break;
  }
  return absl::OkStatus();
}

}  // namespace curator::dp
