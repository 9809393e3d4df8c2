// Parallel composition over the parts of a public partition under substitution neighbours.
//
// Under add/remove neighbours a record lies in one part and the cost is the largest one, as a ParallelEvent
// is charged under every rule. Under substitution a record may leave one part and appear in another (an
// add/remove change in each of two parts, whose costs compose), or change within its part. A mechanism that
// is private only under substitution gives no parallel guarantee, because the sizes of the parts are private:
// hence the add/remove costs are required.
//
// Amounts are in units. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::dp {

// How a cost grows when a change is two steps of add/remove: twice for an epsilon, four times for a rho.
enum class Growth { kLinear, kQuadratic };

// max(sum of the two largest add/remove costs, the largest within-part substitute cost). Without
// `within_substitute` the latter is group privacy of two records. Errors: INVALID_ARGUMENT for a negative
// cost or for lists of different lengths; OUT_OF_RANGE on overflow.
absl::StatusOr<int64_t> ParallelSubstituteCost(std::span<const int64_t> add_remove,
                                               const std::optional<std::vector<int64_t>>& within_substitute,
                                               Growth growth);

}  // namespace curator::dp
