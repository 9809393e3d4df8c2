#include "client/cli/program.h"

#include <variant>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/client.h"

namespace curator::cli {
namespace {

ExitStatus RunInvocation(const Invocation& invocation, const Terminal& terminal, const Streams& streams) {
  const Client client({invocation.server, invocation.principal, {}});
  Session session{client, invocation.form, terminal, streams.in, streams.out, streams.error};
  absl::Status status =
      std::visit([&session](const auto& command) { return Run(session, command); }, invocation.command);
  streams.out.flush();
  if (status.ok() && !streams.out) status = absl::InternalError("standard output cannot be written");
  if (!status.ok()) PrintError(status, session.request_id, invocation.form, terminal, streams.error);
  return ExitStatusOf(status);
}

}  // namespace

ExitStatus RunProgram(const std::vector<std::string>& arguments, const Terminal& terminal,
                      const Streams& streams) {
  const auto parsed = Parse(arguments);
  if (const auto* help = std::get_if<HelpText>(&parsed)) {
    streams.out << help->text;
    return ExitStatus::kDone;
  }
  if (const auto* error = std::get_if<UsageError>(&parsed)) {
    streams.error << error->text;
    return ExitStatus::kUsage;
  }
  return RunInvocation(std::get<Invocation>(parsed), terminal, streams);
}

}  // namespace curator::cli
