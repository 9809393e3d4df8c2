// What is said of a command line that cannot be parsed.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace curator::cli {

// One line, and a second one that names the help to read: "'infer' is no command of curator schema; there
// are: check". `app` is the program's, after the error.
std::string UsageComplaint(const CLI::App& app, const CLI::ParseError& error);

}  // namespace curator::cli
