// What to say of a name that is none of those that there are.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace curator::dp {

// "; did you mean \"age\" or \"wage\"?" where some are alike, else "; there are: age, sex", of many the first
// ones.
std::string NearNames(const std::vector<std::string_view>& names, std::string_view wanted);

}  // namespace curator::dp
