#include "client/cli/commands/statistics_choice.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "client/cli/commands/commands.h"

namespace curator::cli {
namespace {

constexpr size_t kMostDigits = 3;

// "0.25": a decimal between 0 and 1, without these two.
bool IsShare(const std::string& text) {
  const size_t zeros = text.starts_with("0.") ? 2 : text.starts_with('.') ? 1 : 0;
  if (zeros == 0) return false;
  const std::string digits = text.substr(zeros);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !digits.empty() && digits.size() <= kMostDigits && std::ranges::all_of(digits, is_digit) &&
         digits.find_first_not_of('0') != std::string::npos;
}

// "income 0.25,0.75": the last word has the shares, all before it is the name.
struct QuantilesText {
  std::string name;
  std::vector<std::string> shares;
};

QuantilesText SplitQuantiles(const std::string& text) {
  const size_t end = text.find_last_not_of(' ');
  const size_t space = end == std::string::npos ? end : text.find_last_of(' ', end);
  if (space == std::string::npos) return {text, {}};
  QuantilesText split{text.substr(0, space), SplitAtCommas(text.substr(space + 1, end - space))};
  split.name.erase(split.name.find_last_not_of(' ') + 1);
  split.name.erase(0, std::min(split.name.find_first_not_of(' '), split.name.size()));
  return split;
}

void AddColumns(CLI::Option_group& group, const std::string& option, std::vector<std::string>& names,
                const std::string& summary) {
  group
      .add_option_function<std::vector<std::string>>(
          option,
          [&names](const std::vector<std::string>& given) {
            for (const std::string& each : given)
              for (std::string& name : SplitAtCommas(each)) names.push_back(std::move(name));
          },
          summary + "; may be repeated")
      ->type_name("M[,N]")
      ->check(CheckNames)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

v1::Statistic Quantiles(const std::string& text) {
  const QuantilesText split = SplitQuantiles(text);
  v1::Statistic statistic;
  statistic.mutable_quantiles()->set_of(split.name);
  for (const std::string& share : split.shares)
    statistic.mutable_quantiles()->add_at(share.starts_with('.') ? "0" + share : share);
  return statistic;
}

template <typename Set>
void Append(const std::string& option, const std::vector<std::string>& names, const Set& set,
            std::vector<NamedStatistic>& all) {
  for (const std::string& name : names) {
    NamedStatistic& named = all.emplace_back();
    named.option = option;
    named.argument = name;
    set(name, named.statistic);
  }
}

}  // namespace

std::string CheckQuantiles(const std::string& text) {
  const QuantilesText split = SplitQuantiles(text);
  if (split.name.empty() || split.shares.empty())
    return "'" + text + "' is not a measure and its quantiles, such as 'income 0.25,0.75'";
  for (const std::string& share : split.shares) {
    if (!IsShare(share))
      return "'" + share + "' is not a decimal between 0 and 1 with at most three digits, such as 0.25";
  }
  return "";
}

void AddStatistics(CLI::App* command, CLI::Option_group& group, StatisticsChoice& choice) {
  group.add_flag("--count", choice.count, "The number of records, of each group of --by");
  AddColumns(group, "--count-of", choice.counts_of, "The number of values of a measure that are not missing");
  AddColumns(group, "--sum", choice.sums, "The sum of a measure, of its values clipped to its bounds");
  AddColumns(group, "--mean", choice.means, "The mean of a measure, of its values clipped to its bounds");
  AddColumns(group, "--variance", choice.variances, "The variance of a measure, likewise");
  AddColumns(group, "--median", choice.medians, "The median of a measure, likewise");
  group
      .add_option_function<std::vector<std::string>>(
          "--quantiles,--quantile",
          [&choice](const std::vector<std::string>& given) { choice.quantiles = given; },
          "Quantiles of a measure, a numeric or an integer attribute: 'income 0.25,0.75'; may be repeated")
      ->type_name("'M P[,Q]'")
      ->check(CheckQuantiles)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  group.add_flag("--distinct-units", choice.distinct_units,
                 "The number of persons or groups with a record, where one may have several");
  AddChoice<v1::Strategy>(*command, "--quantiles-by", "auto|tree|selection", choice.quantiles_by,
                          {{"auto", v1::STRATEGY_UNSPECIFIED},
                           {"tree", v1::STRATEGY_TREE},
                           {"selection", v1::STRATEGY_SELECTION}},
                          "How medians and quantiles are measured: from a tree of noisy counts, which all of "
                          "a measure share, or each selected from the values. Default: auto, the least "
                          "expected error");
}

std::vector<NamedStatistic> StatisticsOf(const StatisticsChoice& choice) {
  std::vector<NamedStatistic> all;
  if (choice.count) {
    all.push_back({{}, "--count", ""});
    all.back().statistic.mutable_count();
  }
  Append(
      "--count-of", choice.counts_of,
      [](const std::string& name, v1::Statistic& to) { to.mutable_count()->set_of(name); }, all);
  Append(
      "--sum", choice.sums, [](const std::string& name, v1::Statistic& to) { to.set_sum(name); }, all);
  Append(
      "--mean", choice.means, [](const std::string& name, v1::Statistic& to) { to.set_mean(name); }, all);
  Append(
      "--variance", choice.variances,
      [](const std::string& name, v1::Statistic& to) { to.set_variance(name); }, all);
  Append(
      "--median", choice.medians, [](const std::string& name, v1::Statistic& to) { to.set_median(name); },
      all);
  Append(
      "--quantiles", choice.quantiles,
      [](const std::string& text, v1::Statistic& to) { to = Quantiles(text); }, all);
  if (choice.distinct_units) {
    all.push_back({{}, "--distinct-units", ""});
    all.back().statistic.mutable_distinct_units();
  }
  return all;
}

}  // namespace curator::cli
