#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

constexpr char kMechanisms[] =
    "A mechanism is NAME:KEY=VALUE,KEY=VALUE,... Each takes count (how many times; default 1) and group\n"
    "(records of one unit; default 1), and\n"
    "  laplace            scale, l1 (default 1)\n"
    "  discrete-laplace   scale, l1 (1), linf (l1)\n"
    "  gaussian           sigma or sigma_squared, l2 (1)\n"
    "  discrete-gaussian  sigma or sigma_squared, l2_squared (1), linf (what l2_squared allows)\n"
    "  exponential        range (the bounded range)\n"
    "  pure               epsilon\n"
    "  approximate        epsilon, delta\n"
    "  zcdp               rho\n"
    "A file holds one curator.v1.Event in JSON, as `curator charge --event` takes it; decimals are text:\n"
    "  {\"composed\": {\"parts\": [{\"count\": 20, \"event\": {\"gaussian\": {\"sigma_squared\": "
    "\"100\"}}},\n"
    "                          {\"count\": 5, \"event\": {\"laplace\": {\"scale\": \"10\"}}}]}}\n"
    "\n"
    "Examples:\n"
    "  curator calc compose --events gaussian:sigma=10,count=20 laplace:scale=10,count=5 --delta 1e-6\n"
    "  curator calc compose --file plan.json --delta 1e-6 --output json";

void AddCompose(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<ComposeEvents>();
  CLI::App* command =
      group.add_subcommand("compose", "What a schedule costs at one delta, by every calculator");
  command->footer(kMechanisms);
  CLI::Option* events =
      command->add_option("--events", options->events, "Mechanisms, as below")->type_name("MECHANISM...");
  CLI::Option* file =
      command->add_option("--file", options->file, "An event in JSON, as below")->type_name("FILE.json");
  events->excludes(file);
  command->add_option("--delta", options->delta, "The delta at which epsilons are compared")->type_name("D");
  command->final_callback([options, &chosen] {
    if (options->events.empty() && options->file.empty()) throw CLI::RequiredError("--events or --file");
    if (options->delta.empty()) throw CLI::RequiredError("--delta");
    chosen = *options;
  });
}

void AddConvert(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<ConvertPrivacy>();
  CLI::App* command =
      group.add_subcommand("convert", "Between pure, (epsilon, delta) and zcdp; and for groups");
  command->footer(
      "What is asked follows from what is given:\n"
      "  --rho --delta      the epsilon of a zcdp mechanism\n"
      "  --rho --epsilon    its delta\n"
      "  --epsilon --delta  the largest rho that keeps the promise\n"
      "  --epsilon          the rho of a pure mechanism\n"
      "  --group K          what the mechanism is for units of K records\n"
      "\n"
      "Examples:\n"
      "  curator calc convert --rho 0.1 --delta 1e-6\n"
      "  curator calc convert --epsilon 0.5 --group 3");
  command->add_option("--epsilon", options->epsilon, "An exact decimal")->type_name("E");
  command->add_option("--delta", options->delta, "An exact decimal")->type_name("D");
  command->add_option("--rho", options->rho, "An exact decimal")->type_name("R");
  command->add_option("--group", options->group, "Records that one unit owns at most")
      ->type_name("K")
      ->check(CLI::PositiveNumber);
  command->final_callback([options, &chosen] {
    const bool has_epsilon = !options->epsilon.empty();
    const bool has_delta = !options->delta.empty();
    if (options->rho.empty() && !has_epsilon) throw CLI::RequiredError("--epsilon or --rho");
    if (!options->rho.empty() && has_epsilon && has_delta) {
      throw CLI::ValidationError("--rho", "takes one of --epsilon and --delta beside it");
    }
    if (!options->rho.empty() && !has_epsilon && !has_delta && !options->group) {
      throw CLI::RequiredError("--delta or --epsilon");
    }
    chosen = *options;
  });
}

void AddCalibrate(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<CalibrateNoise>();
  CLI::App* command = group.add_subcommand("calibrate", "The least noise that keeps a promise");
  command->footer(
      "Examples:\n"
      "  curator calc calibrate --epsilon 1 --delta 1e-6 --sensitivity 2\n"
      "  curator calc calibrate --rho 0.1");
  CLI::Option* epsilon =
      command->add_option("--epsilon", options->epsilon, "The promise, an exact decimal")->type_name("E");
  command->add_option("--delta", options->delta, "With it, Gaussian noise is calibrated too")
      ->type_name("D")
      ->needs(epsilon);
  command->add_option("--rho", options->rho, "A promise in zcdp instead")->type_name("R")->excludes(epsilon);
  command
      ->add_option("--sensitivity", options->sensitivity,
                   "By how much one unit changes the answer: L1 for Laplace, L2 for Gaussian noise")
      ->type_name("S")
      ->capture_default_str();
  command->final_callback([options, &chosen] {
    if (options->epsilon.empty() && options->rho.empty()) throw CLI::RequiredError("--epsilon or --rho");
    chosen = *options;
  });
}

}  // namespace

void AddCalculatorGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group =
      app.add_subcommand("calc", "Plan and check: privacy calculators on this machine, no server");
  group->require_subcommand(1);
  AddCompose(*group, chosen);
  AddConvert(*group, chosen);
  AddCalibrate(*group, chosen);
}

}  // namespace curator::cli
