// Numbers in cells as people write them: a decimal comma, digits in groups of three.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace curator::dp {

struct NumberStyle {
  char decimal_sign = '.';
  char thousands_separator = '\0';  // '\0': none
  bool operator==(const NumberStyle&) const = default;
};

// The same number with a decimal point and without separators; `buffer` may hold it. The text itself where
// the style is the plain one; an empty text, which is no number, where it is not written in this style:
// groups have three digits, but for the first, which has one to three. The separator "'" is also a right
// quotation mark, and a blank is also a no-break space (U+00A0, U+202F).
std::string_view InPlainStyle(std::string_view text, const NumberStyle& style, std::string& buffer);

}  // namespace curator::dp
