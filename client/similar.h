// The names that somebody who mistyped one may have meant.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace curator {

// "; did you mean --expires?" for the names that differ from `typed` by few letters, at most three names;
// empty when none does. Two letters in each other's place are one difference. Upper and lower case count as
// the same.
std::string DidYouMean(std::string_view typed, const std::vector<std::string>& names);

}  // namespace curator
