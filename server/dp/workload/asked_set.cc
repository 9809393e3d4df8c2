#include "dp/workload/asked_set.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "dp/queries/marginals.h"

namespace curator::dp {

std::string_view QueryClassName(QueryClass query_class) {
  switch (query_class) {
    case QueryClass::kMarginals:
      return "marginals";
    case QueryClass::kRanges:
      return "ranges";
    case QueryClass::kPrefixes:
      return "prefixes";
    case QueryClass::kThresholds:
      return "thresholds";
    case QueryClass::kParities:
      return "parities";
    case QueryClass::kPredicates:
      return "predicates";
    case QueryClass::kStatistics:
      return "statistics";
  }
  return "unknown";
}

bool AreStatistics(std::span<const AskedSet> sets) {
  return !sets.empty() && sets.front().statistics.has_value();
}

std::vector<AskedStatistics> StatisticsOf(std::span<const AskedSet> sets) {
  std::vector<AskedStatistics> statistics;
  for (const AskedSet& set : sets) {
    if (set.statistics) statistics.push_back(*set.statistics);
  }
  return statistics;
}

std::vector<std::string> ColumnsOf(const Domain& domain, const AskedSet& asked) {
  std::vector<std::string> columns;
  AttributeSet attributes = asked.by;
  switch (asked.query_class) {
    case QueryClass::kThresholds:
      columns.emplace_back("at least");
      break;
    case QueryClass::kParities:
      columns.emplace_back("parity");
      break;
    case QueryClass::kPredicates:
      columns.emplace_back("where");
      break;
    case QueryClass::kStatistics:
      for (const uint32_t attribute : attributes) columns.push_back(domain.attributes()[attribute].name());
      columns.emplace_back("statistic");
      return columns;
    case QueryClass::kMarginals:
    case QueryClass::kRanges:
    case QueryClass::kPrefixes:
      attributes = asked.queries.groups.front().attributes;
      break;
  }
  for (const uint32_t attribute : attributes) columns.push_back(domain.attributes()[attribute].name());
  return columns;
}

std::vector<std::string> LabelsOfCell(const Domain& domain, const AttributeSet& by, int64_t cell) {
  std::vector<std::string> labels(by.size());
  for (size_t i = by.size(); i-- > 0;) {
    const Attribute& attribute = domain.attributes()[by[i]];
    labels[i] = attribute.Label(static_cast<uint32_t>(cell % attribute.size()));
    cell /= attribute.size();
  }
  return labels;
}

Labels::Labels(const Domain& domain, const AskedSet& asked)
    : domain_(domain), asked_(asked), by_cells_(domain.CellCount(asked.by).value_or(1)) {}

std::vector<std::string> Labels::Next() {
  const QueryGroup& group = asked_.queries.groups[group_];
  std::vector<std::string> labels;
  if (asked_.query_class == QueryClass::kRanges || asked_.query_class == QueryClass::kPrefixes) {
    const auto at = static_cast<size_t>(query_) * group.attributes.size();
    const std::vector<CodeInterval>& sides = std::get<Boxes>(group.queries).sides;
    for (size_t i = 0; i < group.attributes.size(); ++i) {
      labels.push_back(
          domain_.attributes()[group.attributes[i]].IntervalLabel(sides[at + i].first, sides[at + i].last));
    }
  } else {
    labels.push_back(asked_.query_class == QueryClass::kParities
                         ? NamesOf(domain_, group.attributes)
                         : asked_.words[static_cast<size_t>(question_)]);
    std::ranges::move(LabelsOfCell(domain_, asked_.by, by_cell_), std::back_inserter(labels));
  }
  if (++by_cell_ == by_cells_) {
    by_cell_ = 0;
    ++question_;
  }
  if (++query_ == NumberOfQueries(domain_, group)) {
    query_ = 0;
    ++group_;
  }
  return labels;
}

std::string Describe(const Domain& domain, const AskedSet& asked) {
  if (asked.statistics) return Describe(domain, *asked.statistics);
  int64_t answers = 0;
  for (const QueryGroup& group : asked.queries.groups) answers += NumberOfQueries(domain, group);
  if (asked.query_class == QueryClass::kMarginals) {
    const size_t marginals = asked.queries.groups.size();
    return absl::StrCat(marginals, marginals == 1 ? " marginal, " : " marginals, ", answers,
                        answers == 1 ? " cell" : " cells");
  }
  return absl::StrCat(answers, " ", std::string(QueryClassName(asked.query_class)));
}

}  // namespace curator::dp
