// Which queries are measured over each attribute of a workload that is measured by residuals.
//
// Attributes of which only single codes are asked have the Helmert contrasts, which are the best for them
// (Xiao, He, Zhang, Kifer 2023). For others the Gram matrix of all queries over the attribute, weighted by
// what the answers and their other attributes weigh, is solved (axis_solver.h); the evenness of the offsets,
// one number for all attributes, is found by a search for the least error of the whole workload.
//
// Public facts alone. Thread-safe: pure functions; the same input gives the same choice on one machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/residual/closed_sets.h"

namespace curator::dp {

// A group of queries, and what the variance of each of its answers counts.
struct WeightedGroup {
  const QueryGroup* group = nullptr;
  double weight = 1;
};

struct AxisChoice {
  std::vector<AxisQueries> axes;       // each once
  std::vector<uint32_t> of_attribute;  // for each attribute of the domain a position in `axes`
  double evenness = 1;                 // of the offsets
  double gap = 0;                      // the largest of the solved axes, of variances; before rounding
};

// What queries over one attribute cost, as doubles (product_cost.h): c, the largest sum over the queries of
// squared weights of one code, each divided by the variance factor; and l / c.
struct AxisCost {
  double largest = 0;
  double opposite = 0;
};
AxisCost AxisCostOf(const AxisQueries& queries, int64_t codes);

// The number k^2 N / 2 of product_cost.h for a set of attributes with these costs, which divided by the
// parameter of its noise is its part of rho: for plans. Their price is CostOfProducts().
double CostFactorOf(const UnitBound& unit, std::span<const AxisCost> axes);

// Of an attribute of which more than single codes are asked; the cubes of these attributes' codes, each Gram
// matrix once, sum to at most the cube of this, so that they are solved within about a second.
inline constexpr int64_t kMostChosenCodes = 180;

// None where an attribute is not fit for it: of one code, or beyond kMostChosenCodes. `sets` are the subsets
// of the groups' attributes; each group CanReadFromResiduals(). Errors: CANCELLED soon after `stop` is
// requested.
absl::StatusOr<std::optional<AxisChoice>> ChooseAxes(const Domain& domain, const UnitBound& unit,
                                                     std::span<const WeightedGroup> groups,
                                                     const ClosedSets& sets, const std::stop_token& stop);

}  // namespace curator::dp
