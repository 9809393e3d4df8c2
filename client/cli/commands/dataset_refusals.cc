// `curator dataset refuse`: the rules by which the owner of a dataset refuses requests.
#include <google/protobuf/util/time_util.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

using google::protobuf::util::TimeUtil;

const std::map<std::string, v1::RefusalRule::Kind>& KindsByName() {
  static const auto* const kKinds =
      new std::map<std::string, v1::RefusalRule::Kind>{{"workload", v1::RefusalRule::WORKLOAD},
                                                       {"synthesis", v1::RefusalRule::SYNTHESIS},
                                                       {"reservation", v1::RefusalRule::RESERVATION}};
  return *kKinds;
}

std::string NameOfKind(int kind) {
  for (const auto& [name, each] : KindsByName()) {
    if (each == kind) return name;
  }
  return "unknown";
}

struct AddRule {
  std::string dataset;
  std::string name;
  std::vector<std::string> principals;
  std::vector<std::string> kinds;
  std::vector<std::string> attributes;
  std::string counter;  // empty: whatever the price
  std::string amount;
  std::string from;
  std::string until;
  std::string note;
  std::string request_id;
};

struct RemoveRule {
  std::string dataset;
  std::string name;
  std::string request_id;
};

struct ListRules {
  std::string dataset;
  int64_t most = Client::kAll;
};

v1::RefusalRule RuleOf(const AddRule& command) {
  v1::RefusalRule rule;
  rule.set_name(command.name);
  for (const std::string& principal : command.principals) rule.add_principals(principal);
  for (const std::string& kind : command.kinds) rule.add_kinds(KindsByName().at(kind));
  for (const std::string& attribute : command.attributes) rule.add_attributes(attribute);
  if (!command.counter.empty()) {
    rule.mutable_price_above()->set_counter(command.counter);
    rule.mutable_price_above()->set_amount(command.amount);
  }
  // The command line was refused unless these are times.
  if (!command.from.empty()) TimeUtil::FromString(command.from, rule.mutable_start_time());
  if (!command.until.empty()) TimeUtil::FromString(command.until, rule.mutable_end_time());
  rule.set_note(command.note);
  return rule;
}

Row RowOf(const v1::RefusalRule& rule) {
  std::vector<std::string> kinds;
  for (const int kind : rule.kinds()) kinds.push_back(NameOfKind(kind));
  const bool has_price = rule.has_price_above();
  return {rule.name(),
          std::vector<std::string>(rule.principals().begin(), rule.principals().end()),
          kinds,
          std::vector<std::string>(rule.attributes().begin(), rule.attributes().end()),
          has_price ? rule.price_above().counter() + "=" + rule.price_above().amount() : std::string(),
          rule.has_start_time() ? TimeUtil::ToString(rule.start_time()) : std::string(),
          rule.has_end_time() ? TimeUtil::ToString(rule.end_time()) : std::string(),
          rule.note()};
}

Table TableOfRules() {
  return {.key = "rules",
          .title = "",
          .columns = {{"name", "rule"},
                      {"principals", "principals"},
                      {"kinds", "kinds"},
                      {"attributes", "attributes"},
                      {"price_above", "price above"},
                      {"start_time", "from"},
                      {"end_time", "until"},
                      {"note", "note"}},
          .rows = {}};
}

absl::Status Run(Session& session, const AddRule& command) {
  v1::AddRefusalRuleRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  *request.mutable_rule() = RuleOf(command);
  ASSIGN_OR_RETURN(const v1::RefusalRule rule, session.client.AddRefusalRule(std::move(request)));
  Document document;
  document.fields = {{"dataset", "dataset", command.dataset}};
  AddRequestFacts(session, document);
  document.tables.push_back(TableOfRules());
  document.tables.back().rows.push_back(RowOf(rule));
  document.notes.emplace_back(
      "refuses new requests from now on; what was charged, queued or held before stays");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const RemoveRule& command) {
  v1::RemoveRefusalRuleRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_name(command.name);
  RETURN_IF_ERROR(session.client.RemoveRefusalRule(std::move(request)).status());
  Document document;
  document.fields = {{"dataset", "dataset", command.dataset}, {"rule", "rule removed", command.name}};
  AddRequestFacts(session, document);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListRules& command) {
  ASSIGN_OR_RETURN(const v1::ListRefusalRulesResponse list,
                   session.client.ListRefusalRules(command.dataset, command.most));
  Document document;
  document.tables.push_back(TableOfRules());
  for (const v1::RefusalRule& rule : list.rules()) document.tables.back().rows.push_back(RowOf(rule));
  session.Print(document);
  return absl::OkStatus();
}

void AddPriceAbove(CLI::App* command, AddRule& options) {
  command
      ->add_option_function<std::string>(
          "--price-above",
          [&options](const std::string& text) {
            const size_t equals = text.find('=');
            if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
              throw CLI::ValidationError("--price-above", "'" + text + "' is not COUNTER=AMOUNT");
            options.counter = text.substr(0, equals);
            options.amount = text.substr(equals + 1);
          },
          "It costs the dataset's account, or that of a part, more than this, e.g. rho=0.05")
      ->type_name("COUNTER=AMOUNT");
}

void AddAddRule(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<AddRule>();
  CLI::App* command = AddCommand(
      group, "add", "Refuse new requests that meet all conditions of a rule; without conditions, all of them",
      "curator dataset refuse add census no-income --principal ana --attribute income --note 'ask without "
      "it'");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("RULE", options->name, "1 to 63 of a-z, 0-9, _ and -, starting with a letter")
      ->required();
  command->add_option("--principal", options->principals, "It is made by this principal; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--kind", options->kinds, "It is of this kind; may be repeated")
      ->check(CLI::IsMember({"workload", "synthesis", "reservation"}))
      ->allow_extra_args(false);
  command
      ->add_option("--attribute", options->attributes,
                   "It uses this attribute, or one of several; a reservation uses all of them")
      ->allow_extra_args(false);
  AddPriceAbove(command, *options);
  command->add_option("--from", options->from, "It is made at this time or later")
      ->type_name("TIME")
      ->check(CheckTime);
  command->add_option("--until", options->until, "It is made before this time")
      ->type_name("TIME")
      ->check(CheckTime);
  command->add_option("--note", options->note, "A public line for those who are refused")->type_name("TEXT");
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddRemoveRule(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<RemoveRule>();
  CLI::App* command = AddCommand(group, "remove", "Remove a rule: it refuses nothing from now on",
                                 "curator dataset refuse remove census no-income");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("RULE", options->name, "The rule")->required();
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

}  // namespace

void AddDatasetRefusalCommands(CLI::App& dataset_group, Chosen& chosen) {
  CLI::App* group = AddGroup(dataset_group, "refuse", "Rules by which the owner refuses requests");
  AddAddRule(*group, chosen);
  AddRemoveRule(*group, chosen);
  AddNameCommand(*group, "list", "The rules of a dataset; those that concern you, where you may not see all",
                 "curator dataset refuse list census", &ListRules::dataset, "NAME", chosen);
}

}  // namespace curator::cli
