// How a failed command ends: its exit status and what it prints to standard error.
//
// Thread-safe: pure functions but for the stream.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/cli/output/terminal.h"
#include "client/cli/output/value.h"

namespace curator::cli {

enum class ExitStatus {
  kDone = 0,
  kRefused = 1,      // refused or failed; the message starts with the status name
  kUsage = 2,        // the command line makes no sense
  kBudgetFull = 3,   // an account cannot take the charge; nothing was charged
  kUnreachable = 4,  // no server answers
};

ExitStatus ExitStatusOf(const absl::Status& status);

// "curator: INVALID_ARGUMENT: ...", then each full account that the message does not name, then how to ask
// again when the outcome is unknown; or, in JSON form, {"error": {"code", "message", "reason", "request_id",
// "field_violations", "full_accounts"}}. `request_id` is empty for commands that only read.
void PrintError(const absl::Status& status, const std::string& request_id, OutputForm form,
                const Terminal& terminal, std::ostream& error);

}  // namespace curator::cli
