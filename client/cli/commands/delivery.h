// Where an answer goes, and what is done to it on the way: the options, and what they do.
//
// Not thread-safe: one command runs at a time.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "client/answer.h"
#include "client/cli/commands/session.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/schema.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace curator::cli {

// Where an answer goes.
struct DeliveryChoice {
  std::string out;                  // empty for tables on standard output
  std::optional<std::string> plot;  // "" draws on the terminal, else an SVG file
};
// --out and --plot.
void AddDelivery(CLI::App* command, DeliveryChoice& delivery, const std::string& out_summary);

void AddPostProcessing(CLI::App* command, v1::PostProcessing& steps);

// Before anything is asked: FAILED_PRECONDITION when a drawing on the terminal would land inside JSON or CSV.
absl::Status CheckDelivery(const Session& session, const DeliveryChoice& delivery);

// Writes the answer to `delivery.out` in the form that its extension says (else `session.form`, CSV for
// tables) and a summary to standard output; or, without a path, both to standard output in the session's
// form. A plot on the terminal stands in the place of tables.
absl::Status DeliverAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                           const DeliveryChoice& delivery);

}  // namespace curator::cli
