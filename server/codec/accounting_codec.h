// Canonical, versioned bytes of events and rules: the ledger stores and hashes the event of every charge, and
// the rule of every account.
//
// Each value has exactly one encoding, on every machine: rationals are written in lowest terms. Thread-safe:
// pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"

namespace curator::codec {

// `event` must be valid (dp::ValidateEvent); DecodeEvent() refuses the bytes of any other.
std::string EncodeEvent(const dp::Event& event);

// The event that was encoded: DecodeEvent(EncodeEvent(e)) == e for every valid e, and
// EncodeEvent(*DecodeEvent(b)) == b for every b that is accepted. Errors: DATA_LOSS for anything that
// EncodeEvent() would not have written of a valid event: another version, an unknown kind of event, bytes
// missing or left over, numbers out of range or not in lowest terms, nesting or size beyond the bounds of
// event.h. Takes time and stack bounded by those bounds.
absl::StatusOr<dp::Event> DecodeEvent(std::string_view bytes);

// The bytes of an account's rule, which the ledger stores when the account is opened.
std::string EncodeRule(const dp::RuleSpec& rule);

// The rule that was encoded. Errors: DATA_LOSS for anything that EncodeRule() would not have written of a
// rule that has limits (dp::LimitsOf): another version, an unknown kind, bytes missing or left over, a
// promise that cannot be kept.
absl::StatusOr<dp::RuleSpec> DecodeRule(std::string_view bytes);

}  // namespace curator::codec
