// Thresholds over a marginal: for each of its cells, how many records share at least t of its values.
// With t = 1 these are disjunctions, with t = k the cells themselves.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/workload/linear_queries.h"

namespace curator::dp {

// One answer for each cell y, in the order of the cells: the sum of `counts` over the cells that agree with y
// in at least `at_least` attributes of `set`. 1 <= at_least <= set.size(); counts has one number for each
// cell. Exact. Takes cells * set.size() * at_least steps, and (at_least + 1) tables of cells.
std::vector<int64_t> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                   std::span<const int64_t> counts);

// Likewise of estimates, up to the rounding of doubles.
std::vector<double> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                  std::span<const double> counts);

// The threshold of one cell as the list of the cells it counts: those that agree with it in at least
// `at_least` attributes.
LinearQuery ThresholdQuery(const Domain& domain, const AttributeSet& set, int64_t at_least, int64_t cell);

}  // namespace curator::dp
