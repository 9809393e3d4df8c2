// The options of questions and answers, which several commands share.
#include <cstdlib>
#include <utility>

#include "client/cli/arguments_parts.h"
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
  group.add_option("--file", workload.file, "Questions from a file: a workload in proto JSON")
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
           "The cumulative counts of an attribute, up to and with each bin; may be repeated", CheckNames);
  AddTexts(
      group, "--thresholds", workload.thresholds, "TEXT",
      "How many fulfil some of several conditions: 'at least 2 of (age >= 65, smoker = yes, zone in {1,2})'; "
      "may be repeated",
      [](const std::string& text) { return Complaint(ParseThresholds(text).status()); });
  group
      .add_option("--parities", workload.parities,
                  "Parities (Hadamard) of all sets of up to K attributes, of two values each")
      ->type_name("K")
      ->check(CLI::PositiveNumber);
  AddTexts(
      group, "--where", workload.where, "TEXT",
      "How many fulfil all conditions: 'age in [30,40] and sex = Female and zone in {1,2}'; may be repeated",
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

}  // namespace

void AddWorkload(CLI::App* command, WorkloadChoice& workload, WorkloadNeed need) {
  CLI::Option_group* group = command->add_option_group("Questions", "What is asked; any mixture of these");
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
                          "What the noise is added to, of all but marginals: each answer, the cells that are "
                          "summed, or a tree of intervals. Default: auto, the least expected error");
}

void CheckWorkload(const WorkloadChoice& workload) {
  if (!workload.by.empty() && workload.where.empty() && workload.thresholds.empty())
    throw CLI::ValidationError("--by", "goes with --where or --thresholds");
  if (!workload.attributes.empty() && workload.asks() && workload.marginals == 0 && workload.parities == 0)
    throw CLI::ValidationError("--attributes", "goes with --marginals or --parities");
}

void AddPrice(CLI::App* command, PriceChoice& price) {
  CLI::Option_group* group =
      command->add_option_group("Budget", "What the request may spend, or what it must reach; one of these");
  CLI::Option* epsilon =
      group->add_option("--epsilon", price.spend.epsilon, "Epsilon, an exact decimal: buys a pure mechanism")
          ->type_name("E");
  group->add_option("--rho", price.spend.rho, "Rho, an exact decimal: buys Gaussian noise on a zcdp account")
      ->type_name("R");
  group
      ->add_option(
          "--max-error", price.max_error,
          "Spend the least with which all answers together are off by at most this many records, with the "
          "probability of --confidence")
      ->type_name("A")
      ->check([](const std::string& text) {
        const double error = std::strtod(text.c_str(), nullptr);
        return error > 0 && error < 1e18 ? std::string() : "an error is a positive number of records";
      });
  group->require_option(0, 1);
  command->add_option("--delta", price.spend.delta, "Delta beside --epsilon, on an advanced account")
      ->type_name("D")
      ->needs(epsilon);
}

void AddPostProcessing(CLI::App* command, v1::PostProcessing& steps) {
  const auto apply = [](const std::string& text, v1::PostProcessing& into) -> std::string {
    for (const std::string& step : SplitAtCommas(text)) {
      if (step == "non-negative") {
        into.set_non_negative(true);
      } else if (step == "consistent") {
        into.set_consistent(true);
      } else if (step == "integer") {
        into.set_integer(true);
      } else {
        return "'" + step + "' is none of non-negative, consistent, integer";
      }
    }
    return "";
  };
  command
      ->add_option_function<std::string>(
          "--postprocess", [&steps, apply](const std::string& text) { apply(text, steps); },
          "Change the measured answers, free, and say so: no negative counts; marginals that agree with each "
          "other "
          "(least squares); whole numbers. Any of these, separated by commas")
      ->type_name("non-negative,consistent,integer")
      ->check([apply](const std::string& text) {
        v1::PostProcessing tried;
        return apply(text, tried);
      });
}

void AddDelivery(CLI::App* command, DeliveryChoice& delivery, const std::string& out_summary) {
  command->add_option("--out", delivery.out, out_summary)->type_name("FILE");
  command
      ->add_option_function<std::vector<std::string>>(
          "--plot",
          [&delivery](const std::vector<std::string>& given) {
            delivery.plot = given.empty() || given.front().empty() ? "" : given.front();
          },
          "Draw the one-way marginals with their intervals: as bars on the terminal, or into an SVG file")
      ->type_name("[FILE.svg]")
      ->expected(0, 1)
      ->check([](const std::string& text) {
        return text.empty() || text.ends_with(".svg")
                   ? std::string()
                   : "'" + text + "' does not end in .svg: plots are SVG files";
      });
}

}  // namespace curator::cli
