#include "client/cli/globals.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/settings/config_file.h"

namespace curator::cli {
namespace {

std::string InEnvironment(const std::string& name) {
  const char* const value = name.empty() ? nullptr : std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::string FlagOf(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

bool IsAmong(const std::vector<std::string>& arguments, const std::string& flag) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == flag || argument.starts_with(flag + "=");
  });
}

std::string WordOf(OutputForm form) {
  return form == OutputForm::kTable ? "table" : form == OutputForm::kJson ? "json" : "csv";
}

// The places of the values, in the order in which `curator config show` lists them.
std::vector<std::pair<std::string, std::string*>> PlacesOf(Globals& globals) {
  return {{"server", &globals.server},
          {"as", &globals.principal},
          {"token_file", &globals.token.file},
          {"token_command", &globals.token.command},
          {"ca", &globals.tls.authorities},
          {"cert", &globals.tls.certificate},
          {"key", &globals.tls.key}};
}

// Where the value of an option was given; empty where it was not.
std::string GivenIn(const CLI::App& app, const std::vector<std::string>& arguments, const std::string& key) {
  const CLI::Option* const option = app.get_option(FlagOf(key));
  if (option->count() == 0) return "";
  const std::string variable = option->get_envname();
  const bool is_of_environment = !InEnvironment(variable).empty() && !IsAmong(arguments, FlagOf(key));
  return is_of_environment ? variable : FlagOf(key);
}

const ConfigEntry* FindKey(const std::vector<ConfigEntry>& entries, const std::string& key) {
  for (const ConfigEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string PlaceOf(const ConfigEntry& entry, const std::string& path) {
  return absl::StrCat(path, ":", entry.line);
}

absl::StatusOr<OutputForm> FormOf(const ConfigEntry& entry, const std::string& path) {
  for (const OutputForm form : {OutputForm::kTable, OutputForm::kJson, OutputForm::kCsv}) {
    if (entry.value == WordOf(form)) return form;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(PlaceOf(entry, path), ": output is table, json or csv, and not \"", entry.value, "\""));
}

absl::StatusOr<Setting> OutputSetting(const CLI::App& app, const std::vector<std::string>& arguments,
                                      const ConfigEntry* entry, const std::string& path, Globals& globals) {
  std::string from = GivenIn(app, arguments, "output");
  if (from.empty() && entry != nullptr) {
    ASSIGN_OR_RETURN(globals.form, FormOf(*entry, path));
    from = PlaceOf(*entry, path);
  }
  return Setting{"output", WordOf(globals.form), from.empty() ? "default" : from};
}

absl::StatusOr<Setting> ProfileSetting(const CLI::App& app, const std::vector<std::string>& arguments,
                                       const ConfigEntry* entry, const std::string& path, Globals& globals) {
  std::string from = GivenIn(app, arguments, "profile");
  if (from.empty() && entry != nullptr) {
    globals.profile = entry->value;
    from = PlaceOf(*entry, path);
  }
  return Setting{"profile", globals.profile, from.empty() ? "default" : from};
}

}  // namespace

std::string DefaultPrincipal() {
  const std::string user = InEnvironment("USER");
  return user.empty() ? "developer" : user;
}

void AddGlobals(CLI::App& app, Globals& globals) {
  app.add_option("--server", globals.server, "Address of the server")
      ->type_name("https://HOST|unix:/PATH|HOST:PORT")
      ->envname("CURATOR_SERVER")
      ->capture_default_str();
  app.add_option("--as", globals.principal,
                 "Your name, which only a development server accepts: it provides no security")
      ->type_name("PRINCIPAL")
      ->envname("CURATOR_AS")
      ->default_str(DefaultPrincipal());
  CLI::Option* const file =
      app.add_option("--token-file", globals.token.file, "File with your token in its first line")
          ->type_name("FILE")
          ->envname("CURATOR_TOKEN_FILE");
  app.add_option("--token-command", globals.token.command, "Shell command that prints your token")
      ->type_name("COMMAND")
      ->envname("CURATOR_TOKEN_COMMAND")
      ->excludes(file);
  app.add_option("--ca", globals.tls.authorities,
                 "Who signed the server's certificate, in PEM; else the system's")
      ->type_name("FILE")
      ->envname("CURATOR_CA");
  CLI::Option* const certificate =
      app.add_option("--cert", globals.tls.certificate, "Your client certificate, in PEM")->type_name("FILE");
  app.add_option("--key", globals.tls.key, "Its key, in PEM")->type_name("FILE")->needs(certificate);
  AddChoice<OutputForm>(
      app, "--output", "table|json|csv", globals.form,
      {{"table", OutputForm::kTable}, {"json", OutputForm::kJson}, {"csv", OutputForm::kCsv}},
      "Form of the output: tables are rounded and shortened, the others exact and whole. Default: table");
  app.add_option(
         "--profile", globals.profile,
         "Profile of your configuration file, which has the defaults of all options above; see: curator "
         "config")
      ->type_name("NAME")
      ->envname("CURATOR_PROFILE");
}

absl::StatusOr<std::vector<Setting>> UseConfig(const CLI::App& app, const std::vector<std::string>& arguments,
                                               const std::string& config_path, Globals& globals) {
  ASSIGN_OR_RETURN(const std::vector<ConfigEntry> all, ReadConfig(config_path));
  ASSIGN_OR_RETURN(const Setting profile,
                   ProfileSetting(app, arguments, FindKey(all, "profile"), config_path, globals));
  ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries, EntriesOf(all, globals.profile));
  std::vector<Setting> settings;
  bool has_identity = false;
  for (const auto& [key, place] : PlacesOf(globals)) {
    settings.push_back({key, *place, GivenIn(app, arguments, key)});
    has_identity = has_identity || (IsIdentityKey(key) && !settings.back().from.empty());
  }
  for (const auto& [key, place] : PlacesOf(globals)) {
    Setting& setting = *std::find_if(settings.begin(), settings.end(),
                                     [&key = key](const Setting& each) { return each.key == key; });
    const ConfigEntry* const entry = FindKey(entries, key);
    const bool counts = entry != nullptr && setting.from.empty() && !(has_identity && IsIdentityKey(key));
    if (counts) {
      *place = entry->value;
      setting.from = PlaceOf(*entry, config_path);
    }
    // A command may have a secret in its words.
    setting.value = key == "token_command" && !place->empty() ? "(a command)" : *place;
    if (setting.from.empty()) setting.from = "default";
  }
  if (!globals.token.file.empty() && !globals.token.command.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(config_path, ": token_file and token_command exclude each other"));
  }
  ASSIGN_OR_RETURN(settings.emplace_back(),
                   OutputSetting(app, arguments, FindKey(entries, "output"), config_path, globals));
  settings.push_back(profile);
  return settings;
}

}  // namespace curator::cli
