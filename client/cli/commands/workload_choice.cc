#include "client/cli/commands/workload_choice.h"

#include <cstdlib>
#include <functional>
#include <utility>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/files.h"
#include "client/cli/syntax/where.h"

namespace curator::cli {
namespace {

// The message of an error for CLI11: empty when there is none.
std::string Complaint(const absl::Status& status) {
  return status.ok() ? std::string() : std::string(status.message());
}

void AddTexts(CLI::Option_group& group, const std::string& option, std::vector<std::string>& texts,
              const std::string& type, const std::string& summary,
              const std::function<std::string(const std::string&)>& check) {
  group
      .add_option_function<std::vector<std::string>>(
          option, [&texts](const std::vector<std::string>& given) { texts = given; }, summary)
      ->type_name(type)
      ->check(check)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddQuestions(CLI::Option_group& group, WorkloadChoice& workload) {
  group.add_option("--file", workload.file, "Queries from a file: a workload in proto JSON")
      ->type_name("FILE.json");
  group.add_option("--marginals", workload.marginals, "All K-way marginals: counts over every K attributes")
      ->type_name("K")
      ->check(CLI::PositiveNumber);
  group
      .add_option_function<std::vector<std::string>>(
          "--ranges",
          [&workload](const std::vector<std::string>& given) {
            for (const std::string& names : given) workload.ranges.push_back(SplitAtCommas(names));
          },
          "All ranges of an attribute, or all boxes of several; may be repeated")
      ->type_name("A[,B]")
      ->check(CheckNames)
      ->allow_extra_args(false);
  AddTexts(group, "--prefixes", workload.prefixes, "A",
           "The cumulative counts of an attribute, up to each bin, included; may be repeated", CheckNames);
  AddTexts(group, "--thresholds", workload.thresholds, "TEXT",
           "How many records fulfil some of several conditions: 'at least 2 of (age >= 65, smoker = yes, "
           "zone in {1,2})'; "
           "may be repeated",
           [](const std::string& text) { return Complaint(ParseThresholds(text).status()); });
  group
      .add_option("--parities", workload.parities,
                  "Parities (Hadamard) of all sets of up to K attributes, of two values each")
      ->type_name("K")
      ->check(CLI::PositiveNumber);
  AddTexts(group, "--where", workload.where, "TEXT",
           "How many records fulfil all conditions: 'age in [30,40] and sex = Female and zone in {1,2}'; may "
           "be repeated",
           [](const std::string& text) { return Complaint(ParseWhere(text).status()); });
}

void AddNames(CLI::App* command, const std::string& option, std::vector<std::string>& names,
              const std::string& summary) {
  command
      ->add_option_function<std::string>(
          option, [&names](const std::string& text) { names = SplitAtCommas(text); }, summary)
      ->type_name("A,B,C")
      ->check(CheckNames);
}

// --epsilon and --rho in `group`, --delta beside it.
void AddSpendTo(CLI::Option_group& group, CLI::App* command, SpendChoice& spend) {
  CLI::Option* epsilon =
      group.add_option("--epsilon", spend.epsilon, "Epsilon, an exact decimal: buys a pure mechanism")
          ->type_name("E");
  group.add_option("--rho", spend.rho, "Rho, an exact decimal: buys Gaussian noise on a zcdp account")
      ->type_name("R");
  command->add_option("--delta", spend.delta, "Delta beside --epsilon, on an advanced account")
      ->type_name("D")
      ->needs(epsilon);
}

void AddNames(const std::vector<std::string>& names, google::protobuf::RepeatedPtrField<std::string>* field) {
  for (const std::string& name : names) *field->Add() = name;
}

void AddKWay(int k, const std::vector<std::string>& attributes, v1::AllKWay* all) {
  all->set_k(k);
  AddNames(attributes, all->mutable_attributes());
}

void AddNamedSets(const WorkloadChoice& choice, v1::Workload& workload) {
  if (choice.marginals > 0) {
    AddKWay(choice.marginals, choice.attributes,
            workload.add_query_sets()->mutable_marginals()->mutable_all_k_way());
  }
  for (const std::vector<std::string>& names : choice.ranges)
    AddNames(names, workload.add_query_sets()->mutable_ranges()->mutable_attributes());
  for (const std::string& name : choice.prefixes)
    workload.add_query_sets()->mutable_prefixes()->set_attribute(name);
}

absl::Status AddThresholds(const WorkloadChoice& choice, const v1::Schema& schema, v1::Workload& workload) {
  for (const std::string& text : choice.thresholds) {
    ASSIGN_OR_RETURN(ParsedThresholds parsed, ParseThresholds(text));
    RETURN_IF_ERROR(CheckEnds(parsed.conditions, schema));
    v1::Thresholds& thresholds = *workload.add_query_sets()->mutable_thresholds();
    for (v1::Condition& condition : parsed.conditions.conditions)
      *thresholds.add_conditions() = std::move(condition);
    for (const int32_t least : parsed.at_least) thresholds.add_at_least(least);
    thresholds.set_k(parsed.each);
    AddNames(choice.by, thresholds.mutable_by());
  }
  return absl::OkStatus();
}

// All of --where are one query set: their sensitivity is that of all of them together.
absl::Status AddPredicates(const WorkloadChoice& choice, const v1::Schema& schema, v1::Workload& workload) {
  if (choice.where.empty()) return absl::OkStatus();
  v1::Predicates& predicates = *workload.add_query_sets()->mutable_predicates();
  for (const std::string& text : choice.where) {
    ASSIGN_OR_RETURN(ParsedConditions parsed, ParseWhere(text));
    RETURN_IF_ERROR(CheckEnds(parsed, schema));
    v1::Predicate& predicate = *predicates.add_predicates();
    for (v1::Condition& condition : parsed.conditions) *predicate.add_all_of() = std::move(condition);
  }
  AddNames(choice.by, predicates.mutable_by());
  return absl::OkStatus();
}

}  // namespace

void AddWorkload(CLI::App* command, WorkloadChoice& workload, WorkloadNeed need) {
  CLI::Option_group* group = command->add_option_group("Questions", "The queries; any mixture of these");
  AddQuestions(*group, workload);
  if (need == WorkloadNeed::kRequired) group->require_option(1, 0);
  AddNames(command, "--attributes", workload.attributes,
           "Attributes of --marginals and --parities; all of the dataset when absent");
  AddNames(command, "--by", workload.by,
           "--where and --thresholds are answered for each combination of these attributes' values");
  AddChoice<v1::Strategy>(*command, "--strategy", "auto|direct|histogram|tree", workload.strategy,
                          {{"auto", v1::STRATEGY_UNSPECIFIED},
                           {"direct", v1::STRATEGY_DIRECT},
                           {"histogram", v1::STRATEGY_BASE_HISTOGRAM},
                           {"tree", v1::STRATEGY_TREE}},
                          "Where noise is added, except for marginals: to each answer, to the cells that are "
                          "summed, or to a tree of intervals. Default: auto, the least expected error");
}

void CheckWorkload(const WorkloadChoice& workload) {
  if (!workload.by.empty() && workload.where.empty() && workload.thresholds.empty())
    throw CLI::ValidationError("--by", "goes with --where or --thresholds");
  if (!workload.attributes.empty() && workload.asks() && workload.marginals == 0 && workload.parities == 0)
    throw CLI::ValidationError("--attributes", "goes with --marginals or --parities");
}

absl::StatusOr<v1::Workload> WorkloadOf(const WorkloadChoice& choice, const v1::Schema& schema) {
  v1::Workload workload;
  if (!choice.file.empty()) {
    ASSIGN_OR_RETURN(workload, ReadWorkload(choice.file));
  }
  AddNamedSets(choice, workload);
  RETURN_IF_ERROR(AddThresholds(choice, schema, workload));
  if (choice.parities > 0) {
    AddKWay(choice.parities, choice.attributes,
            workload.add_query_sets()->mutable_parities()->mutable_up_to_k_way());
  }
  RETURN_IF_ERROR(AddPredicates(choice, schema, workload));
  for (v1::QuerySet& set : *workload.mutable_query_sets()) {
    if (!set.has_marginals() && set.strategy() == v1::STRATEGY_UNSPECIFIED) set.set_strategy(choice.strategy);
  }
  return workload;
}

v1::Spend SpendOf(const SpendChoice& choice) {
  v1::Spend spend;
  spend.set_epsilon(choice.epsilon);
  spend.set_delta(choice.delta);
  spend.set_rho(choice.rho);
  return spend;
}

void AddSpend(CLI::App* command, SpendChoice& spend) {
  CLI::Option_group* group =
      command->add_option_group("Budget", "The amount to spend; one of --epsilon and --rho");
  AddSpendTo(*group, command, spend);
  group->require_option(1);
}

void AddPrice(CLI::App* command, PriceChoice& price) {
  CLI::Option_group* group =
      command->add_option_group("Budget", "The amount to spend, or the error to reach; one of these");
  AddSpendTo(*group, command, price.spend);
  group
      ->add_option("--max-error", price.max_error,
                   "Spend the least such that no answer is wrong by more than this many records, with the "
                   "probability of --confidence")
      ->type_name("A")
      ->check([](const std::string& text) {
        const double error = std::strtod(text.c_str(), nullptr);
        return error > 0 && error < 1e18 ? std::string() : "an error is a positive number of records";
      });
  group->require_option(0, 1);
}

void AddMechanism(CLI::App* command, v1::Mechanism& mechanism) {
  AddChoice<v1::Mechanism>(*command, "--mechanism", "auto|laplace|gaussian", mechanism,
                           {{"auto", v1::MECHANISM_UNSPECIFIED},
                            {"laplace", v1::MECHANISM_DISCRETE_LAPLACE},
                            {"gaussian", v1::MECHANISM_DISCRETE_GAUSSIAN}},
                           "Noise; auto is the least expected error that the account allows. Default: auto");
}

void AddConfidence(CLI::App* command, std::optional<double>& confidence) {
  command
      ->add_option("--confidence", confidence,
                   "Level of each value's interval, between 0 and 1. Default: 0.95")
      ->type_name("LEVEL")
      ->check([](const std::string& text) {
        const double level = std::strtod(text.c_str(), nullptr);
        return level > 0 && level < 1 ? std::string() : "a confidence level lies between 0 and 1";
      });
}

void AddAssumedRows(CLI::App* command, std::optional<int64_t>& rows, const std::string& summary) {
  command->add_option("--assume-rows", rows, summary)->type_name("N")->check(CLI::PositiveNumber);
}

}  // namespace curator::cli
