// The program `curator`: reads the command line, runs one command against a server, says how it ended.
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/exit_status.h"
#include "client/cli/session.h"
#include "client/client.h"

namespace curator::cli {
namespace {

ExitStatus RunInvocation(const Invocation& invocation) {
  const Client client({invocation.server, invocation.principal, {}});
  Session session{client, invocation.form, Terminal::Detect(), std::cin, std::cout, std::cerr};
  absl::Status status =
      std::visit([&session](const auto& command) { return Run(session, command); }, invocation.command);
  std::cout.flush();
  if (status.ok() && !std::cout) status = absl::InternalError("standard output cannot be written");
  if (!status.ok()) PrintError(status, session.request_id, invocation.form, session.terminal, std::cerr);
  return ExitStatusOf(status);
}

ExitStatus Main(const std::vector<std::string>& arguments) {
  const auto parsed = Parse(arguments);
  if (const auto* help = std::get_if<HelpText>(&parsed)) {
    std::cout << help->text;
    return ExitStatus::kDone;
  }
  if (const auto* error = std::get_if<UsageError>(&parsed)) {
    std::cerr << error->text;
    return ExitStatus::kUsage;
  }
  return RunInvocation(std::get<Invocation>(parsed));
}

}  // namespace
}  // namespace curator::cli

int main(int argc, char** argv) {
  return static_cast<int>(curator::cli::Main(std::vector<std::string>(argv + 1, argv + argc)));
}
