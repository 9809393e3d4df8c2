#include "client/cli/commands/commands.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <sstream>

#include "client/cli/output/document.h"
#include "client/cli/syntax/number_checks.h"
#include "client/request_id.h"

namespace curator::cli {

CLI::App* AddGroup(CLI::App& app, const std::string& name, const std::string& summary) {
  CLI::App* group = app.add_subcommand(name, summary);
  group->require_subcommand(1);
  return group;
}

CLI::App* AddCommand(CLI::App& group, const std::string& name, const std::string& summary,
                     const std::string& example) {
  CLI::App* command = group.add_subcommand(name, summary);
  command->footer("Example:\n  " + example);
  return command;
}

void AddPromise(CLI::App* command, PromiseChoice& promise) {
  AddChoice<v1::Rule>(
      *command, "--rule", "pure|advanced|zcdp", promise.rule,
      {{"pure", v1::RULE_PURE}, {"advanced", v1::RULE_ADVANCED}, {"zcdp", v1::RULE_ZCDP}},
      "The composition rule of the account: sum of epsilons, adaptive composition, or sum of rhos");
  command->add_option("--epsilon", promise.epsilon, "The promise for all answers together, an exact decimal")
      ->type_name("E");
  command->add_option("--delta", promise.delta, "The promise's delta, e.g. 1e-9; for advanced and zcdp")
      ->type_name("D");
}

v1::BudgetLimit LimitOf(const PromiseChoice& promise) {
  v1::BudgetLimit limit;
  limit.set_rule(promise.rule);
  limit.set_epsilon(promise.epsilon);
  limit.set_delta(promise.delta);
  return limit;
}

void AddRequestId(CLI::App* command, std::string& request_id) {
  command
      ->add_option("--request-id", request_id,
                   "Send the request with this id. The id of an earlier request returns the same result and "
                   "costs nothing. "
                   "Default: a new one")
      ->type_name("UUID")
      ->check([](const std::string& text) {
        return client::IsRequestId(text) ? std::string()
                                         : "'" + text + "' is not a UUID (8-4-4-4-12 hex digits)";
      });
}

std::string CheckTime(const std::string& text) {
  google::protobuf::Timestamp time;
  return google::protobuf::util::TimeUtil::FromString(text, &time)
             ? std::string()
             : "'" + text + "' is not a time such as 2026-11-26T00:00:00Z";
}

void AddReceipt(CLI::App* command, std::string& receipt) {
  command
      ->add_option(
          "--receipt", receipt,
          "Append the charge's signed receipt to this file; `curator ledger verify --receipts` checks "
          "it later")
      ->type_name("FILE");
}

void AddPartName(CLI::App* command, std::string& part) {
  command->add_option("--part", part, "The part, of a partitioned dataset")->type_name("PART");
}

void AddParts(CLI::App* command, std::vector<std::string>& parts) {
  command
      ->add_option_function<std::string>(
          "--parts", [&parts](const std::string& text) { parts = SplitAtCommas(text); },
          "Query only these parts of a partitioned dataset; only they pay. Default: all sealed parts")
      ->type_name("P,Q")
      ->check(CheckNames);
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  if (parts.empty() || text.ends_with(',')) parts.emplace_back();
  return parts;
}

// "a,b,c": no empty name, none twice.
std::string CheckNames(const std::string& text) {
  std::vector<std::string> names = SplitAtCommas(text);
  if (std::find(names.begin(), names.end(), "") != names.end()) return "a name is empty in '" + text + "'";
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  return twice == names.end() ? "" : "'" + *twice + "' is named twice";
}

absl::Status Session::UseRequestId(const std::string& chosen) {
  if (!chosen.empty()) {
    request_id = chosen;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(request_id, client::NewRequestId());
  return absl::OkStatus();
}

void AddRequestFacts(const Session& session, Document& document) {
  document.fields.push_back({"request_id", "request id", session.request_id});
}

void PrintForOwner(Session& session, Document& document) {
  AddRequestFacts(session, document);
  document.notes.emplace_back("these figures depend on the records: for the owner's eyes only");
  session.Print(document);
}

void Session::Print(const Document& document) {
  cli::Print(document, form, terminal, out, error);
}

void AddMost(CLI::App* command, int64_t& most) {
  command->add_option("--limit", most, "At most this many. Default: all")
      ->type_name("N")
      ->check(PositiveNumber);
}

}  // namespace curator::cli
