// Refusals of a statement, with the place.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace curator::sql {

// INVALID_ARGUMENT whose message is `words`, then the line of `sql` that has the byte at `place`, then a mark
// under that byte:
//
//   there is no attribute "regoin" here; did you mean region?
//   LINE 2: GROUP BY regoin
//                    ^
//
// Only the words where `place` is negative. `sql` is UTF-8.
absl::Status Refusal(std::string_view sql, int64_t place, std::string_view words);

// The last two lines of such a message; empty where `place` is negative. Of a long line the part around the
// place is shown, control characters as '?'. The mark is as many columns of a terminal from the left as the
// place is, with a tab under each tab.
std::string MarkedLine(std::string_view sql, int64_t place);

// The place of the character that has this number, from 0, in UTF-8; the end beyond the last one.
size_t PlaceOfCharacter(std::string_view sql, size_t number);

}  // namespace curator::sql
