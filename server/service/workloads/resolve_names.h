// Attributes and conditions by name, and the errors of what is not there.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/values.h"
#include "service/workloads/query_classes.h"

namespace curator::service {

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

}  // namespace curator::service
