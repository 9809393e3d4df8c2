#include "client/cli/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/similar.h"

namespace curator::cli {
namespace {

// A command of the program with its whole name: "curator schema".
struct NamedCommand {
  const CLI::App* app;
  std::string name;
};

// The last command that the line names.
NamedCommand LastNamed(const CLI::App& program) {
  NamedCommand last{&program, program.get_name()};
  while (!last.app->get_subcommands().empty()) {
    last.app = last.app->get_subcommands().front();
    last.name += " " + last.app->get_name();
  }
  return last;
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_name().empty()) names.push_back(command->get_name());
  }
  return names;
}

// "--marginals" and so on, of the command and its groups of options, which are commands without a name.
void AddOptionNames(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); })) {
    AddOptionNames(*group, names);
  }
}

const CLI::Option* OptionNamed(const CLI::App& app, const std::string& name) {
  if (const CLI::Option* option = app.get_option_no_throw(name)) return option;
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); })) {
    if (const CLI::Option* option = OptionNamed(*group, name)) return option;
  }
  return nullptr;
}

std::string UnknownOption(const NamedCommand& command, const CLI::App& program, const std::string& typed) {
  std::vector<std::string> names;
  AddOptionNames(*command.app, names);
  if (command.app != &program) AddOptionNames(program, names);
  const std::string name = typed.substr(0, typed.find('='));
  return absl::StrCat("'", name, "' is no option of ", command.name, DidYouMean(name, names));
}

std::string NoCommand(const NamedCommand& command, const std::vector<std::string>& commands,
                      const std::vector<std::string>& unread) {
  const std::string there_are = absl::StrJoin(commands, ", ");
  if (unread.empty()) return absl::StrCat(command.name, " is followed by one of its commands: ", there_are);
  const std::string& typed = unread.front();
  return absl::StrCat("'", typed, "' is no command of ", command.name, "; there are: ", there_are,
                      DidYouMean(typed, commands));
}

// CLI11's "At least 1 option from [--a,--b] is required", in the words of the others; empty for other texts.
std::string GroupComplaint(const std::string& message) {
  const size_t open = message.find('[');
  const size_t close = message.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  const std::string list = absl::StrReplaceAll(message.substr(open + 1, close - open - 1), {{",", ", "}});
  if (message.starts_with("At least 1 ")) return "at least one of these is needed: " + list;
  if (message.starts_with("Exactly 1 ") && message.find("were given") == std::string::npos)
    return "one of these is needed: " + list;
  if (message.starts_with("Exactly 1 ") || message.starts_with("Requires at most 1 "))
    return "only one of these may be given: " + list;
  return "";
}

// "Could not convert: --max-error = 5%".
std::string ConversionComplaint(const NamedCommand& command, const std::string& message) {
  constexpr char kBegin[] = "Could not convert: ";
  constexpr char kBetween[] = " = ";
  const size_t between = message.find(kBetween);
  if (!message.starts_with(kBegin) || between == std::string::npos) return message;
  const std::string name = message.substr(sizeof(kBegin) - 1, between - (sizeof(kBegin) - 1));
  const std::string value = message.substr(between + sizeof(kBetween) - 1);
  const CLI::Option* option = OptionNamed(*command.app, name);
  const std::string help = option == nullptr ? "" : " (" + option->get_description() + ")";
  return absl::StrCat(name, ": '", value, "' is not a number that it can be", help);
}

std::string Complaint(const CLI::App& program, const NamedCommand& command, const CLI::ParseError& error) {
  const std::vector<std::string> unread = program.remaining(/*recurse=*/true);
  const auto option = std::ranges::find_if(
      unread, [](const std::string& word) { return word.size() > 1 && word.starts_with("-"); });
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const bool is_unread = code == CLI::ExitCodes::RequiredError || code == CLI::ExitCodes::ExtrasError;
  if (is_unread && option != unread.end()) return UnknownOption(command, program, *option);
  const std::vector<std::string> commands = CommandsOf(*command.app);
  if (is_unread && !commands.empty()) return NoCommand(command, commands, unread);
  if (code == CLI::ExitCodes::ExtrasError && !unread.empty())
    return absl::StrCat("'", unread.front(), "' is one argument too many for ", command.name);
  const std::string message = error.what();
  if (code == CLI::ExitCodes::ConversionError) return ConversionComplaint(command, message);
  const std::string group = GroupComplaint(message);
  return group.empty() ? message : absl::StrCat(command.name, ": ", group);
}

}  // namespace

std::string UsageComplaint(const CLI::App& app, const CLI::ParseError& error) {
  const NamedCommand command = LastNamed(app);
  return absl::StrCat(Complaint(app, command, error), "\nHelp: ", command.name, " --help\n");
}

}  // namespace curator::cli
