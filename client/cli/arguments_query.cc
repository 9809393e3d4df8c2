#include <utility>

#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

void AddAssumedRows(CLI::App* command, std::optional<int64_t>& rows, const std::string& summary) {
  command->add_option("--assume-rows", rows, summary)->type_name("N")->check(CLI::PositiveNumber);
}

void AddWorkloadGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("workload", "Questions: marginals with noise, and what they cost");
  group->require_subcommand(1);

  const auto estimate = std::make_shared<EstimateWorkload>();
  CLI::App* command =
      AddCommand(*group, "estimate", "Price and expected error, from public facts; costs nothing",
                 "curator workload estimate census --marginals 2 --attributes age,sex,zone --rho 0.1");
  command->add_option("NAME", estimate->dataset, "The dataset")->required();
  AddParts(command, estimate->parts);
  AddWorkload(command, estimate->workload);
  AddSpend(command, estimate->spend);
  AddMechanism(command, estimate->mechanism);
  AddConfidence(command, estimate->confidence);
  AddAssumedRows(command, estimate->assumed_rows, "Also show errors as shares of this many records");
  Choose(command, estimate, chosen);

  const auto answer = std::make_shared<AnswerWorkload>();
  command = AddCommand(*group, "answer", "Charge the budget and answer with noise",
                       "curator workload answer census --marginals 2 --rho 0.1 --out pairs.csv");
  command->add_option("NAME", answer->dataset, "The dataset")->required();
  AddParts(command, answer->parts);
  AddWorkload(command, answer->workload);
  AddSpend(command, answer->spend);
  AddMechanism(command, answer->mechanism);
  AddConfidence(command, answer->confidence);
  AddRequestId(command, answer->request_id);
  AddReceipt(command, answer->receipt);
  command
      ->add_option("--out", answer->out,
                   "Write all cells to this file, CSV or JSON by its extension; - is standard output. "
                   "Default: the first "
                   "rows as tables")
      ->type_name("FILE");
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
  AddOptionalWorkload(command, choice.workload);
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
