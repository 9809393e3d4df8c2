// Programs run by a shell, for tests of what they print.
#pragma once

#include <string>
#include <utility>

namespace curator::testing {

// A shell command's exit status, and what it printed on both of its outputs.
std::pair<int, std::string> Shell(const std::string& command);

}  // namespace curator::testing
