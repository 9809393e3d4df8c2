// Canonical, versioned bytes of an account's rule: what the ledger stores when the account is made.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"

namespace curator::codec {

std::string EncodeRule(const dp::RuleSpec& rule);

// The rule that was encoded. Errors: DATA_LOSS for anything that EncodeRule() would not have written of a
// rule that has limits (dp::LimitsOf): another version, an unknown kind, bytes missing or left over, a
// promise that cannot be kept.
absl::StatusOr<dp::RuleSpec> DecodeRule(std::string_view bytes);

}  // namespace curator::codec
