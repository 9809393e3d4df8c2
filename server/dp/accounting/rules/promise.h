// What every rule demands of an owner's promise before it computes limits.
#pragma once

#include "absl/status/status.h"
#include "dp/accounting/rule.h"

namespace curator::dp {

// INVALID_ARGUMENT unless epsilon > 0.
absl::Status CheckEpsilon(const RuleSpec& spec);
// INVALID_ARGUMENT unless 0 < delta < 1.
absl::Status CheckDelta(const RuleSpec& spec);
// INVALID_ARGUMENT when the promise has an order or a slack: `rule` has none.
absl::Status CheckNoOrder(const RuleSpec& spec, std::string_view rule);
absl::Status CheckNoSlack(const RuleSpec& spec, std::string_view rule);

// How much of delta an ADVANCED account leaves to composition itself (d' in rule.h).
Delta DeltaSlackOf(const RuleSpec& spec);

// The limit, when it is at least one unit. Otherwise INVALID_ARGUMENT on `field`: nothing could ever be
// admitted.
absl::StatusOr<int64_t> UsableLimit(absl::StatusOr<int64_t> limit, std::string_view field);

}  // namespace curator::dp
