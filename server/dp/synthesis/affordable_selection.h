// The exponential mechanism that a zCDP budget pays for.
//
// Thread-safe: a pure function.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"

namespace curator::dp {

// The largest epsilon, up to a part in 2^24, of an exponential mechanism whose exact cost (bounded range,
// dp/accounting/event.h) is at most `rho`; none when even the smallest costs more.
absl::StatusOr<std::optional<Epsilon>> AffordableSelection(Rho rho);

}  // namespace curator::dp
