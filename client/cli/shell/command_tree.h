// The commands and options of a program, as a user sees them: CLI11 holds a group of options as a command
// without a name.
//
// Thread-safe: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

namespace curator::cli {

// The commands right below `command`.
std::vector<const CLI::App*> CommandsOf(const CLI::App& command);

// The options and arguments of `command`, then those of its groups.
std::vector<const CLI::Option*> OptionsOf(const CLI::App& command);

}  // namespace curator::cli
