// What the files that describe the command groups share.
//
// Internal to the parser. CLI11 is slow to compile, so it is included here and in these files only.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/commands.h"

namespace curator::cli {

// The command that was named, once the line is read.
using Chosen = std::optional<Command>;

// A subcommand with its help. `example` is a whole command line.
CLI::App* AddCommand(CLI::App& group, const std::string& name, const std::string& summary,
                     const std::string& example);

// Makes `options` the chosen command when `command` is named.
template <typename Options>
void Choose(CLI::App* command, const std::shared_ptr<Options>& options, Chosen& chosen) {
  command->final_callback([options, &chosen] { chosen = *options; });
}

// A subcommand whose only argument is a name.
template <typename Options>
void AddNameCommand(CLI::App& group, const std::string& name, const std::string& summary,
                    const std::string& example, std::string Options::*member, const std::string& argument,
                    Chosen& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(group, name, summary, example);
  command->add_option(argument, (*options).*member)->required();
  Choose(command, options, chosen);
}

// An option whose value is one of a few words, each of which stands for a value.
template <typename Value>
void AddChoice(CLI::App& command, const std::string& option, const std::string& words, Value& target,
               const std::vector<std::pair<std::string, Value>>& choices, const std::string& summary) {
  const auto value_of = [choices](const std::string& word) -> std::optional<Value> {
    for (const auto& [name, value] : choices) {
      if (name == word) return value;
    }
    return std::nullopt;
  };
  const auto check = [words, value_of](const std::string& word) {
    return value_of(word) ? std::string() : "'" + word + "' is none of " + words;
  };
  command
      .add_option_function<std::string>(
          option, [value_of, &target](const std::string& word) { target = *value_of(word); }, summary)
      ->type_name(words)
      ->check(check);
}

// --rule, --epsilon, --delta: how an account counts, and its promise.
void AddPromise(CLI::App* command, v1::Rule& rule, std::string& epsilon, std::string& delta);
void AddRequestId(CLI::App* command, std::string& request_id);
void AddReceipt(CLI::App* command, std::string& receipt);
void AddSpend(CLI::App* command, SpendChoice& spend);
void AddMechanism(CLI::App* command, v1::Mechanism& mechanism);
void AddConfidence(CLI::App* command, std::optional<double>& confidence);
// The options that say what is asked. At least one question, where `WorkloadNeed` says so.
enum class WorkloadNeed { kRequired, kOptional };
void AddWorkload(CLI::App* command, WorkloadChoice& workload, WorkloadNeed need);
// Usage errors that concern several options at once; to be called when the line is read.
void CheckWorkload(const WorkloadChoice& workload);
// --epsilon, --rho, --delta, or --max-error.
void AddPrice(CLI::App* command, PriceChoice& price);
void AddPostProcessing(CLI::App* command, v1::PostProcessing& steps);
// --out and --plot.
void AddDelivery(CLI::App* command, DeliveryChoice& delivery, const std::string& out_summary);

// "a,b,c" into its names; and the check that none is empty and none is there twice.
std::vector<std::string> SplitAtCommas(const std::string& text);
std::string CheckNames(const std::string& text);

// --parts: those of a partitioned dataset that are asked.
void AddParts(CLI::App* command, std::vector<std::string>& parts);

// The groups, each in its own file.
void AddDatasetGroups(CLI::App& app, Chosen& chosen);    // dataset, schema
void AddQueryGroups(CLI::App& app, Chosen& chosen);      // workload, synth
void AddChargeGroup(CLI::App& app, Chosen& chosen);      // charge
void AddAccountGroup(CLI::App& app, Chosen& chosen);     // account
void AddRecordGroups(CLI::App& app, Chosen& chosen);     // release, operation, budget, ledger, version
void AddOwnerGroup(CLI::App& app, Chosen& chosen);       // owner
void AddCalculatorGroup(CLI::App& app, Chosen& chosen);  // calc

}  // namespace curator::cli
