#include "client/cli/shell/command_tree.h"

namespace curator::cli {

std::vector<const CLI::App*> CommandsOf(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* each) { return !each->get_name().empty(); });
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options();
  for (const CLI::App* const group :
       command.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); })) {
    const std::vector<const CLI::Option*> own = OptionsOf(*group);
    options.insert(options.end(), own.begin(), own.end());
  }
  return options;
}

}  // namespace curator::cli
