// `curator completion` and `curator man`: what shells and man show of the commands.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/files.h"
#include "client/cli/shell/command_tree.h"
#include "client/cli/shell/completion.h"
#include "client/cli/shell/man_page.h"

namespace curator::cli {
namespace {

struct WriteCompletion {
  std::string shell;
};
struct WriteManPages {
  const CLI::App* program = nullptr;
  std::vector<std::string> command;
  std::string folder;  // empty: one page to standard output
};

absl::Status Run(Session& session, const WriteCompletion& command) {
  session.out << CompletionScript(command.shell);
  return absl::OkStatus();
}

absl::StatusOr<const CLI::App*> CommandOf(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  for (const std::string& word : words) {
    const CLI::App* next = nullptr;
    for (const CLI::App* const each : CommandsOf(*command)) {
      if (each->get_name() == word) next = each;
    }
    if (next == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("\"", word, "\" is no command of ", ManPageName(*command), "; see: curator --help"));
    }
    command = next;
  }
  return command;
}

absl::Status WriteAllPages(const CLI::App& command, const std::string& folder, std::ostream& out) {
  const std::string path = absl::StrCat(folder, "/", ManPageName(command), ".1");
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, CreateOutput({"--out", "pages"}, path, out));
  file->stream() << ManPage(command);
  RETURN_IF_ERROR(file->Commit());
  for (const CLI::App* const each : CommandsOf(command)) RETURN_IF_ERROR(WriteAllPages(*each, folder, out));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const WriteManPages& command) {
  ASSIGN_OR_RETURN(const CLI::App* const page, CommandOf(*command.program, command.command));
  if (command.folder.empty()) {
    session.out << ManPage(*page);
    return absl::OkStatus();
  }
  std::error_code failed;  // then no file can be made
  std::filesystem::create_directories(command.folder, failed);
  return WriteAllPages(*page, command.folder, session.out);
}

}  // namespace

void AddShellCommands(CLI::App& app, Chosen& chosen) {
  const auto completion = std::make_shared<WriteCompletion>();
  CLI::App* command = AddCommand(app, "completion", "A script by which your shell completes commands",
                                 "source <(curator completion bash)");
  command->add_option("SHELL", completion->shell, "The shell")
      ->type_name("bash|zsh|fish")
      ->required()
      ->check([](const std::string& shell) {
        return CompletionScript(shell).empty() ? "'" + shell + "' is none of bash|zsh|fish" : std::string();
      });
  Choose(command, completion, chosen);

  const auto man = std::make_shared<WriteManPages>();
  man->program = &app;
  command = AddCommand(app, "man", "The man page of a command", "curator man dataset import | man -l -");
  command->add_option("COMMAND", man->command, "The words of the command. Default: curator itself");
  command->add_option("--out", man->folder, "Write the page and those of all its commands into this folder")
      ->type_name("FOLDER");
  Choose(command, man, chosen);
}

}  // namespace curator::cli
