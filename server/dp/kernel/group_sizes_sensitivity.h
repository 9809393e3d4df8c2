// How far one unit moves the numbers of groups by size: public facts about Kernel::NoisyGroupSizes.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/utility.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {

// Bin i holds the groups of least_sizes[i] to least_sizes[i + 1] - 1 records, the last one all larger ones.
// INVALID_ARGUMENT unless the sizes rise from 1, and there are at most 2^16 of them.
absl::Status CheckSizeBins(std::span<const int64_t> least_sizes);

// Claim. With one bin, the number of groups, every sensitivity is 1. With more of them:
//
//                                       L1   L2^2   Linf
//   units are groups    ADD_REMOVE       1    1      1
//                       REPLACE_ONE      2    2      1
//   units are records   ADD_REMOVE       2    2      1
//   in groups           REPLACE_ONE      4    8      2
//
// Proof. A group that enters or leaves changes one bin by one; of two that are exchanged, one leaves its bin
// and the other enters its own. A record that enters or leaves moves its group from one bin to another, or
// makes or ends a group: at most -1 in one bin and +1 in another. One that is replaced does both: the
// triangle inequality, L2 <= 2 sqrt(2). The number of groups itself grows or falls by one at most; where a
// record leaves and another enters, it can do one of each.
Sensitivity GroupSizesSensitivity(NeighbourRelation relation, GroupRole role, size_t bins);

}  // namespace curator::dp
