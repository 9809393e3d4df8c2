// The commands of `curator`: each noun (`curator dataset`, `curator charge`, ...) is one file here, with what
// its commands take, what they do, and their options and help; and what these files share.
//
// CLI11 is slow to compile: this header is for the files of commands and for program.cc. Money stays text:
// exact decimals, judged by the server alone.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "curator/v1/budget.pb.h"

namespace curator::cli {

struct Session;

// What the command that was named does: prints its result to the session, or returns the error that the
// program prints. Empty until the line is read.
using Chosen = std::function<absl::Status(Session&)>;

// The nouns, each in the file of its name.
void AddAccountCommands(CLI::App& app, Chosen& chosen);
void AddBudgetCommands(CLI::App& app, Chosen& chosen);
void AddCalcCommands(CLI::App& app, Chosen& chosen);
void AddChargeCommands(CLI::App& app, Chosen& chosen);
void AddDatasetCommands(CLI::App& app, Chosen& chosen);
void AddLedgerCommands(CLI::App& app, Chosen& chosen);
void AddOperationCommands(CLI::App& app, Chosen& chosen);
void AddOwnerCommands(CLI::App& app, Chosen& chosen);
void AddReleaseCommands(CLI::App& app, Chosen& chosen);
void AddSchemaCommands(CLI::App& app, Chosen& chosen);
void AddSynthCommands(CLI::App& app, Chosen& chosen);
void AddVersionCommand(CLI::App& app, Chosen& chosen);
void AddWorkloadCommands(CLI::App& app, Chosen& chosen);

// A noun, one of whose commands must follow.
CLI::App* AddGroup(CLI::App& app, const std::string& name, const std::string& summary);

// A command with its help. `example` is a whole command line.
CLI::App* AddCommand(CLI::App& group, const std::string& name, const std::string& summary,
                     const std::string& example);

// Chooses Run(session, *options) when `command` is named. Run() is found beside the type of the options.
// `check` sees the options when the whole line is read, and throws what CLI11 is to say of them.
template <typename Options, typename Check>
void Choose(CLI::App* command, const std::shared_ptr<Options>& options, Chosen& chosen, const Check& check) {
  command->final_callback([options, check, &chosen] {
    check(*options);
    chosen = [options](Session& session) { return Run(session, *options); };
  });
}
template <typename Options>
void Choose(CLI::App* command, const std::shared_ptr<Options>& options, Chosen& chosen) {
  Choose(command, options, chosen, [](const Options&) {});
}

// A command whose only argument is a name.
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
struct PromiseChoice {
  v1::Rule rule = v1::RULE_UNSPECIFIED;
  std::string epsilon;
  std::string delta;

  bool has_rule() const { return rule != v1::RULE_UNSPECIFIED; }
  bool has_limit() const { return !epsilon.empty() || !delta.empty(); }
};
void AddPromise(CLI::App* command, PromiseChoice& promise);
v1::BudgetLimit LimitOf(const PromiseChoice& promise);

void AddRequestId(CLI::App* command, std::string& request_id);
void AddReceipt(CLI::App* command, std::string& receipt);
// --parts: those of a partitioned dataset that are asked.
void AddParts(CLI::App* command, std::vector<std::string>& parts);

// "a,b,c" into its names; and the check that none is empty and none is there twice.
std::vector<std::string> SplitAtCommas(const std::string& text);
std::string CheckNames(const std::string& text);

}  // namespace curator::cli
