#include "dp/workload/residual/residual_projection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "dp/queries/product_queries.h"
#include "dp/workload/table_parts.h"

namespace curator::dp {
namespace {

constexpr int64_t kCodesOfAStep = 96;

double Quotient(const Rational& value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// The sets are closed under subsets, so each attribute has a group of its own.
std::map<uint32_t, const AxisQueries*> QueriesOfAttributes(const ProductQueries& queries) {
  std::map<uint32_t, const AxisQueries*> axes;
  for (const ProductGroup& group : queries.groups) {
    if (group.attributes.size() == 1) axes[group.attributes[0]] = &queries.axes[group.axes[0]];
  }
  return axes;
}

// For each measured group the most attributes that it has fewer than one of `widest`; 0 where it is in none.
std::vector<size_t> MissingAttributes(const ResidualErrors& errors, const std::vector<AttributeSet>& widest,
                                      size_t groups) {
  std::vector<size_t> missing(groups, 0);
  for (const AttributeSet& set : widest) {
    const std::vector<uint32_t> subsets = errors.SubsetsOf(set);
    for (size_t subset = 0; subset < subsets.size(); ++subset) {
      const auto attributes = static_cast<size_t>(std::popcount(subset));
      missing[subsets[subset]] = std::max(missing[subsets[subset]], set.size() - attributes);
    }
  }
  return missing;
}

}  // namespace

WidestSets::WidestSets(std::span<const AttributeSet> sets) {
  std::vector<const AttributeSet*> widest_first;
  for (const AttributeSet& set : sets) widest_first.push_back(&set);
  std::ranges::stable_sort(widest_first, std::greater<>(), [](const auto* set) { return set->size(); });
  for (const AttributeSet* set : widest_first) {
    if (containing_.contains(*set)) continue;
    for (size_t subset = 0; subset < size_t{1} << set->size(); ++subset) {
      AttributeSet chosen;
      for (size_t i = 0; i < set->size(); ++i) {
        if ((subset >> i & 1) != 0) chosen.push_back((*set)[i]);
      }
      containing_.try_emplace(std::move(chosen), sets_.size());
    }
    sets_.push_back(*set);
  }
}

int64_t ProjectionSteps(const Domain& domain, const ProductQueries& queries,
                        std::span<const AttributeSet> widest) {
  const std::map<uint32_t, const AxisQueries*> axes = QueriesOfAttributes(queries);
  int64_t steps = 0;
  for (const AttributeSet& set : widest) {
    int64_t of_cell = kCodesOfAStep;
    for (const uint32_t attribute : set) {
      const auto own = axes.find(attribute);
      if (own != axes.end() && !own->second->weights.empty())
        of_cell += domain.attributes()[attribute].size();
    }
    const int64_t cells = domain.CellCount(set).value_or(kMostProjectionSteps + 1);
    if (cells > kMostProjectionSteps) return kMostProjectionSteps + 1;
    steps = std::min(steps + cells * of_cell / kCodesOfAStep, kMostProjectionSteps + 1);
  }
  return steps;
}

int64_t ProjectionBytes(const Domain& domain, std::span<const AttributeSet> widest) {
  constexpr int64_t kPerCell = 104;  // places, coordinates, and the tables of the ascent
  int64_t bytes = 0;
  for (const AttributeSet& set : widest)
    bytes += kPerCell * domain.CellCount(set).value_or(kMostProjectionSteps);
  return bytes;
}

ResidualProjection::ResidualProjection(const ResidualMeasurement& measurement, const ResidualErrors& errors,
                                       const std::vector<AttributeSet>& widest, double firmness) {
  const std::map<uint32_t, const AxisQueries*> queries = QueriesOfAttributes(measurement.queries);
  std::vector<double> of_groups;  // t_B^2
  for (const Rational& parameter : measurement.sigma_squared) of_groups.push_back(Quotient(parameter));
  const std::vector<size_t> missing = MissingAttributes(errors, widest, of_groups.size());
  for (size_t group = 0; group < of_groups.size(); ++group)
    of_groups[group] /= std::pow(firmness, static_cast<double>(missing[group]));
  std::map<uint32_t, size_t> firsts;  // of each group, its first coordinate
  std::vector<std::vector<uint32_t>> subsets;
  for (const AttributeSet& set : widest) {
    Layout& layout = layouts_.emplace_back();
    size_t cells = 1;
    for (const uint32_t attribute : set) {
      layout.axes.push_back(AxisOf(errors.readings().Of(attribute), *queries.at(attribute)));
      layout.codes.push_back(axes_[layout.axes.back()].codes());
      cells *= layout.codes.back();
    }
    subsets.push_back(errors.SubsetsOf(set));
    const Subsets parts(layout.codes);
    std::vector<size_t> own;
    for (size_t mask = 0; mask < parts.count(); ++mask) {
      const auto [first, is_new] = firsts.try_emplace(subsets.back()[mask], variances_.size());
      if (is_new)
        variances_.resize(variances_.size() + parts.CoordinatesOf(mask), of_groups[subsets.back()[mask]]);
      own.push_back(first->second);
    }
    layout.places.reserve(cells);
    parts.ForEachCoordinate(cells, [&](size_t mask, uint32_t position) {
      layout.places.push_back(static_cast<uint32_t>(own[mask]) + position);
    });
  }
  SetWeights(subsets, of_groups);
}

size_t ResidualProjection::AxisOf(const AxisReading& reading, const AxisQueries& queries) {
  const auto known = std::ranges::find(readings_, &reading);
  if (known != readings_.end()) return static_cast<size_t>(known - readings_.begin());
  readings_.push_back(&reading);
  axes_.emplace_back(reading, static_cast<double>(queries.variance_factor));
  return axes_.size() - 1;
}

// Each round raises every weight until some part that it moves is at its limit: from the first one on all
// parts are within it.
void ResidualProjection::SetWeights(std::span<const std::vector<uint32_t>> subsets,
                                    std::span<const double> variances) {
  constexpr int kRounds = 30;
  std::vector<std::vector<double>> factors;  // of each table, by the subset
  for (size_t i = 0; i < layouts_.size(); ++i) {
    std::vector<double>& of_table = factors.emplace_back(subsets[i].size());
    for (size_t mask = 0; mask < of_table.size(); ++mask) {
      of_table[mask] = variances[subsets[i][mask]];
      for (size_t axis = 0; axis < layouts_[i].axes.size(); ++axis) {
        const AxisParts& parts = axes_[layouts_[i].axes[axis]];
        of_table[mask] *=
            (1 + parts.overlap()) * ((mask >> axis & 1) != 0 ? parts.largest_spread() : parts.level());
      }
    }
    weights_.push_back(1 / of_table.back());
  }
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> loads(variances.size(), 0);
    for (size_t i = 0; i < layouts_.size(); ++i)
      for (size_t mask = 1; mask < factors[i].size(); ++mask)
        loads[subsets[i][mask]] += weights_[i] * factors[i][mask];
    for (size_t i = 0; i < layouts_.size(); ++i) {
      double largest = 0;
      for (size_t mask = 1; mask < factors[i].size(); ++mask)
        largest = std::max(largest, loads[subsets[i][mask]]);
      if (largest > 0) weights_[i] /= largest;
    }
  }
}

// Calls `change(axis, outer, inner)` for each axis of a table.
template <typename Change>
void ResidualProjection::AlongAxes(const Layout& layout, const Change& change) const {
  size_t outer = 1;
  size_t inner = layout.places.size();
  for (const size_t axis : layout.axes) {
    inner /= axes_[axis].codes();
    change(axes_[axis], outer, inner);
    outer *= axes_[axis].codes();
  }
}

absl::StatusOr<NonNegativeTables> ResidualProjection::Nearest(Tables unbiased,
                                                              const std::stop_token& stop) const {
  std::vector<double> measured(variances_.size());
  Tables zeros;
  for (size_t i = 0; i < layouts_.size(); ++i) {
    CellValues& table = unbiased[i];
    AlongAxes(layouts_[i],
              [&](const AxisParts& axis, size_t outer, size_t inner) { axis.Split(table, outer, inner); });
    for (size_t c = 0; c < table.size(); ++c) measured[layouts_[i].places[c]] = table[c];
    zeros.emplace_back(table.size(), 0.0);
  }
  if (!(measured[0] > 0)) return NonNegativeTables{.tables = std::move(zeros)};
  DualProblem problem{.weights = weights_};
  problem.tables_at = [&](const Tables& multipliers) {
    Tables tables = multipliers;
    std::vector<double> parts(measured.size(), 0);
    for (size_t i = 0; i < layouts_.size(); ++i) {
      AlongAxes(layouts_[i], [&](const AxisParts& axis, size_t outer, size_t inner) {
        axis.Spread(tables[i], outer, inner);
      });
      for (size_t c = 0; c < tables[i].size(); ++c)
        parts[layouts_[i].places[c]] += weights_[i] * tables[i][c];
    }
    for (size_t p = 1; p < parts.size(); ++p) parts[p] = measured[p] + variances_[p] * parts[p];
    parts[0] = measured[0];  // the total stays
    for (size_t i = 0; i < layouts_.size(); ++i) {
      for (size_t c = 0; c < tables[i].size(); ++c) tables[i][c] = parts[layouts_[i].places[c]];
      AlongAxes(layouts_[i], [&](const AxisParts& axis, size_t outer, size_t inner) {
        axis.Join(tables[i], outer, inner);
      });
    }
    return tables;
  };
  return AscendDual(problem, std::move(zeros), stop);
}

CellValues SumTo(const Domain& domain, const AttributeSet& from, const CellValues& cells,
                 const AttributeSet& to) {
  CellValues sums = cells;
  size_t inner = 1;
  for (size_t i = from.size(); i-- > 0;) {
    const auto codes = static_cast<size_t>(domain.attributes()[from[i]].size());
    if (std::ranges::find(to, from[i]) != to.end()) {
      inner *= codes;
      continue;
    }
    const size_t outer = sums.size() / codes / inner;
    CellValues fewer(outer * inner, 0);
    for (size_t place = 0; place < outer; ++place) {
      for (size_t code = 0; code < codes; ++code)
        for (size_t k = 0; k < inner; ++k)
          fewer[place * inner + k] += sums[(place * codes + code) * inner + k];
    }
    sums = std::move(fewer);
  }
  return sums;
}

}  // namespace curator::dp
