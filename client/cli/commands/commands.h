// The commands of `curator`. Each noun (`curator dataset`, `curator charge`, ...) has one file in this
// folder, with the options, help and actions of its commands; this header declares what these files share.
//
// Budgets stay text: exact decimals, which only the server interprets. Not thread-safe.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "client/cli/commands/field_options.h"
#include "client/cli/output/terminal.h"
#include "client/cli/output/value.h"
#include "client/cli/settings/setting.h"
#include "client/client.h"
#include "curator/v1/budget.pb.h"

namespace curator::cli {

struct Document;

// The context of a running command. Belongs to one command; not thread-safe.
struct Session {
  const Client& client;
  const std::string& server;  // its address, as the user gave it
  OutputForm form = OutputForm::kTable;
  Terminal terminal;
  std::istream& in;
  std::ostream& out;
  std::ostream& error;
  // The request id of a command that changes something; empty for commands that only read. Errors name it.
  std::string request_id = {};
  // What the fields of its requests are called on the command line. Errors say it.
  FieldOptions fields = {};
  // The options of every command, with where they come from; and --profile.
  std::vector<Setting> settings = {};
  std::string profile = {};

  // Sets the request's (or header's) id to `chosen`, or to a new id when that is empty, and stores it in
  // request_id.
  template <typename Request>
  absl::Status SetRequestId(Request& request, const std::string& chosen) {
    RETURN_IF_ERROR(UseRequestId(chosen));
    request.set_request_id(request_id);
    return absl::OkStatus();
  }
  absl::Status UseRequestId(const std::string& chosen);

  void Print(const Document& document);
};

// Adds the request id, by which the same request can be repeated.
void AddRequestFacts(const Session& session, Document& document);
// Prints a document that depends on the records, and says so.
void PrintForOwner(Session& session, Document& document);

// The action of the command that the command line names: prints its result to the session, or returns the
// error that the program prints. Empty until the command line is parsed.
using Chosen = std::function<absl::Status(Session&)>;

// Add the commands of a noun to `app`; each is implemented in the file of its noun. When the command line
// names one, its action is stored in `chosen`, which must outlive `app`.
void AddAccountCommands(CLI::App& app, Chosen& chosen);
void AddAuditCommands(CLI::App& app, Chosen& chosen);
void AddBudgetCommands(CLI::App& app, Chosen& chosen);
void AddCalcCommands(CLI::App& app, Chosen& chosen);
void AddChargeCommands(CLI::App& app, Chosen& chosen);
void AddConfigCommands(CLI::App& app, Chosen& chosen);
void AddDatasetCommands(CLI::App& app, Chosen& chosen);
// These five to the group of AddDatasetCommands().
void AddDatasetDeleteCommand(CLI::App& dataset_group, Chosen& chosen);
void AddDatasetGrantCommands(CLI::App& dataset_group, Chosen& chosen);
void AddDatasetImportCommand(CLI::App& dataset_group, Chosen& chosen);
void AddDatasetImportsCommands(CLI::App& dataset_group, Chosen& chosen);
void AddDatasetRefusalCommands(CLI::App& dataset_group, Chosen& chosen);
void AddIdentityCommands(CLI::App& app, Chosen& chosen);
void AddInboxCommand(CLI::App& app, Chosen& chosen);
void AddLedgerCommands(CLI::App& app, Chosen& chosen);
void AddLoginCommands(CLI::App& app, Chosen& chosen);
void AddOperationCommands(CLI::App& app, Chosen& chosen);
void AddOwnerCommands(CLI::App& app, Chosen& chosen);
void AddReleaseCommands(CLI::App& app, Chosen& chosen);
void AddSchemaCommands(CLI::App& app, Chosen& chosen);
void AddServerCommands(CLI::App& app, Chosen& chosen);
void AddShellCommands(CLI::App& app, Chosen& chosen);
void AddSqlCommand(CLI::App& app, Chosen& chosen);
void AddSynthCommands(CLI::App& app, Chosen& chosen);
void AddVersionCommand(CLI::App& app, Chosen& chosen);
void AddWorkloadCommands(CLI::App& app, Chosen& chosen);

// Adds a noun, which must be followed by one of its commands.
CLI::App* AddGroup(CLI::App& app, const std::string& name, const std::string& summary);

// Adds a command with its help. `example` is a complete command line.
CLI::App* AddCommand(CLI::App& group, const std::string& name, const std::string& summary,
                     const std::string& example);

// Makes Run(session, *options) the action of `command`. Run() is found by argument-dependent lookup. `check`
// is called with the options when the command line is parsed, and throws a CLI11 error if they are invalid
// together.
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

// The check of an option whose argument is a time; empty for a time, else what is wrong.
std::string CheckTime(const std::string& text);

// --limit of a listing.
void AddMost(CLI::App* command, int64_t& most);

// Adds a command whose only argument is a name.
template <typename Options>
void AddNameCommand(CLI::App& group, const std::string& name, const std::string& summary,
                    const std::string& example, std::string Options::*member, const std::string& argument,
                    Chosen& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(group, name, summary, example);
  command->add_option(argument, (*options).*member)->required();
  if constexpr (requires { options->most; }) AddMost(command, options->most);
  Choose(command, options, chosen);
}

// Adds an option whose argument is one of a few words, each of which stands for a value.
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

// --rule, --epsilon, --delta: the rule of an account, and its promise.
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
// --part: the part of a partitioned dataset that is changed.
void AddPartName(CLI::App* command, std::string& part);
// --parts: the queried parts of a partitioned dataset.
void AddParts(CLI::App* command, std::vector<std::string>& parts);

// Splits "a,b,c" into its names.
std::vector<std::string> SplitAtCommas(const std::string& text);
// A CLI11 check: the message of an error when a name in "a,b,c" is empty or repeated, else empty.
std::string CheckNames(const std::string& text);

}  // namespace curator::cli
