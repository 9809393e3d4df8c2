// Canonical, versioned bytes of what was done: what the ledger stores and hashes with every charge.
//
// One value has one encoding, on every machine: quotients are written in lowest terms. Thread-safe: pure
// functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"

namespace curator::codec {

// `event` is valid (dp::ValidateEvent); the bytes of any other are refused by DecodeEvent().
std::string EncodeEvent(const dp::Event& event);

// The event that was encoded: DecodeEvent(EncodeEvent(e)) == e for every valid e, and
// EncodeEvent(*DecodeEvent(b)) == b for every b that is accepted. Errors: DATA_LOSS for anything that
// EncodeEvent() would not have written of a valid event: another version, an unknown kind of event, bytes
// missing or left over, numbers out of range or not in lowest terms, nesting or size beyond the bounds of
// event.h. Takes time and stack bounded by those bounds.
absl::StatusOr<dp::Event> DecodeEvent(std::string_view bytes);

}  // namespace curator::codec
