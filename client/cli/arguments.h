// The command line, read into plain data.
//
// Thread-safe: a pure function of its arguments and of CURATOR_SERVER, CURATOR_AS and USER.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "client/cli/commands.h"
#include "client/cli/output/value.h"

namespace curator::cli {

struct Invocation {
  std::string server;
  std::string principal;
  OutputForm form = OutputForm::kTable;
  Command command;
};

// --help or --version: print to standard output, exit 0.
struct HelpText {
  std::string text;
};

// Wrong usage: print to standard error, exit 2.
struct UsageError {
  std::string text;
};

// `arguments` is without the program's name.
std::variant<Invocation, HelpText, UsageError> Parse(const std::vector<std::string>& arguments);

}  // namespace curator::cli
