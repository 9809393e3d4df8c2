// The payload of an entry of a history as text, for comparisons: every field but hashes, fingerprints and
// deadlines, of which it says only that they are there.
//
// Thread-safe: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace curator::testing {

// "bob, version 1, workload, ..."; "unreadable" for bytes that are no payload.
std::string PayloadWords(std::string_view payload);

}  // namespace curator::testing
