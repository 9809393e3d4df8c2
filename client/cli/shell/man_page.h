// Man pages from the same tree of commands as their help.
//
// Thread-safe: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace curator::cli {

// "curator-dataset-import".
std::string ManPageName(const CLI::App& command);

// Of section 1, in roff with the macros of man(7).
std::string ManPage(const CLI::App& command);

}  // namespace curator::cli
