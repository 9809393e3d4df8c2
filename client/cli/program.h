// The program behind main(): parses the command line, runs one command against a server, and reports errors.
//
// Not thread-safe: runs once at a time.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/output/terminal.h"
#include "client/cli/output/value.h"

namespace curator::cli {

enum class ExitStatus {
  kDone = 0,
  kRefused = 1,      // refused or failed; the message starts with the status name
  kUsage = 2,        // the command line is malformed
  kBudgetFull = 3,   // an account cannot take the charge; nothing was charged
  kUnreachable = 4,  // no server answers
  kOverQuota = 5,    // over a quota of the server: nothing was done, and the error says when to ask again
};

ExitStatus ExitStatusOf(const absl::Status& status);

// Prints "curator: INVALID_ARGUMENT: ...", then each full account that the message does not name, then, when
// the outcome is unknown, how to repeat the request, or when, over a quota; or, in JSON form, {"error":
// {"code", "message", "reason", "request_id", "retry_delay_ms", "field_violations", "full_accounts"}}.
// `request_id` is empty for commands that only read.
void PrintError(const absl::Status& status, const std::string& request_id, OutputForm form,
                const Terminal& terminal, std::ostream& error);

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& error;
};

// Runs the command of `arguments`, which exclude the program's name. Results go to `out`, all else to
// `error`.
ExitStatus RunProgram(const std::vector<std::string>& arguments, const Terminal& terminal,
                      const Streams& streams);

}  // namespace curator::cli
