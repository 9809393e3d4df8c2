#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

constexpr int64_t kLongestLifetimeSeconds = int64_t{366} * 24 * 3600;

// --event FILE.json | --epsilon E [--delta D] | --rho R
void AddEvent(CLI::App* command, EventChoice& event, int least) {
  CLI::Option_group* group = command->add_option_group(
      "Mechanism", "What is done to the data: an event in JSON (curator.v1.Event), or a guarantee");
  group->add_option("--event", event.file, "What is done, in JSON")->type_name("FILE.json");
  CLI::Option* epsilon =
      group->add_option("--epsilon", event.guarantee.epsilon, "Any mechanism of this epsilon")
          ->type_name("E");
  group->add_option("--rho", event.guarantee.rho, "Any mechanism of this zCDP rho")->type_name("R");
  group->require_option(least, 1);
  command->add_option("--delta", event.guarantee.delta, "Delta beside --epsilon")
      ->type_name("D")
      ->needs(epsilon);
}

void LimitLifetime(CLI::Option* option) {
  option->type_name("SECONDS")->check(CLI::Range(int64_t{1}, kLongestLifetimeSeconds));
}

void AddReserve(CLI::App& group, Chosen& chosen) {
  const auto reserve = std::make_shared<ReserveCharge>();
  CLI::App* command = AddCommand(group, "reserve", "Hold the cost of a mechanism that you will run yourself",
                                 "curator charge reserve census --epsilon 0.1 --summary 'weekly report'");
  command->add_option("NAME", reserve->dataset, "The dataset")->required();
  AddEvent(command, reserve->event, 1);
  command->add_option("--summary", reserve->summary, "One public line about it")->type_name("TEXT");
  LimitLifetime(command->add_option("--lifetime", reserve->lifetime_seconds,
                                    "When it is neither started nor cancelled, it counts as spent after "
                                    "this long. Default: 3600"));
  command->add_flag("--estimate", reserve->estimate, "Show the price, reserve nothing");
  AddRequestId(command, reserve->request_id);
  AddReceipt(command, reserve->receipt);
  Choose(command, reserve, chosen);
}

void AddStart(CLI::App& group, Chosen& chosen) {
  const auto start = std::make_shared<StartCharge>();
  const auto event = std::make_shared<EventChoice>();
  CLI::App* command = AddCommand(group, "start", "Spend it, durably, before you look at any data",
                                 "curator charge start ID --epsilon 0.05");
  command->add_option("ID", start->charge, "The charge")->required();
  AddEvent(command, *event, 0);
  command->final_callback([start, event, &chosen] {
    const SpendChoice& guarantee = event->guarantee;
    if (!event->file.empty() || !guarantee.epsilon.empty() || !guarantee.rho.empty())
      start->final_event = *event;
    chosen = *start;
  });
}

void AddExtend(CLI::App& group, Chosen& chosen) {
  const auto extend = std::make_shared<ExtendCharge>();
  CLI::App* command = AddCommand(group, "extend", "Let a reservation count as spent later",
                                 "curator charge extend ID --lifetime 7200");
  command->add_option("ID", extend->charge, "The charge")->required();
  LimitLifetime(command->add_option("--lifetime", extend->lifetime_seconds, "From now")->required());
  Choose(command, extend, chosen);
}

void AddCancel(CLI::App& group, Chosen& chosen) {
  const auto cancel = std::make_shared<CancelCharge>();
  CLI::App* command = AddCommand(group, "cancel", "Give a reservation back; only before its start",
                                 "curator charge cancel ID --reason 'not needed'");
  command->add_option("ID", cancel->charge, "The charge")->required();
  command->add_option("--reason", cancel->reason, "One public line")->type_name("TEXT");
  Choose(command, cancel, chosen);
}

void AddShow(CLI::App& group, Chosen& chosen) {
  const auto show = std::make_shared<ShowCharge>();
  CLI::App* command = AddCommand(group, "show", "The truth about a charge, by its id or its request id",
                                 "curator charge show --request-id UUID");
  CLI::Option_group* which = command->add_option_group("Which", "The charge's id, or its request id");
  which->add_option("ID", show->charge, "The charge");
  which->add_option("--request-id", show->request_id, "The request that made it")->type_name("UUID");
  which->require_option(1);
  AddReceipt(command, show->receipt);
  Choose(command, show, chosen);
}

}  // namespace

void AddChargeGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand(
      "charge", "The accountant for mechanisms that you run yourself: reserve, start, commit");
  group->require_subcommand(1);
  AddReserve(*group, chosen);
  AddStart(*group, chosen);
  AddNameCommand(*group, "commit", "Say that it is done", "curator charge commit ID", &CommitCharge::charge,
                 "ID", chosen);
  AddCancel(*group, chosen);
  AddExtend(*group, chosen);
  AddShow(*group, chosen);
}

}  // namespace curator::cli
