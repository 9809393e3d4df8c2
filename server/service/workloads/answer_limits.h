// What an answer may take: checked before it is charged, and in estimates.
//
// Functions of public facts. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/workload_plan.h"

namespace curator::service {

// Seconds of a core that an answer may be predicted to take beside counting its records:
// dp::AnswerSeconds().
inline constexpr double kMostAnswerSeconds = 60;

// Bytes that a planned answer may take beside its plan.
int64_t AnsweringBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                       const dp::WorkloadPlan& plan);

// INVALID_ARGUMENT ("workload") for a release too large for the ledger, which would be charged and then lost.
absl::Status CheckReleaseFits(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                              const dp::WorkloadPlan& plan);

// INVALID_ARGUMENT ("workload") for an answer that would take more than about a second to be read, which is
// free each time; more than kMostAnswerSeconds in all; or, with the `planning_bytes` of its plan, more memory
// than one request gets (kMostPaidBytes). The message has what it would take, the limit, and what would fit.
absl::Status CheckCanBeAnswered(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                                const dp::WorkloadPlan& plan, int64_t planning_bytes);

// The last part of that.
absl::Status CheckAnswerMemory(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                               const dp::WorkloadPlan& plan, int64_t planning_bytes);

}  // namespace curator::service
