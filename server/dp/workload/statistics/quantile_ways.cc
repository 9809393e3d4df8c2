#include "dp/workload/statistics/quantile_ways.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/interval_tree.h"

namespace curator::dp {
namespace {

constexpr double kNormal95 = 1.959963984540054;
constexpr double kForecastLevel = 0.95;

double ShareOfOne(int32_t thousandths) {
  return static_cast<double>(thousandths) / 1000;
}

// By which the variance of one value grows when the levels share a budget.
double FactorOfLevels(Mechanism mechanism, size_t levels) {
  const auto count = static_cast<double>(levels);
  return mechanism == Mechanism::kDiscreteLaplace ? count * count : count;
}

// The variance of P - q T, in units of that of a value which has the budget alone: the mean over codes.
double MeanRankVariance(const IntervalTree& tree, Mechanism mechanism, std::span<const int32_t> thousandths) {
  constexpr int64_t kPlaces = 17;  // a prime, so that the places do not lie on the borders of blocks
  const int64_t places = std::min(tree.bins(), kPlaces);
  double sum = 0;
  for (int64_t place = 0; place < places; ++place) {
    const auto last = static_cast<uint32_t>((2 * place + 1) * tree.bins() / (2 * places));
    for (const int32_t each : thousandths)
      sum += tree.WeightSumsOf({.first = 0, .last = last}, -ShareOfOne(each)).squares;
  }
  return FactorOfLevels(mechanism, tree.levels()) * sum /
         static_cast<double>(places * static_cast<int64_t>(thousandths.size()));
}

// r in the header.
double RankPerEpsilon(const UnitBound& unit, int32_t thousandths) {
  const double share = ShareOfOne(thousandths);
  const double one = unit.relation == NeighbourRelation::kReplaceOne ? 1.0 : std::max(share, 1 - share);
  return 2 * static_cast<double>(unit.max_records) * one;
}

}  // namespace

int64_t BranchingFor(int64_t codes, Mechanism mechanism, std::span<const int32_t> thousandths) {
  int64_t best = 2;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t branching = 2;; branching += std::max<int64_t>(1, branching / 4)) {
    const IntervalTree tree(codes, std::min(branching, std::max<int64_t>(codes, 2)));
    const double variance = MeanRankVariance(tree, mechanism, thousandths);
    if (variance < least) {
      least = variance;
      best = tree.branching();
    }
    if (tree.levels() == 1) return best;
  }
}

bool TreeIsBetter(const UnitBound& unit, Mechanism mechanism, int64_t codes, int64_t groups,
                  std::span<const int32_t> thousandths) {
  const IntervalTree tree(codes, BranchingFor(codes, mechanism, thousandths));
  const bool is_laplace = mechanism == Mechanism::kDiscreteLaplace;
  const auto records = static_cast<double>(unit.max_records);
  const double moved = unit.relation == NeighbourRelation::kReplaceOne && groups * codes > 1 ? 2 : 1;
  // A budget of 1: scale L1 / epsilon and variance 2 scale^2, or variance L2^2 / (2 rho).
  const double variance = is_laplace ? 2 * moved * moved * records * records : moved * records * records / 2;
  const double by_tree = kNormal95 * std::sqrt(variance * MeanRankVariance(tree, mechanism, thousandths));

  const auto parts =
      static_cast<double>(QuantileSelections(unit, groups) * static_cast<int64_t>(thousandths.size()));
  const double epsilon = is_laplace ? 1 / parts : std::sqrt(8 / parts);
  double by_selection = 0;
  for (const int32_t each : thousandths) {
    const double bound =
        RankPerEpsilon(unit, each) / epsilon * std::log(static_cast<double>(codes) / (1 - kForecastLevel));
    by_selection = std::max(by_selection, bound);
  }
  constexpr double kWorthOfAnInterval = 2;
  return by_tree <= kWorthOfAnInterval * by_selection;
}

double SelectedRankBound(const UnitBound& unit, int32_t thousandths, int64_t codes, Epsilon epsilon,
                         double level) {
  return SelectedRankDeviation(unit, thousandths, epsilon) *
         std::log(static_cast<double>(codes) / (1 - level));
}

double SelectedRankDeviation(const UnitBound& unit, int32_t thousandths, Epsilon epsilon) {
  const double real = static_cast<double>(epsilon.units()) / static_cast<double>(kEpsilonUnitsPerOne);
  return RankPerEpsilon(unit, thousandths) / real;
}

Epsilon SelectionFor(Rho rho) {
  const Int128 square = Int128{8} * kEpsilonUnitsPerOne * rho.units();
  auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(square)));
  while (Int128{root} * root > square) --root;
  while (Int128{root + 1} * (root + 1) <= square) ++root;
  return Epsilon(root);
}

}  // namespace curator::dp
