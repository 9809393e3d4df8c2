#include "client/cli/commands/workload_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/files.h"
#include "client/cli/output/text.h"
#include "client/cli/syntax/number_checks.h"
#include "client/cli/syntax/where.h"
#include "client/release_total.h"

namespace curator::cli {

const char kWorkloadFileExample[] =
    "  {\"querySets\": [\n"
    "    {\"marginals\": {\"sets\": [{\"names\": [\"age\"]}, {\"names\": [\"region\"]}]}},\n"
    "    {\"marginals\": {\"allKWay\": {\"k\": 2, \"attributes\": [\"age\", \"sex\", \"region\"], "
    "\"maxCells\": 1000}}},\n"
    "    {\"ranges\": {\"attributes\": [\"age\"], \"boxes\": [{\"sides\": [{\"from\": 20, \"to\": 39}]}]}, "
    "\"weight\": 2},\n"
    "    {\"prefixes\": {\"attribute\": \"age\"}, \"strategy\": \"STRATEGY_TREE\"},\n"
    "    {\"thresholds\": {\"conditions\": [{\"attribute\": \"age\", \"between\": {\"from\": 60}},\n"
    "                                   {\"attribute\": \"sex\", \"in\": [\"Male\"]}],\n"
    "                    \"atLeast\": [1, 2], \"by\": [\"region\"]}},\n"
    "    {\"parities\": {\"upToKWay\": {\"k\": 1, \"attributes\": [\"sex\"]}}},\n"
    "    {\"predicates\": {\"predicates\": [{\"allOf\": [{\"attribute\": \"age\", \"between\": {\"to\": "
    "39}},\n"
    "                                            {\"attribute\": \"region\", \"in\": [1, 2]}]}],\n"
    "                    \"by\": [\"sex\"]}}]}";

const char kStatisticsFileExample[] =
    "  {\"querySets\": [\n"
    "    {\"statistics\": {\"statistics\": [{\"count\": {}}, {\"mean\": \"income\"},\n"
    "                                   {\"quantiles\": {\"of\": \"income\", \"at\": [\"0.25\", "
    "\"0.75\"]}}],\n"
    "                    \"by\": [\"region\"],\n"
    "                    \"where\": {\"allOf\": [{\"attribute\": \"sex\", \"in\": [\"Female\"]}]}}}]}";

namespace {

constexpr char kBeforeStatistics[] = "\n\nStatistics of groups in such a file:\n";

constexpr char kBeforeFileExample[] =
    "A file of queries (--file) is JSON: query sets, each of one class, that are answered in their order:\n";
constexpr char kAfterFileExample[] =
    "\nValues are written as they are in the table. Ranges without boxes are all ranges; an end that is left "
    "out is the\nattribute's own. Strategies: STRATEGY_DIRECT, STRATEGY_BASE_HISTOGRAM, STRATEGY_TREE, "
    "STRATEGY_RESIDUAL,\nSTRATEGY_PARITY.\n"
    "A weight, from 1e-6 to 1e6 and 1 where it is left out, says how much the variances of a set count "
    "beside "
    "those of\nothers; answers of models have none.";

// The whole text as a number; none for other texts, such as "5%".
std::optional<double> NumberIn(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return number;
}

// "5%", "0.5%": above 0 and at most 100.
std::optional<double> PercentageIn(const std::string& text) {
  if (!text.ends_with('%')) return std::nullopt;
  const std::optional<double> percentage = NumberIn(text.substr(0, text.size() - 1));
  return percentage && *percentage > 0 && *percentage <= 100 ? percentage : std::nullopt;
}

using QueryClass = v1::QuerySet::QueriesCase;

// The options that ask for counts, and the class of their query sets.
struct CountOption {
  const char* name;
  QueryClass query_class;
};
constexpr CountOption kCountOptions[] = {
    {"marginals", v1::QuerySet::kMarginals}, {"ranges", v1::QuerySet::kRanges},
    {"prefixes", v1::QuerySet::kPrefixes},   {"thresholds", v1::QuerySet::kThresholds},
    {"parities", v1::QuerySet::kParities},   {"where", v1::QuerySet::kPredicates}};

const CountOption* CountOptionNamed(const std::string& name) {
  const auto* const option =
      std::ranges::find_if(kCountOptions, [&](const CountOption& each) { return each.name == name; });
  return option == std::end(kCountOptions) ? nullptr : option;
}

// "ranges=2".
std::optional<OptionWeight> WeightIn(const std::string& text) {
  const size_t sign = text.find('=');
  if (sign == std::string::npos || CountOptionNamed(text.substr(0, sign)) == nullptr) return std::nullopt;
  const std::optional<double> weight = NumberIn(text.substr(sign + 1));
  if (!weight || !(*weight > 0) || !std::isfinite(*weight)) return std::nullopt;
  return OptionWeight{.option = text.substr(0, sign), .weight = *weight};
}

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
  group.add_option("--file", workload.file, "Queries from a file in JSON, which is described below")
      ->type_name("FILE.json");
  group.add_option("--marginals", workload.marginals, "All K-way marginals: counts over every K attributes")
      ->type_name("K")
      ->check(PositiveNumber);
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
      ->check(PositiveNumber);
  AddTexts(
      group, "--where", workload.where, "TEXT",
      "How many records fulfil conditions: 'age in [30,40] and sex = Female and zone in {1,2}', "
      "'(age >= 65 or smoker = yes) and weight is not missing', 'visit in [2019-03-01,2019-03-31]'; may be "
      "repeated",
      [](const std::string& text) { return Complaint(ParseWhere(text).status()); });
}

void AddNames(CLI::App* command, const std::string& option, std::vector<std::string>& names,
              const std::string& summary) {
  command
      ->add_option_function<std::vector<std::string>>(
          option,
          [&names](const std::vector<std::string>& texts) {
            names = SplitAtCommas(absl::StrJoin(texts, ","));
          },
          summary)
      ->type_name("A,B,C")
      ->allow_extra_args(false)
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

// "--where 'sex = F'": an option with the argument that it was given.
std::string Given(const std::string& option, const std::string& argument) {
  constexpr size_t kWidth = 60;
  const bool is_word = argument.find_first_of(" '\"(){}[]<>=,;") == std::string::npos;
  const std::string shown = Shortened(argument, kWidth, "~");
  return absl::StrCat(option, " ", is_word ? shown : "'" + shown + "'");
}

std::string JoinedAtCommas(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ",");
}

// Of marginals and parities.
void NameKWay(const std::string& path, const std::string& option, const std::string& all,
              FieldOptions& fields) {
  fields.Add(path, option);
  fields.Add(path + all + ".attributes", "--attributes");
  fields.Add(path + all + ".max_cells", "--max-cells");
}

void NameStatistics(const WorkloadChoice& choice, const std::string& path, FieldOptions& fields) {
  const std::vector<NamedStatistic> statistics = StatisticsOf(choice.statistics);
  fields.Add(path, statistics.front().option);
  fields.Add(path + ".strategy", "--quantiles-by");
  fields.Add(path + ".statistics.by", "--by");
  std::vector<std::string> words;
  if (!choice.where.empty()) fields.Add(path + ".statistics.where", Given("--where", choice.where.front()));
  for (size_t i = 0; i < statistics.size(); ++i) {
    const NamedStatistic& named = statistics[i];
    words.push_back(named.argument.empty() ? named.option : Given(named.option, named.argument));
    fields.Add(absl::StrCat(path, ".statistics.statistics[", i, "]"), words.back());
  }
  // Of all together: that two of them ask the same.
  fields.Add(path + ".statistics.statistics", absl::StrJoin(words, ", "));
}

// Of the query sets of short options, in their order.
void NameOptions(const WorkloadChoice& choice, int place, FieldOptions& fields) {
  const auto next = [&place, &fields] {
    std::string path = absl::StrCat("workload.query_sets[", place++, "]");
    fields.Add(path + ".strategy", "--strategy");
    fields.Add(path + ".weight", "--weight");
    return path;
  };
  if (choice.marginals > 0) NameKWay(next(), "--marginals", ".marginals.all_k_way", fields);
  for (const std::vector<std::string>& names : choice.ranges)
    fields.Add(next(), Given("--ranges", JoinedAtCommas(names)));
  for (const std::string& name : choice.prefixes) fields.Add(next(), Given("--prefixes", name));
  for (const std::string& text : choice.thresholds) {
    const std::string path = next();
    fields.Add(path, Given("--thresholds", text));
    fields.Add(path + ".thresholds.by", "--by");
  }
  if (choice.parities > 0) NameKWay(next(), "--parities", ".parities.up_to_k_way", fields);
  if (choice.statistics.asks())
    return NameStatistics(choice, absl::StrCat("workload.query_sets[", place, "]"), fields);
  if (choice.where.empty()) return;
  const std::string path = next();
  fields.Add(path, "--where");
  fields.Add(path + ".predicates.by", "--by");
  for (size_t i = 0; i < choice.where.size(); ++i)
    fields.Add(absl::StrCat(path, ".predicates.predicates[", i, "]"), Given("--where", choice.where[i]));
}

// Whether a short option asks for query sets of this class.
bool Asks(const WorkloadChoice& choice, QueryClass query_class) {
  switch (query_class) {
    case v1::QuerySet::kMarginals:
      return choice.marginals > 0;
    case v1::QuerySet::kRanges:
      return !choice.ranges.empty();
    case v1::QuerySet::kPrefixes:
      return !choice.prefixes.empty();
    case v1::QuerySet::kThresholds:
      return !choice.thresholds.empty();
    case v1::QuerySet::kParities:
      return choice.parities > 0;
    case v1::QuerySet::kPredicates:
      return !choice.where.empty() && !choice.statistics.asks();
    default:
      return choice.statistics.asks();
  }
}

// Whether short options ask for sets that take any --strategy: others than marginals and statistics.
bool AsksCounts(const WorkloadChoice& choice) {
  return std::ranges::any_of(kCountOptions, [&](const CountOption& option) {
    return option.query_class != v1::QuerySet::kMarginals && Asks(choice, option.query_class);
  });
}

void CheckWeights(const WorkloadChoice& workload) {
  std::set<std::string> named;
  for (const OptionWeight& each : workload.weights) {
    if (!named.insert(each.option).second)
      throw CLI::ValidationError("--weight", "names " + each.option + " twice");
    if (!Asks(workload, CountOptionNamed(each.option)->query_class)) {
      const bool is_condition = each.option == "where" && workload.statistics.asks();
      throw CLI::ValidationError(
          "--weight", is_condition ? "is of counts; statistics share a budget evenly"
                                   : absl::StrCat("names ", each.option, ", which is not asked: give --",
                                                  each.option, ", or leave its weight out"));
    }
  }
}

bool TakesStrategy(const v1::QuerySet& set, v1::Strategy strategy) {
  return !set.has_marginals() || strategy == v1::STRATEGY_DIRECT || strategy == v1::STRATEGY_RESIDUAL ||
         strategy == v1::STRATEGY_PARITY;
}

// Of the query sets of short options, which begin at `first`.
void SetWeights(const std::vector<OptionWeight>& weights, int first, v1::Workload& workload) {
  for (int i = first; i < workload.query_sets_size(); ++i) {
    v1::QuerySet& set = *workload.mutable_query_sets(i);
    for (const OptionWeight& each : weights)
      if (CountOptionNamed(each.option)->query_class == set.queries_case()) set.set_weight(each.weight);
  }
}

// How many query sets the short options ask for.
int OptionSets(const WorkloadChoice& choice) {
  const size_t lists = choice.ranges.size() + choice.prefixes.size() + choice.thresholds.size();
  return static_cast<int>(lists) + (choice.marginals > 0 ? 1 : 0) + (choice.parities > 0 ? 1 : 0) +
         (choice.where.empty() && !choice.statistics.asks() ? 0 : 1);
}

void AddKWay(int k, const std::vector<std::string>& attributes, v1::AllKWay* all) {
  all->set_k(k);
  AddNames(attributes, all->mutable_attributes());
}

void AddNamedSets(const WorkloadChoice& choice, v1::Workload& workload) {
  if (choice.marginals > 0) {
    AddKWay(choice.marginals, choice.attributes,
            workload.add_query_sets()->mutable_marginals()->mutable_all_k_way());
    if (choice.max_cells) {
      workload.mutable_query_sets(workload.query_sets_size() - 1)
          ->mutable_marginals()
          ->mutable_all_k_way()
          ->set_max_cells(*choice.max_cells);
    }
  }
  for (const std::vector<std::string>& names : choice.ranges)
    AddNames(names, workload.add_query_sets()->mutable_ranges()->mutable_attributes());
  for (const std::string& name : choice.prefixes)
    workload.add_query_sets()->mutable_prefixes()->set_attribute(name);
}

absl::Status AddThresholds(const WorkloadChoice& choice, const v1::Schema& schema, v1::Workload& workload) {
  for (const std::string& text : choice.thresholds) {
    ASSIGN_OR_RETURN(ParsedThresholds parsed, ParseThresholds(text));
    RETURN_IF_ERROR(CheckEnds(parsed, schema));
    v1::Thresholds& thresholds = *workload.add_query_sets()->mutable_thresholds();
    for (v1::Condition& condition : parsed.conditions) *thresholds.add_conditions() = std::move(condition);
    for (const int32_t least : parsed.at_least) thresholds.add_at_least(least);
    thresholds.set_k(parsed.each);
    AddNames(choice.by, thresholds.mutable_by());
  }
  return absl::OkStatus();
}

// All of --where are one query set: their sensitivity is that of all of them together.
absl::Status AddPredicates(const WorkloadChoice& choice, const v1::Schema& schema, v1::Workload& workload) {
  if (choice.where.empty() || choice.statistics.asks()) return absl::OkStatus();
  v1::Predicates& predicates = *workload.add_query_sets()->mutable_predicates();
  for (const std::string& text : choice.where) {
    ASSIGN_OR_RETURN(ParsedWhere parsed, ParseWhere(text));
    RETURN_IF_ERROR(CheckEnds(parsed, schema));
    *predicates.add_predicates() = std::move(parsed.predicate);
  }
  AddNames(choice.by, predicates.mutable_by());
  return absl::OkStatus();
}

absl::Status AddStatisticsTo(const WorkloadChoice& choice, const v1::Schema& schema, v1::Workload& workload) {
  if (!choice.statistics.asks()) return absl::OkStatus();
  v1::QuerySet& set = *workload.add_query_sets();
  for (NamedStatistic& named : StatisticsOf(choice.statistics))
    *set.mutable_statistics()->add_statistics() = std::move(named.statistic);
  AddNames(choice.by, set.mutable_statistics()->mutable_by());
  if (choice.where.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(ParsedWhere parsed, ParseWhere(choice.where.front()));
  RETURN_IF_ERROR(CheckEnds(parsed, schema));
  *set.mutable_statistics()->mutable_where() = std::move(parsed.predicate);
  return absl::OkStatus();
}

void AddWeights(CLI::App* command, WorkloadChoice& workload) {
  command
      ->add_option_function<std::vector<std::string>>(
          "--weight",
          [&workload](const std::vector<std::string>& given) {
            for (const std::string& text : given) workload.weights.push_back(*WeightIn(text));
          },
          "How much the variances of all queries that the option --NAME asks for count beside those of "
          "others, from 1e-6 to 1e6; 1 for those that are not named. NAME is marginals, ranges, prefixes, "
          "thresholds, parities or where; may be repeated")
      ->type_name("NAME=W")
      ->check([](const std::string& text) {
        return WeightIn(text) ? std::string()
                              : "'" + text +
                                    "' is not NAME=W, such as ranges=2: NAME is one of marginals, ranges, "
                                    "prefixes, thresholds, parities and where, and W a positive number";
      })
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// --max-error or --rmse: a number of records, or a percentage.
void AddErrorTo(CLI::Option_group& group, const std::string& option, std::optional<double>& records,
                std::optional<double>& percentage, const std::string& summary) {
  group
      .add_option_function<std::string>(
          option,
          [&records, &percentage](const std::string& text) {
            records = NumberIn(text);
            percentage = PercentageIn(text);
          },
          summary)
      ->type_name("A|P%")
      ->check([](const std::string& text) {
        const std::optional<double> error = NumberIn(text);
        const bool is_number = error && *error > 0 && *error < 1e18;
        return is_number || PercentageIn(text)
                   ? std::string()
                   : "'" + text +
                         "' is neither a positive number of records, such as 100, nor a percentage, "
                         "such as 5%";
      });
}

}  // namespace

void AddWorkload(CLI::App* command, WorkloadChoice& workload, WorkloadNeed need, AskedOf asked_of) {
  CLI::Option_group* group = command->add_option_group("Questions", "The queries; any mixture of these");
  AddQuestions(*group, workload);
  if (asked_of == AskedOf::kRecords) AddStatistics(command, *group, workload.statistics);
  if (need == WorkloadNeed::kRequired) group->require_option(1, 0);
  AddNames(command, "--attributes", workload.attributes,
           "Attributes of --marginals and --parities; all of the dataset when absent");
  AddNames(command, "--by", workload.by,
           asked_of == AskedOf::kRecords
               ? "--where, --thresholds and statistics are answered for each combination of these "
                 "attributes' values"
               : "--where and --thresholds are answered for each combination of these attributes' values");
  command
      ->add_option("--max-cells", workload.max_cells,
                   "Leave out those of --marginals that have more cells than this")
      ->type_name("N")
      ->check(PositiveNumber);
  AddChoice<v1::Strategy>(
      *command, "--strategy", "auto|direct|histogram|tree|residual|parity", workload.strategy,
      {{"auto", v1::STRATEGY_UNSPECIFIED},
       {"direct", v1::STRATEGY_DIRECT},
       {"histogram", v1::STRATEGY_BASE_HISTOGRAM},
       {"tree", v1::STRATEGY_TREE},
       {"residual", v1::STRATEGY_RESIDUAL},
       {"parity", v1::STRATEGY_PARITY}},
      "Where noise is added: to each answer, to the cells that are summed, to a tree of intervals, or (for "
      "all queries of a request or none) to orthogonal parts of marginals (residual, Gaussian noise) or "
      "parities (of marginals over attributes of two values, Laplace noise). Marginals take direct, residual "
      "and parity alone. Default: auto, the one with the least expected error; residual and parity only "
      "where no query names another");
  if (asked_of == AskedOf::kRecords) AddWeights(command, workload);
  command->footer(absl::StrCat(command->get_footer(), "\n\n", kBeforeFileExample, kWorkloadFileExample,
                               kAfterFileExample));
  if (asked_of == AskedOf::kRecords)
    command->footer(absl::StrCat(command->get_footer(), kBeforeStatistics, kStatisticsFileExample));
}

void CheckWorkload(const WorkloadChoice& workload) {
  const bool has_statistics = workload.statistics.asks();
  if (!workload.by.empty() && workload.where.empty() && workload.thresholds.empty() && !has_statistics)
    throw CLI::ValidationError("--by", "goes with --where, --thresholds or statistics, such as --mean");
  if (has_statistics && workload.where.size() > 1) {
    throw CLI::ValidationError(
        "--where",
        "is given once with statistics: they are of the records that fulfil it; join its "
        "conditions: 'age >= 18 and sex = Female'");
  }
  if (workload.statistics.quantiles_by != v1::STRATEGY_UNSPECIFIED && workload.statistics.medians.empty() &&
      workload.statistics.quantiles.empty() && workload.file.empty())
    throw CLI::ValidationError("--quantiles-by", "goes with --median or --quantiles");
  if (has_statistics && workload.strategy != v1::STRATEGY_UNSPECIFIED && !AsksCounts(workload) &&
      workload.file.empty())
    throw CLI::ValidationError("--strategy", "is of counts; how quantiles are measured: --quantiles-by");
  if (!workload.attributes.empty() && workload.asks() && workload.marginals == 0 && workload.parities == 0)
    throw CLI::ValidationError("--attributes", "goes with --marginals or --parities");
  if (workload.max_cells && workload.marginals == 0)
    throw CLI::ValidationError("--max-cells", "goes with --marginals");
  CheckWeights(workload);
}

absl::StatusOr<v1::Workload> WorkloadOf(const WorkloadChoice& choice, const v1::Schema& schema) {
  v1::Workload workload;
  if (!choice.file.empty()) {
    ASSIGN_OR_RETURN(workload, ReadWorkload(choice.file));
  }
  const int of_file = workload.query_sets_size();
  AddNamedSets(choice, workload);
  RETURN_IF_ERROR(AddThresholds(choice, schema, workload));
  if (choice.parities > 0) {
    AddKWay(choice.parities, choice.attributes,
            workload.add_query_sets()->mutable_parities()->mutable_up_to_k_way());
  }
  RETURN_IF_ERROR(AddPredicates(choice, schema, workload));
  RETURN_IF_ERROR(AddStatisticsTo(choice, schema, workload));
  for (v1::QuerySet& set : *workload.mutable_query_sets()) {
    if (set.strategy() != v1::STRATEGY_UNSPECIFIED) continue;
    if (!TakesStrategy(set, choice.strategy)) continue;
    set.set_strategy(set.has_statistics() ? choice.statistics.quantiles_by : choice.strategy);
  }
  SetWeights(choice.weights, of_file, workload);
  return workload;
}

void NameQuerySets(const WorkloadChoice& choice, const v1::Workload& workload, FieldOptions& fields) {
  const int of_file = workload.query_sets_size() - OptionSets(choice);
  for (int i = 0; i < of_file; ++i) {
    fields.AddFile(absl::StrCat("workload.query_sets[", i, "]"), Given("--file", choice.file),
                   absl::StrCat("query_sets[", i, "]"));
  }
  NameOptions(choice, of_file, fields);
}

v1::Spend SpendOf(const SpendChoice& choice) {
  v1::Spend spend;
  spend.set_epsilon(choice.epsilon);
  spend.set_delta(choice.delta);
  spend.set_rho(choice.rho);
  return spend;
}

void AddSpend(CLI::App* command, SpendChoice& spend, SpendNeed need) {
  CLI::Option_group* group =
      command->add_option_group("Budget", "The amount to spend; one of --epsilon and --rho");
  AddSpendTo(*group, command, spend);
  group->require_option(need == SpendNeed::kRequired ? 1 : 0, 1);
}

void AddPrice(CLI::App* command, PriceChoice& price) {
  CLI::Option_group* group =
      command->add_option_group("Budget", "The amount to spend, or the error to reach; one of these");
  AddSpendTo(*group, command, price.spend);
  AddErrorTo(*group, "--max-error", price.max_error, price.max_error_percent,
             "Spend the least such that no answer is wrong by more than this many records, or by this "
             "percentage of --assume-rows or --of-release, with the probability of --confidence");
  AddErrorTo(*group, "--rmse", price.rmse, price.rmse_percent,
             "Spend the least such that the root of the mean squared error is at most this many records, or "
             "this percentage: the mean over the answers of each query set, then over the sets by their "
             "weights");
  group->require_option(0, 1);
  command
      ->add_option(
          "--of-release", price.of_release,
          "A percentage in --max-error or --rmse is of the noisy number of records that this release "
          "measured: the sum of a marginal, a count, or a model's records")
      ->type_name("RELEASE");
}

void CheckPrice(const PriceChoice& price, const std::optional<int64_t>& assumed_rows) {
  const bool is_percentage = price.max_error_percent || price.rmse_percent;
  if (!is_percentage && !price.of_release.empty()) {
    throw CLI::ValidationError("--of-release",
                               "is what a percentage is of: give it with --max-error 5% or --rmse 5%");
  }
  if (!is_percentage || !price.of_release.empty() || assumed_rows) return;
  throw CLI::ValidationError(
      price.has_rmse() ? "--rmse" : "--max-error",
      "a percentage is of a number of records, and the table's own is private: give --assume-rows N, "
      "or --of-release ID of a release with a noisy one");
}

absl::StatusOr<PriceChoice> InRecords(Session& session, PriceChoice price,
                                      const std::optional<int64_t>& assumed_rows) {
  if (!price.max_error_percent && !price.rmse_percent) return price;
  double records = static_cast<double>(assumed_rows.value_or(0));
  std::string words = "assumed rows";
  if (!price.of_release.empty()) {
    v1::GetReleaseRequest request;
    request.set_release_id(price.of_release);
    ASSIGN_OR_RETURN(const ReleaseContent content, session.client.GetRelease(request));
    ASSIGN_OR_RETURN(const client::ReleaseTotal total, client::TotalOf(content));
    records = total.records;
    words = absl::StrCat("records, a noisy number: ", total.words, " of release ", price.of_release);
  }
  const bool is_rmse = price.has_rmse();
  const double percentage = is_rmse ? *price.rmse_percent : *price.max_error_percent;
  std::optional<double>& error = is_rmse ? price.rmse : price.max_error;
  error = records * percentage / 100;
  session.error << (is_rmse ? "--rmse " : "--max-error ") << RoundedText(percentage) << "% is "
                << RoundedText(*error) << " records, of " << RoundedText(records) << " " << Printable(words)
                << "\n";
  return price;
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
        const std::optional<double> level = NumberIn(text);
        return level && *level > 0 && *level < 1
                   ? std::string()
                   : "'" + text + "' is not a number between 0 and 1, such as 0.95";
      });
}

void AddAssumedRows(CLI::App* command, std::optional<int64_t>& rows, const std::string& summary) {
  command->add_option("--assume-rows", rows, summary)->type_name("N")->check(PositiveNumber);
}

}  // namespace curator::cli
