// `curator server`: what operators see of a server.
#include <memory>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct ShowMetrics {};

absl::Status Run(Session& session, const ShowMetrics&) {
  ASSIGN_OR_RETURN(const v1::GetMetricsResponse metrics, session.client.GetMetrics());
  if (session.form != OutputForm::kJson) {
    session.out << metrics.text();
    return absl::OkStatus();
  }
  Document document;
  document.fields = {{"text", "text", metrics.text()}};
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddServerCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "server", "The server itself: metrics; for operators");
  Choose(AddCommand(*group, "metrics", "All metrics, in the text format of Prometheus",
                    "curator server metrics | promtool check metrics"),
         std::make_shared<ShowMetrics>(), chosen);
}

}  // namespace curator::cli
