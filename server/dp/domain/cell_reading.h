// What attributes and measures share of how their cells are declared and read.
//
// Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/attribute.h"
#include "dp/domain/number_style.h"

namespace curator::dp {

// INVALID_ARGUMENT with this field unless the text has 1 to kMaxTextLength bytes, no control characters, and
// no blanks at its ends.
absl::Status CheckText(std::string_view field, std::string_view text);

// Of the column and of the two signs. Errors: INVALID_ARGUMENT ("reading.column").
absl::Status CheckColumnAndSigns(const Reading& reading);

inline NumberStyle StyleOf(const Reading& reading) {
  return {reading.decimal_sign, reading.thousands_separator};
}

// The cells that are missing values where none are declared.
inline constexpr std::array<std::string_view, 8> kDefaultMissingTokens = {"",    "?",    "N",   "NA",
                                                                          "N/A", "NULL", "NaN", "-"};

// Errors: INVALID_ARGUMENT ("missing.tokens[2]") for too many, and for texts that no cell has.
absl::Status CheckMissingTokens(const std::vector<std::string>& tokens);

bool IsNoNumber(std::string_view plain);

// For the owner's next try: how a cell that is no number in the declared style may be written; else nothing.
// It does not repeat the cell.
std::string LikelyStyle(std::string_view text, const NumberStyle& declared);

}  // namespace curator::dp
