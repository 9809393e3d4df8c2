// Conjunctions and thresholds of conditions as linear queries over the cells of their attributes.
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
#include "dp/workload/linear_queries.h"
#include "dp/workload/values.h"
#include "service/workloads/query_classes.h"

namespace curator::service {

// Attributes and conditions by name, and the errors of what is not there.
//
// Thread-safe: pure functions of public facts.

// The same error, told of the field that the caller wrote: `path`, and below it what followed `inner`.
absl::Status AtPath(const std::string& path, std::string_view inner, const absl::Status& status);

// Errors: INVALID_ARGUMENT (`path`), naming the near misses.
absl::StatusOr<uint32_t> ResolveName(const dp::Domain& domain, const std::string& name,
                                     const std::string& path);

// Rising. Errors: likewise ("path[2]"), also for an attribute that is named twice.
absl::StatusOr<dp::AttributeSet> ResolveNames(const dp::Domain& domain, const std::vector<std::string>& names,
                                              const std::string& path);

// The codes of one attribute that fulfil a condition: at least one.
struct ResolvedCondition {
  uint32_t attribute = 0;
  dp::CodeRuns runs;
};
absl::StatusOr<ResolvedCondition> ResolveCondition(const dp::Domain& domain, const Condition& condition,
                                                   const std::string& path);

// Both ends of an interval. Errors: INVALID_ARGUMENT ("path.from", "path.to").
absl::StatusOr<dp::CodeInterval> ResolveInterval(const dp::Domain& domain, uint32_t attribute,
                                                 const ValueInterval& interval, const std::string& path);

// "age in [30, 40) and sex = Female".
std::string WordsOf(const dp::Domain& domain, const std::vector<ResolvedCondition>& conditions);

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
