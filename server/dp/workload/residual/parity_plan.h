// How marginals over attributes of two codes each are measured by parities (parity_reader.h) with Laplace
// noise: those of all subsets of the marginals' attributes, each with a weight of its own.
//
// With noise of one scale on all values, L the L1 sensitivity of the vector and W_B the weight of B's parity,
// an answer's variance is proportional to L^2 times the sum of 4^-|A| / W_B^2. L is the sum of the weights
// under ADD_REMOVE: every record is counted once in each parity, forwards or backwards. Under REPLACE_ONE
// parities count twice, but the number of records once (QueriesSensitivity(), which decides the price). So
// the weights are those of noise_selection.h for Laplace noise, 1 / sqrt(s_B), as whole numbers.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/measurement.h"
#include "dp/workload/residual/residual_plan.h"
#include "dp/workload/strategy_choice.h"

namespace curator::dp {

// The parities that answer `sets`, each measured once, those of fewer attributes first; each set has the
// strategy kParity, and a marginal's source is the parity of its own attributes. None unless all sets are
// whole marginals, valid, over attributes of two codes each, kMostProductAxes of them at most, with
// kMostResidualSets parities at most. Where the worst answer counts, of more than kMostParityFactors (2^|A|
// for each marginal), the weights are those for the sum. CANCELLED soon after `stop` is requested.
inline constexpr int64_t kMostParityFactors = int64_t{1} << 16;  // half a second
absl::StatusOr<std::optional<JointMeasurement>> ParitiesFor(const Domain& domain, const UnitBound& unit,
                                                            std::span<const QuerySet> sets,
                                                            ErrorMeasure measure,
                                                            const std::stop_token& stop = {});

}  // namespace curator::dp
