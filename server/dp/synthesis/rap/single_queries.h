// A workload as single queries, each a candidate by itself: the paper's form of selection and measurement.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/relaxed_layout.h"
#include "dp/workload/linear_queries.h"

namespace curator::dp {

// The same groups, every whole marginal as one box for each of its cells. Errors: INVALID_ARGUMENT
// ("settings.measure") when a query counts a record otherwise than once or not at all: then single queries
// would cost differently.
absl::StatusOr<std::vector<QueryGroup>> AsSingleQueries(const Domain& domain,
                                                        std::span<const QueryGroup> workload);

int64_t CountQueries(const Domain& domain, std::span<const QueryGroup> groups);

// The cells that the `count` largest of these queries count together: the products that PolynomialOf() makes
// of them.
int64_t MostTerms(const Domain& domain, std::span<const QueryGroup> groups, int64_t count);

// What choosing among these queries holds in memory at once, at most: their counts, estimates, scores and
// weights.
int64_t SelectionBytes(const Domain& domain, std::span<const QueryGroup> groups);

// The polynomial of a group's only query: one product for each cell that it counts. No answer or weight yet.
// Errors: INVALID_ARGUMENT when the layout does not cover it, or it looks at more than kMostFactors
// attributes.
absl::StatusOr<PolynomialAnswer> PolynomialOf(const Domain& domain, const RelaxedLayout& layout,
                                              const QueryGroup& single);

}  // namespace curator::dp
