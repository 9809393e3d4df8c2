// How wide a terminal shows a text, so that columns and marks are below each other.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace curator {

// The number of a terminal's columns that the text takes: two of a wide character (Chinese, Japanese, Korean,
// most emoji), none of an accent that is a character of its own, one of every other character, and of a byte
// that is no UTF-8.
size_t DisplayWidth(std::string_view text);

}  // namespace curator
