// The options for statistics, and their conversion to the message of one set.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <string>
#include <vector>

#include "curator/v1/workload.pb.h"

namespace CLI {
class App;
class Option_group;
}  // namespace CLI

namespace curator::cli {

// --count, --count-of, --sum, --mean, --variance, --median, --quantiles, --distinct-units: all of a command
// are one set, whose statistics share noisy numbers.
struct StatisticsChoice {
  bool count = false;  // of all records in the group
  std::vector<std::string> counts_of;
  std::vector<std::string> sums;
  std::vector<std::string> means;
  std::vector<std::string> variances;
  std::vector<std::string> medians;
  std::vector<std::string> quantiles;  // texts: "income 0.25,0.75"
  bool distinct_units = false;
  v1::Strategy quantiles_by = v1::STRATEGY_UNSPECIFIED;

  bool asks() const {
    return count || distinct_units || !counts_of.empty() || !sums.empty() || !means.empty() ||
           !variances.empty() || !medians.empty() || !quantiles.empty();
  }
};

// Adds the options to a group of questions, and --quantiles-by to its command.
void AddStatistics(CLI::App* command, CLI::Option_group& group, StatisticsChoice& choice);

// A statistic with the option that it comes from, as it was typed: "--mean income".
struct NamedStatistic {
  v1::Statistic statistic;
  std::string option;
  std::string argument;  // empty for --count and --distinct-units
};

// In the order of the members of the choice, each option's in the order of the command line. The texts have
// been checked: AddStatistics() accepts no others.
std::vector<NamedStatistic> StatisticsOf(const StatisticsChoice& choice);

// What is wrong with the text of --quantiles; empty for one that is "NAME P,Q", of decimals between 0 and 1
// with at most three digits after the point.
std::string CheckQuantiles(const std::string& text);

}  // namespace curator::cli
