// Answers drawn: on the terminal or into a file.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "client/answer.h"
#include "client/cli/commands/session.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

// Draws what has one label column: to standard output when `file` is empty, else as SVG. An answer without
// anything of the kind is no error, since it is paid for: a line on the error stream says so.
absl::Status DeliverPlot(Session& session, const Answer& answer, const v1::Schema& schema,
                         const std::string& file);

}  // namespace curator::cli
