#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

void AddCreate(CLI::App& group, Chosen& chosen) {
  const auto create = std::make_shared<CreateAccount>();
  CLI::App* command = AddCommand(
      group, "create", "Limit what one analyst, or a group together, may spend of a dataset's budget",
      "curator account create census --analyst ana --rule pure --epsilon 0.5\n"
      "  curator account create census --group interns --members bob,carl --rule pure --epsilon 0.5");
  command->add_option("NAME", create->dataset, "The dataset")->required();
  CLI::Option_group* holder =
      command->add_option_group("Holder", "Whose charges it counts; one of --analyst and --group");
  holder->add_option("--analyst", create->analyst, "One analyst")->type_name("PRINCIPAL");
  CLI::Option* named =
      holder->add_option("--group", create->group, "A name for several analysts")->type_name("GROUP");
  holder->require_option(1);
  CLI::Option* members =
      command->add_option("--members", create->members, "Who belongs to the group, for good")
          ->type_name("PRINCIPAL,...")
          ->delimiter(',')
          ->needs(named);
  named->needs(members);
  AddPromise(command, create->rule, create->epsilon, create->delta);
  command->get_option("--rule")->required();
  command->get_option("--epsilon")->required();
  AddRequestId(command, create->request_id);
  Choose(command, create, chosen);
}

}  // namespace

void AddAccountGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("account", "Accounts of analysts and groups on a dataset");
  group->require_subcommand(1);
  AddCreate(*group, chosen);
  AddNameCommand(*group, "list", "The accounts that you may see; the owner sees all",
                 "curator account list census", &ListAccounts::dataset, "NAME", chosen);
}

}  // namespace curator::cli
