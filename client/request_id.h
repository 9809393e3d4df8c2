// Request ids: version 4 UUIDs that name one request for ever, so that asking again is safe.
//
// Thread-safe: pure functions but for the operating system's entropy.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::client {

// A new id from the operating system's entropy, e.g. "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b".
// It has to be unique, not secret; it is never a source of privacy noise.
// Errors: UNAVAILABLE when the system gives no entropy.
absl::StatusOr<std::string> NewRequestId();

// Whether `text` is a UUID of any version in the 8-4-4-4-12 form, in either case.
bool IsRequestId(std::string_view text);

}  // namespace curator::client
