// Group privacy: the same mechanism, seen by a unit that owns up to `group_size` records.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"

namespace curator::dp {

// `mechanism` restated for groups: sensitivities, epsilons and ranges times k, squared L2 sensitivities and
// rhos times k^2, (epsilon, delta) to (k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1)), delta rounded
// up and at most 1 (Dwork, Roth 2014; Bun, Steinke 2016 for zCDP). A unit that changes k records is k steps
// between neighbours, and sensitivities are norms, so they add up along the steps.
//
// `mechanism` is valid; k >= 1. Errors: OUT_OF_RANGE when a number does not fit; INTERNAL when k > 1 and it
// is composed, parallel, group or certified.
absl::StatusOr<Event> ForGroup(const Event& mechanism, int64_t group_size);

}  // namespace curator::dp
