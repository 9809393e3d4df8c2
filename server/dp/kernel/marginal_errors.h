// Errors of public estimates of marginals, as integers. Used by PrivateQueries::NoisyErrors.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"

namespace curator::dp {

// Checks candidates, which may repeat a marginal. Errors: INVALID_ARGUMENT for none or more than 2^18 of
// them, a malformed marginal, an estimate that has not one number for each cell, or marginals with too many
// cells together (ValidateMarginals()); OUT_OF_RANGE when the absolute values of an estimate sum to more than
// 2^50. So with counts that sum to less than 2^31 (kMaxRows), an error stays below 2^51.
absl::Status CheckCandidates(const Domain& domain, std::span<const IntegerMarginal> candidates);

// The exact errors of candidates that CheckCandidates() accepts, which are as private as the table.
//
// Claim: neighbours' errors differ by ErrorsSensitivity() at most. Memory: the counts of 2^20 cells, or of
// the largest marginal.
absl::StatusOr<std::vector<int64_t>> ExactErrors(const SealedTable& table, const Domain& domain,
                                                 std::span<const IntegerMarginal> candidates,
                                                 Executor& executor = OnlyThisThread());

}  // namespace curator::dp
