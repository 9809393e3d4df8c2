// Request ids: version 7 UUIDs (RFC 9562). An id identifies one request permanently, so a retry is safe. It
// begins with the time, so the ids of one hour are adjacent in the ledger's index, however long its history;
// any other UUID works too, a little slower.
//
// Thread-safe: pure functions but for the operating system's entropy and clock.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::client {

// A new id: milliseconds since 1970, then 74 bits of the operating system's entropy, e.g.
// "019b3f6e-2fa1-7d3b-a3f5-ef19b5a7633b". It has to be unique, not secret; it is never a source of privacy
// noise.
// Errors: UNAVAILABLE when the system gives no entropy.
absl::StatusOr<std::string> NewRequestId();

// Whether `text` is a UUID of any version in the 8-4-4-4-12 form, in either case.
bool IsRequestId(std::string_view text);

}  // namespace curator::client
