#include <utility>

#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

void AddAssumedRows(CLI::App* command, std::optional<int64_t>& rows, const std::string& summary) {
  command->add_option("--assume-rows", rows, summary)->type_name("N")->check(CLI::PositiveNumber);
}

void CheckPrice(const PriceChoice& price, const std::string& why) {
  if (!price.is_given()) throw CLI::ValidationError("--epsilon, --rho, --max-error", why);
}

void AddWorkloadGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("workload", "Questions: counts with noise, and what they cost");
  group->require_subcommand(1);

  const auto estimate = std::make_shared<EstimateWorkload>();
  CLI::App* command =
      AddCommand(*group, "estimate", "Price and expected error, from public facts; costs nothing",
                 "curator workload estimate census --marginals 2 --attributes age,sex,zone --rho 0.1\n"
                 "  curator workload estimate census --ranges age --max-error 100 --confidence 0.9");
  command->add_option("NAME", estimate->dataset, "The dataset")->required();
  AddParts(command, estimate->parts);
  AddWorkload(command, estimate->workload, WorkloadNeed::kRequired);
  AddPrice(command, estimate->price);
  AddMechanism(command, estimate->mechanism);
  AddConfidence(command, estimate->confidence);
  AddAssumedRows(command, estimate->assumed_rows, "Also show errors as shares of this many records");
  command->parse_complete_callback([estimate] {
    CheckWorkload(estimate->workload);
    CheckPrice(estimate->price, "one of them is needed to say what the answers would cost");
  });
  Choose(command, estimate, chosen);

  const auto answer = std::make_shared<AnswerWorkload>();
  command = AddCommand(
      *group, "answer", "Charge the budget and answer with noise",
      "curator workload answer census --marginals 2 --rho 0.1 --out pairs.csv\n"
      "  curator workload answer census --where 'age in [30,40] and sex = Female' --by education --rho 0.01\n"
      "  curator workload answer census --prefixes age --max-error 100 --plot\n"
      "  curator workload answer census --marginals 1 --attributes age --prefer-free --plot ages.svg");
  command->add_option("NAME", answer->dataset, "The dataset")->required();
  AddParts(command, answer->parts);
  AddWorkload(command, answer->workload, WorkloadNeed::kRequired);
  AddPrice(command, answer->price);
  command->add_flag(
      "--prefer-free", answer->prefer_free,
      "Answer from earlier releases where they determine all that is asked, free; pay otherwise, if a "
      "budget is given");
  AddMechanism(command, answer->mechanism);
  AddConfidence(command, answer->confidence);
  AddPostProcessing(command, answer->post_processing);
  AddRequestId(command, answer->request_id);
  AddReceipt(command, answer->receipt);
  AddDelivery(
      command, answer->delivery,
      "Write all answers to this file, CSV or JSON by its extension; - is standard output. Default: the "
      "first rows as tables");
  command->parse_complete_callback([answer] {
    CheckWorkload(answer->workload);
    if (!answer->prefer_free) CheckPrice(answer->price, "or --prefer-free: one of them is needed");
  });
  Choose(command, answer, chosen);
}

// "key=value", each key once.
void AddSettings(CLI::App* command, std::map<std::string, std::string>& settings) {
  command
      ->add_option_function<std::vector<std::string>>(
          "--set",
          [&settings](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
              const size_t equals = pair.find('=');
              if (equals == std::string::npos || equals == 0) {
                throw CLI::ValidationError("--set", "'" + pair + "' is not key=value");
              }
              const std::string key = pair.substr(0, equals);
              if (!settings.emplace(key, pair.substr(equals + 1)).second) {
                throw CLI::ValidationError("--set", "'" + key + "' is set twice");
              }
            }
          },
          "A setting of the method; may be repeated (see: curator synth list)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void AddSynthesisChoice(CLI::App* command, SynthesisChoice& choice) {
  command->add_option("--method", choice.method, "How the model is learned (see: curator synth list)")
      ->type_name("M")
      ->required();
  AddSpend(command, choice.spend);
  AddSettings(command, choice.settings);
  AddWorkload(command, choice.workload, WorkloadNeed::kOptional);
  command->parse_complete_callback([&choice] { CheckWorkload(choice.workload); });
  AddParts(command, choice.parts);
}

void AddSynthesisGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group =
      app.add_subcommand("synth", "Synthetic data: learn a model from noisy measurements, sample it");
  group->require_subcommand(1);
  Choose(AddCommand(*group, "list", "The methods and their settings", "curator synth list"),
         std::make_shared<ListSynthesizers>(), chosen);

  const auto estimate = std::make_shared<EstimateSynthesis>();
  CLI::App* command =
      AddCommand(*group, "estimate", "Price, schedule and settings, from public facts; costs nothing",
                 "curator synth estimate census --method mwem --epsilon 1");
  command->add_option("NAME", estimate->dataset, "The dataset")->required();
  AddSynthesisChoice(command, estimate->choice);
  AddAssumedRows(command, estimate->assumed_rows,
                 "The number of records to assume where the forecast depends on it");
  Choose(command, estimate, chosen);

  const auto run = std::make_shared<RunSynthesis>();
  command =
      AddCommand(*group, "run", "Charge the budget, learn a model, and sample it into a file",
                 "curator synth run census --method mwem --epsilon 1 --set rounds=10 --out synthetic.csv");
  command->add_option("NAME", run->dataset, "The dataset")->required();
  AddSynthesisChoice(command, run->choice);
  CLI::Option* out =
      command->add_option("--out", run->out, "Write synthetic records to this CSV file; - is standard output")
          ->type_name("FILE.csv");
  command->add_option("--rows", run->rows, "How many. Default: the model's own noisy number of records")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->needs(out);
  command->add_flag("--as-bins", run->as_bins, "Bins as intervals instead of a value inside the bin")
      ->needs(out);
  AddRequestId(command, run->request_id);
  AddReceipt(command, run->receipt);
  Choose(command, run, chosen);
}

}  // namespace

void AddQueryGroups(CLI::App& app, Chosen& chosen) {
  AddWorkloadGroup(app, chosen);
  AddSynthesisGroup(app, chosen);
}

}  // namespace curator::cli
