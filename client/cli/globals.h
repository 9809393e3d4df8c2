// The options of every command: which server, as whom, how to print. They come from the command line, else
// from the environment, else from the configuration file.
//
// Not thread-safe: belongs to one run of the program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/output/value.h"
#include "client/cli/settings/setting.h"
#include "client/cli/token_source.h"
#include "client/connection.h"

namespace curator::cli {

struct Globals {
  std::string server = "127.0.0.1:7878";
  std::string principal;
  TokenChoice token = {};
  client::TlsFiles tls = {};
  OutputForm form = OutputForm::kTable;
  std::string profile;  // of the configuration file; empty: the one that the file names
};

// Who calls a development server and gives no name.
std::string DefaultPrincipal();

// `globals` must outlive `app`.
void AddGlobals(CLI::App& app, Globals& globals);

// After `app` has parsed `arguments`: takes from the configuration file what neither they nor the environment
// say, and returns what is in force. Who one is comes from one place: where they say any of it, the file says
// none. Errors of ReadConfig() and EntriesOf(), and INVALID_ARGUMENT for an unknown output form.
absl::StatusOr<std::vector<Setting>> UseConfig(const CLI::App& app, const std::vector<std::string>& arguments,
                                               const std::string& config_path, Globals& globals);

}  // namespace curator::cli
