// Conjunctions and thresholds of conditions as linear queries over the cells of their attributes.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "service/resolve_names.h"

namespace curator::service {

// How large a group would be, before it is built. Saturates at 2^62.
struct GroupSize {
  int64_t queries = 0;
  int64_t terms = 0;  // that are held in memory
};

// Records that fulfil all of `conditions` (of different attributes, none of them in `by`): one query for each
// cell of `by`. Boxes where every condition is an interval of codes.
GroupSize SizeOfConjunction(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                            const dp::AttributeSet& by);
dp::QueryGroup Conjunction(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                           const dp::AttributeSet& by);

// Records that fulfil at least t of `conditions`, for each t of `at_least` in turn: one query for each cell
// of `by`, which has none of their attributes. Thresholds that no record can reach would be queries without
// terms: `at_least` of conditions of which that many can be fulfilled at once, see MostFulfilled().
GroupSize SizeOfThresholds(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                           std::span<const int> at_least, const dp::AttributeSet& by);
dp::QueryGroup Thresholds(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                          std::span<const int> at_least, const dp::AttributeSet& by);

// How many of `conditions` one record can fulfil: for each attribute the most of its own that share a code.
int MostFulfilled(const dp::Domain& domain, std::span<const ResolvedCondition> conditions);

}  // namespace curator::service
