// `curator config`: the configuration file, and what is in force.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/text.h"
#include "client/cli/settings/config_file.h"

namespace curator::cli {
namespace {

struct ShowConfig {};
struct ShowConfigPath {};
struct SetConfig {
  std::string key;
  std::string value;
};

absl::Status Run(Session& session, const ShowConfig&) {
  Document document;
  Table table{"settings", "", {{"key", "key"}, {"value", "value"}, {"from", "from"}}, {}};
  for (const Setting& setting : session.settings) {
    table.rows.push_back({setting.key, setting.value.empty() ? Value() : Value(setting.value), setting.from});
  }
  document.tables.push_back(std::move(table));
  document.notes.push_back(absl::StrCat("configuration file: ", ConfigPathOfUser()));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowConfigPath&) {
  const std::string path = ConfigPathOfUser();
  if (path.empty()) return absl::FailedPreconditionError("neither XDG_CONFIG_HOME nor HOME is set");
  session.out << Printable(path) << "\n";
  return absl::OkStatus();
}

absl::Status Run(Session& session, const SetConfig& command) {
  const std::string profile = command.key == "profile" ? "" : session.profile;
  RETURN_IF_ERROR(SetInConfig(ConfigPathOfUser(), profile, command.key, command.value));
  session.error << Printable(ConfigPathOfUser()) << ": " << Printable(command.key)
                << (command.value.empty() ? " is removed\n" : " is set\n");
  return absl::OkStatus();
}

}  // namespace

void AddConfigCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "config", "Your configuration file: which server, as whom, how to print");
  Choose(AddCommand(*group, "show", "What is in force, and where each value comes from; asks no server",
                    "curator config show --profile work"),
         std::make_shared<ShowConfig>(), chosen);
  const auto set = std::make_shared<SetConfig>();
  CLI::App* command =
      AddCommand(*group, "set", "Write a value into the file; with --profile, into that profile",
                 "curator config set server https://curator.example");
  command
      ->add_option(
          "KEY", set->key,
          "server, as, token_file, token_command, ca, cert, key or output: the option of that name; or "
          "profile, the one that is used where --profile names none")
      ->required();
  command->add_option("VALUE", set->value, "The value; an empty one removes the key")->required();
  command->footer(
      "The file has no secrets. A key that the command line or the environment gives counts before the file. "
      "Who you\n"
      "are comes from one place: where --as, a token or a certificate is given, the file's are not used.\n"
      "Example:\n  curator config set output json --profile scripts");
  Choose(command, set, chosen);
  Choose(AddCommand(*group, "path", "Where the file is", "curator config path"),
         std::make_shared<ShowConfigPath>(), chosen);
}

}  // namespace curator::cli
