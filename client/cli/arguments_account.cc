#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

void AddCreateAccount(CLI::App& group, Chosen& chosen) {
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

void AddPropose(CLI::App& group, Chosen& chosen) {
  const auto propose = std::make_shared<ProposeLimit>();
  CLI::App* command = AddCommand(
      group, "propose", "Propose another limit; for the owner. Nothing changes until somebody else approves",
      "curator account limit propose census --epsilon 4 --reason 'a second study'\n"
      "  curator account limit propose census --analyst ana --epsilon 0.7 --reason 'her thesis'");
  command->add_option("NAME", propose->dataset, "The dataset")->required();
  CLI::Option_group* holder =
      command->add_option_group("Holder", "Whose account it is; the dataset's own when none is named");
  const auto add_holder = [&](const std::string& option, const std::string& scope, const std::string& type,
                              const std::string& summary) {
    holder
        ->add_option_function<std::string>(
            option, [propose, scope](const std::string& name) { propose->account = scope + "/" + name; },
            summary)
        ->type_name(type);
  };
  add_holder("--analyst", "analyst", "PRINCIPAL", "An analyst's");
  add_holder("--group", "group", "GROUP", "A group's");
  add_holder("--part", "part", "LABEL", "A part's");
  holder->require_option(0, 1);
  CLI::Option_group* promise = command->add_option_group("Promise", "One of --epsilon and --delta");
  promise->add_option("--epsilon", propose->epsilon, "The new epsilon, at the account's own rule and delta")
      ->type_name("E");
  promise->add_option("--delta", propose->delta, "The new delta; under advanced only")->type_name("D");
  promise->require_option(1);
  command->add_option("--reason", propose->reason, "Why; it stays in the history")
      ->type_name("TEXT")
      ->required();
  AddRequestId(command, propose->request_id);
  Choose(command, propose, chosen);
}

// A command on one proposal.
template <typename Options>
void AddOnProposal(CLI::App& group, const std::string& name, const std::string& summary, Chosen& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(group, name, summary, "curator account limit " + name + " census PROPOSAL");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("PROPOSAL", options->proposal, "Its id, as `propose` printed it")->required();
  Choose(command, options, chosen);
}

void AddLimitGroup(CLI::App& account, Chosen& chosen) {
  CLI::App* group = account.add_subcommand(
      "limit", "Change limits: one proposes, another approves, and the history keeps both");
  group->require_subcommand(1);
  AddPropose(*group, chosen);
  AddOnProposal<ShowLimitProposal>(*group, "show", "What a proposal would change, before you approve it",
                                   chosen);
  AddOnProposal<ApproveLimit>(*group, "approve", "Approve what somebody else proposed: the limit changes",
                              chosen);
  AddNameCommand(*group, "list", "The proposals for accounts that you may see; the owner sees all",
                 "curator account limit list census", &ListLimitProposals::dataset, "NAME", chosen);
}

}  // namespace

void AddAccountGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("account", "Accounts of analysts and groups on a dataset");
  group->require_subcommand(1);
  AddCreateAccount(*group, chosen);
  AddNameCommand(*group, "list", "The accounts that you may see; the owner sees all",
                 "curator account list census", &ListAccounts::dataset, "NAME", chosen);
  AddLimitGroup(*group, chosen);
}

}  // namespace curator::cli
