// The whole program behind main(): reads the command line, runs one command against a server, says how it
// ended.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "client/cli/exit_status.h"
#include "client/cli/output/terminal.h"

namespace curator::cli {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& error;
};

// `arguments` is without the program's name. Results go to `out`, everything else to `error`.
ExitStatus RunProgram(const std::vector<std::string>& arguments, const Terminal& terminal,
                      const Streams& streams);

}  // namespace curator::cli
