// Checks of numbers on the command line, for CLI::Option::check(): what is wrong with a value, or nothing.
// CLI11's own say that a word is not in a range up to 1.8e308, with all its digits.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

namespace curator::cli {

std::string PositiveNumber(const std::string& text);
std::string NonNegativeNumber(const std::string& text);

}  // namespace curator::cli
