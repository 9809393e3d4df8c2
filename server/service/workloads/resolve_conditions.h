// Names of attributes and values resolved to codes, and conjunctions and thresholds of conditions as linear
// queries over the cells of their attributes.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/values.h"
#include "service/workloads/query_classes.h"

namespace curator::service {

// `status` with its field renamed: what followed `inner` in it follows `path`, as the caller wrote it.
absl::Status AtPath(const std::string& path, std::string_view inner, const absl::Status& status);

// Errors: INVALID_ARGUMENT (`path`), suggesting similar names.
absl::StatusOr<uint32_t> ResolveName(const dp::Domain& domain, const std::string& name,
                                     const std::string& path);

// In ascending order. Errors: likewise ("path[2]"), also for an attribute that is named twice.
absl::StatusOr<dp::AttributeSet> ResolveNames(const dp::Domain& domain, const std::vector<std::string>& names,
                                              const std::string& path);

// The codes of one attribute that satisfy a condition: at least one. Of the other codes, those from
// `unknown_from` on do not satisfy its opposite either.
struct ResolvedCondition {
  uint32_t attribute = 0;
  dp::CodeRuns runs;
  uint32_t unknown_from = 0;
  std::string words = {};  // empty: those that the codes have
};
absl::StatusOr<ResolvedCondition> ResolveCondition(const dp::Domain& domain, const Condition& condition,
                                                   const std::string& path);

// Both ends of an interval. Errors: INVALID_ARGUMENT ("path.from", "path.to").
absl::StatusOr<dp::CodeInterval> ResolveInterval(const dp::Domain& domain, uint32_t attribute,
                                                 const ValueInterval& interval, const std::string& path);

// "age in [30, 40) and sex = Female".
std::string DescribeConditions(const dp::Domain& domain, const std::vector<ResolvedCondition>& conditions);

// The size of a query group, computed before it is built. Saturates at 2^62.
struct QueryGroupSize {
  int64_t queries = 0;
  int64_t terms = 0;  // held in memory
};

// Counts the records that satisfy all of `conditions` (on different attributes, none of them in `by`): one
// query for each cell of `by`. The queries are boxes when every condition is an interval of codes.
QueryGroupSize SizeOfConjunction(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                                 const dp::AttributeSet& by);
dp::QueryGroup Conjunction(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                           const dp::AttributeSet& by);

// Counts the records that satisfy at least t of `conditions`, for each t of `at_least` in turn: one query for
// each cell of `by`, which contains none of their attributes. No t may exceed MostSatisfied(): such a query
// would have no terms.
QueryGroupSize SizeOfThresholds(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                                std::span<const int> at_least, const dp::AttributeSet& by);
dp::QueryGroup Thresholds(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                          std::span<const int> at_least, const dp::AttributeSet& by);

// The largest number of `conditions` that one record can satisfy: for each attribute the most of its
// conditions that share a code.
int MostSatisfied(const dp::Domain& domain, std::span<const ResolvedCondition> conditions);

}  // namespace curator::service
