// Resolves a workload as a caller writes it to groups of linear queries over the attributes of a domain.
//
// From public facts alone. Time and memory are bounded by the limits of one request, checked before anything
// is built. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/workload_plan.h"
#include "service/workloads/query_classes.h"

namespace curator::service {

// The sets in order, valid and within the limits of dp/workload/workload_plan.h. Errors: INVALID_ARGUMENT
// with the path of the field ("workload.query_sets[0].predicates.predicates[2].all_of[1].between.from") and
// what it may be.
// Either all sets are of statistics, or none is. Those that a model answers are resolved by ResolveCounts(),
// those of a synthesis by ResolveForSynthesis(): both refuse statistics. A synthesis holds no answers, so its
// marginals may have any number of cells together, and each as many as dp::kSynthesisLimits lets it have.
absl::StatusOr<std::vector<dp::AskedSet>> ResolveWorkload(const dp::Schema& schema,
                                                          const std::vector<QuerySetRequest>& sets);
absl::StatusOr<std::vector<dp::AskedSet>> ResolveCounts(const dp::Domain& domain,
                                                        const std::vector<QuerySetRequest>& sets);
absl::StatusOr<std::vector<dp::AskedSet>> ResolveForSynthesis(const dp::Domain& domain,
                                                              const std::vector<QuerySetRequest>& sets);

// How many of all k-way marginals ResolveWorkload() leaves out because of their size; 0 for sets that it
// refuses.
int64_t MarginalsLeftOut(const dp::Domain& domain, const std::vector<QuerySetRequest>& sets);

// The groups of all sets, in order.
std::vector<dp::QueryGroup> GroupsOf(const std::vector<dp::AskedSet>& sets);

// "3 marginals, 1204 cells; 1275 ranges": a public summary for listings, however long the conditions are.
inline constexpr size_t kMostSummaryBytes = 800;
std::string DescribeWorkload(const dp::Domain& domain, const std::vector<dp::AskedSet>& sets);

}  // namespace curator::service
