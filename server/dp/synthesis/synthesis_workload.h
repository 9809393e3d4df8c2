// The workload of a synthesis: groups of linear queries (dp/queries/linear_queries.h) that the synthetic
// data should answer well, and how every method reads them.
//
// A whole marginal is a group of every cell. A group of listed queries is a class of questions over one
// marginal: single cells, ranges, parities, predicates.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/marginals.h"

namespace curator::dp {

// Limits of one request: more marginals than in a request for answers, because few of them are measured. All
// pairs of a thousand attributes are 499,500. Nothing bounds the cells of all marginals together but what a
// method says, and the bytes and seconds that it is predicted to take (SynthesisPlan): no method may hold
// them all where that is not predicted. A single marginal has to fit the table that a method counts it in.
inline constexpr WorkloadLimits kSynthesisLimits{.max_marginals = 1'000'000,
                                                 .max_cells = std::numeric_limits<int64_t>::max(),
                                                 .max_cells_of_one = WorkloadLimits{}.max_cells};

// Of more attributes than this each depends on a smaller share of the others: single attributes say more of
// the workload, and measured pairs are mostly noise.
inline constexpr size_t kManyAttributes = 64;

// One group of every cell for each set, in their order.
std::vector<QueryGroup> WholeMarginals(std::span<const AttributeSet> sets);

bool IsWholeMarginal(const QueryGroup& group);

// The query at `index` of a group of queries, as a group of its own.
QueryGroup SingleQuery(const QueryGroup& group, size_t index);

// The queries of a group that is not a whole marginal, each as weighted cells.
std::vector<LinearQuery> TermsOf(const Domain& domain, const QueryGroup& group);

// Whether every group is a whole marginal.
bool AreWholeMarginals(std::span<const QueryGroup> workload);

// The attribute sets that the groups are over, each once, in the order of their first group.
std::vector<AttributeSet> SetsOf(std::span<const QueryGroup> workload);

// INVALID_ARGUMENT ("workload...") unless there is a group, no whole marginal is listed twice, and all are
// valid: those of ValidateMarginals() within kSynthesisLimits for the marginals, and of ValidateQueries() for
// the other groups.
absl::Status ValidateWorkload(const Domain& domain, std::span<const QueryGroup> workload);

}  // namespace curator::dp
