// Exact reading and short writing of the numbers in cells and labels. No locale is consulted.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace curator::dp {

inline bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Without the blanks and tabs at both ends.
std::string_view TrimBlanks(std::string_view text);

enum class NumberFault { kNotANumber, kTooSmall, kTooLarge };  // the latter two: beyond what the type holds

// An optional sign, digits, and at most a fraction of zeros.
std::variant<int64_t, NumberFault> ReadInteger(std::string_view text);

// A finite decimal with an optional sign and exponent, rounded to the nearest double. What underflows is
// zero.
std::variant<double, NumberFault> ReadNumber(std::string_view text);

// The shortest decimal that reads back as the same double: "100000", "0.0001". With an exponent only where
// it is shorter and the number is above 2^53 or below 10^-6 in absolute value.
std::string WriteNumber(double value);

// `value` with `digits` digits after the point.
std::string WriteFixed(double value, int digits);

}  // namespace curator::dp
