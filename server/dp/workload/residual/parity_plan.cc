#include "dp/workload/residual/parity_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/residual/closed_sets.h"
#include "dp/workload/residual/noise_selection.h"
#include "dp/workload/residual/parity_reader.h"

namespace curator::dp {
namespace {

// The least weight: what is lost where weights are rounded is below a thousandth of the variance.
constexpr double kLeastParityWeight = 32;

bool AreBinaryMarginals(const Domain& domain, std::span<const QuerySet> sets) {
  const auto is_binary = [&](uint32_t attribute) { return domain.attributes()[attribute].size() == 2; };
  return std::ranges::all_of(sets, [&](const QuerySet& set) {
    return std::ranges::all_of(set.groups, [&](const QueryGroup& group) {
      return std::holds_alternative<EveryCell>(group.queries) &&
             std::ranges::all_of(group.attributes, is_binary);
    });
  });
}

std::vector<AttributeSet> MarginalsOf(std::span<const QuerySet> sets) {
  std::vector<AttributeSet> marginals;
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups) marginals.push_back(group.attributes);
  }
  return marginals;
}

// What each parity adds to the sensitivity for a weight of 1, up to a factor of all.
std::vector<double> CostsOf(const UnitBound& unit, const ClosedSets& closed) {
  std::vector<double> costs;
  for (const AttributeSet& set : closed.sets())
    costs.push_back(unit.relation == NeighbourRelation::kReplaceOne && !set.empty() ? 2 : 1);
  return costs;
}

double CellsOf(const AttributeSet& marginal) {
  return static_cast<double>(SubsetsOfSize(marginal.size()));
}

// By which each parity's squared scale enters the variance of a marginal's cells.
double FactorOf(const AttributeSet& marginal) {
  return 1 / (CellsOf(marginal) * CellsOf(marginal));
}

NoiseSelection SelectForTheSum(std::span<const double> costs, std::span<const QuerySet> sets,
                               const ClosedSets& closed) {
  std::vector<double> factors(costs.size());
  for (const QuerySet& set : sets) {
    double answers = 0;
    for (const QueryGroup& group : set.groups) answers += CellsOf(group.attributes);
    for (const QueryGroup& group : set.groups) {
      const double share = CellsOf(group.attributes) / answers;
      for (const uint32_t subset : closed.SubsetsOf(group.attributes))
        factors[subset] += set.weight * share * FactorOf(group.attributes);
    }
  }
  return LeastSumOfLaplace(costs, factors);
}

NoiseSelection SelectForTheWorst(std::span<const double> costs, std::span<const QuerySet> sets,
                                 const ClosedSets& closed) {
  std::vector<ErrorForm> forms;
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups) {
      std::vector<uint32_t> subsets = closed.SubsetsOf(group.attributes);
      std::vector<double> factors(subsets.size(), set.weight * FactorOf(group.attributes));
      forms.push_back({.sets = std::move(subsets), .factors = std::move(factors)});
    }
  }
  return LeastLargestOfLaplace(costs, forms);
}

int64_t NumberOfFactors(std::span<const QuerySet> sets) {
  int64_t factors = 0;
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups)
      factors += static_cast<int64_t>(SubsetsOfSize(group.attributes.size()));
  }
  return factors;
}

std::vector<int32_t> WeightsOf(const NoiseSelection& selection) {
  const double largest = *std::ranges::max_element(selection.parameters);
  std::vector<int32_t> weights;
  for (const double parameter : selection.parameters) {
    const double weight = std::round(kLeastParityWeight * std::sqrt(largest / parameter));
    weights.push_back(static_cast<int32_t>(std::min(weight, static_cast<double>(kLargestWeight))));
  }
  return weights;
}

}  // namespace

absl::StatusOr<std::optional<JointMeasurement>> ParitiesFor(const Domain& domain, const UnitBound& unit,
                                                            std::span<const QuerySet> sets,
                                                            ErrorMeasure measure,
                                                            const std::stop_token& stop) {
  if (!AreBinaryMarginals(domain, sets)) return std::nullopt;
  const std::optional<ClosedSets> closed = ClosedSets::Create(MarginalsOf(sets), kMostResidualSets);
  if (!closed) return std::nullopt;
  RETURN_IF_ERROR(CheckGoesOn(stop));
  const std::vector<double> costs = CostsOf(unit, *closed);
  const bool is_for_the_worst =
      measure == ErrorMeasure::kLargest && NumberOfFactors(sets) <= kMostParityFactors;
  const std::vector<int32_t> weights = WeightsOf(is_for_the_worst ? SelectForTheWorst(costs, sets, *closed)
                                                                  : SelectForTheSum(costs, sets, *closed));
  RETURN_IF_ERROR(CheckGoesOn(stop));
  JointMeasurement joint;
  joint.measured.reserve(weights.size());
  const uint32_t any = sets.front().groups.front().attributes.front();
  for (size_t i = 0; i < weights.size(); ++i)
    joint.measured.push_back(ParityGroup(closed->sets()[i], weights[i], any));
  for (const QuerySet& set : sets) {
    SetPlan& plan = joint.plans.emplace_back();
    plan.strategy = Strategy::kParity;
    for (const QueryGroup& group : set.groups)
      plan.sources.push_back(closed->SubsetsOf(group.attributes).back());
  }
  return joint;
}

}  // namespace curator::dp
