#include "client/cli/output/statistics_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

absl::Status NotOfGroups(const std::string& what) {
  return absl::DataLossError("the answer's statistics cannot be read: " + what);
}

// "-51204.5" as "-51,204.5". Numbers with an exponent are unchanged.
std::string WithThousands(const std::string& number) {
  const size_t begin = number.starts_with('-') ? 1 : 0;
  const size_t end = std::min(number.find('.'), number.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!std::all_of(number.begin() + static_cast<std::ptrdiff_t>(begin),
                   number.begin() + static_cast<std::ptrdiff_t>(end), is_digit))
    return number;
  std::string text = number;
  for (size_t at = end; at > begin + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string EndText(double end) {
  return std::isinf(end) ? "unbounded" : WithThousands(RoundedText(end));
}

// None for what is no number.
Value NumberOrNone(double number) {
  if (std::isnan(number)) return std::monostate();
  return number;
}

// A column of the table, of an attribute or of a statistic.
struct Source {
  std::string name;
  bool is_statistic = false;
  size_t position = 0;  // among the attributes or the statistics of a group
};

std::vector<Source> AllColumns(const StatisticGroups& groups) {
  std::vector<Source> columns;
  for (size_t i = 0; i < groups.attributes().size(); ++i)
    columns.push_back({groups.attributes()[i], false, i});
  for (size_t i = 0; i < groups.statistics().size(); ++i)
    columns.push_back({groups.statistics()[i], true, i});
  return columns;
}

// The answers have the statistics of the selection in its order, so that only their place among them counts.
absl::StatusOr<std::vector<Source>> ColumnsOf(const StatisticGroups& groups, const v1::Selection& selection) {
  if (selection.columns().empty()) return AllColumns(groups);
  std::vector<Source> columns;
  size_t next = 0;
  for (const v1::OutputColumn& column : selection.columns()) {
    if (column.source().has_statistic()) {
      columns.push_back({column.name(), true, next++});
      continue;
    }
    const auto& attributes = groups.attributes();
    const auto found = std::find(attributes.begin(), attributes.end(), column.source().attribute());
    if (found == attributes.end())
      return NotOfGroups("a selected attribute is not among those of the groups");
    columns.push_back({column.name(), false, static_cast<size_t>(found - attributes.begin())});
  }
  if (groups.size() > 0 && next > 0 && next != groups.statistics().size())
    return NotOfGroups("the statistics are not those that were selected");
  return columns;
}

// An answer with its interval, if it has one.
struct Estimate {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
};

Estimate EstimateAt(const QuerySetAnswer& set, size_t answer, bool has_intervals) {
  Estimate estimate;
  estimate.value = set.counts.empty() ? set.estimates[answer] : static_cast<double>(set.counts[answer]);
  if (!has_intervals) return estimate;
  estimate.low = set.interval_lows[answer];
  estimate.high = set.interval_highs[answer];
  return estimate;
}

void AppendCells(const Estimate& estimate, bool has_intervals, Row& row) {
  row.emplace_back(has_intervals ? StatisticText(estimate.value, *estimate.low, *estimate.high)
                                 : StatisticText(estimate.value));
  row.push_back(NumberOrNone(estimate.value));
  if (!has_intervals) return;
  row.push_back(NumberOrNone(*estimate.low));
  row.push_back(NumberOrNone(*estimate.high));
}

std::string TitleOf(const StatisticGroups& groups, const v1::AnswerHeader& header, bool has_intervals) {
  std::string title = "statistics";
  for (size_t i = 0; i < groups.attributes().size(); ++i)
    absl::StrAppend(&title, i == 0 ? " by " : ", ", groups.attributes()[i]);
  absl::StrAppend(&title, "  (", groups.size(), groups.size() == 1 ? " group" : " groups");
  if (has_intervals)
    absl::StrAppend(&title, ", ", RoundedText(header.confidence_level() * 100), "% intervals");
  if (!header.post_processing().empty()) absl::StrAppend(&title, ", made ", header.post_processing());
  return title + ")";
}

// Whether a statistic of this name is of the measure: "mean(income)", "quantile(income, 0.25)".
bool IsOf(const std::string& statistic, const std::string& measure) {
  const size_t open = statistic.find('(');
  if (open == std::string::npos) return false;
  const std::string_view inner = std::string_view(statistic).substr(open + 1);
  return inner.starts_with(measure) &&
         (inner.substr(measure.size()).starts_with(")") || inner.substr(measure.size()).starts_with(", "));
}

const std::string& ColumnAsked(const v1::Statistic& statistic) {
  static const std::string* const kNone = new std::string();
  switch (statistic.statistic_case()) {
    case v1::Statistic::kCount:
      return statistic.count().of();
    case v1::Statistic::kSum:
      return statistic.sum();
    case v1::Statistic::kMean:
      return statistic.mean();
    case v1::Statistic::kVariance:
      return statistic.variance();
    case v1::Statistic::kMedian:
      return statistic.median();
    case v1::Statistic::kQuantiles:
      return statistic.quantiles().of();
    default:
      return *kNone;
  }
}

}  // namespace

bool IsStatistics(const QuerySetAnswer& set) {
  return set.header.query_class() == "statistics";
}

absl::StatusOr<StatisticGroups> StatisticGroups::Of(const QuerySetAnswer& set) {
  const size_t columns = static_cast<size_t>(set.header.columns_size());
  if (columns == 0 || set.labels.size() != set.size() * columns)
    return NotOfGroups("it has no column of statistics");
  StatisticGroups groups(set);
  groups.attributes_.assign(set.header.columns().begin(), set.header.columns().end() - 1);
  const auto is_in_group = [&](size_t answer, size_t first) {
    const auto begin = set.labels.begin();
    const auto at = [&](size_t row) { return begin + static_cast<std::ptrdiff_t>(row * columns); };
    return std::equal(at(answer), at(answer) + static_cast<std::ptrdiff_t>(columns - 1), at(first));
  };
  for (size_t i = 0; i < set.size() && is_in_group(i, 0); ++i)
    groups.statistics_.push_back(set.labels[i * columns + columns - 1]);
  const size_t each = groups.statistics_.size();
  for (size_t i = each; i < set.size(); ++i) {
    if (!is_in_group(i, i - i % each) ||
        set.labels[i * columns + columns - 1] != groups.statistics_[i % each])
      return NotOfGroups("a group has other statistics than the first one");
  }
  if (each > 0 && set.size() % each != 0) return NotOfGroups("the last group is not complete");
  return groups;
}

const std::string& StatisticGroups::Label(size_t position, size_t group) const {
  return set_->labels[group * statistics_.size() * (attributes_.size() + 1) + position];
}

absl::StatusOr<Table> StatisticsTable(const QuerySetAnswer& set, const v1::AnswerHeader& header,
                                      const v1::Selection& selection, size_t most_rows) {
  ASSIGN_OR_RETURN(const StatisticGroups groups, StatisticGroups::Of(set));
  ASSIGN_OR_RETURN(const std::vector<Source> sources, ColumnsOf(groups, selection));
  const bool has_intervals = header.post_processing().empty() && !set.interval_lows.empty();
  Table table;
  table.key = "rows";
  table.title = TitleOf(groups, header, has_intervals);
  for (const Source& source : sources) {
    if (!source.is_statistic) {
      table.columns.push_back({source.name, source.name});
      continue;
    }
    table.columns.push_back({source.name, source.name, Align::kRight, ShownIn::kTables});
    table.columns.push_back({source.name, source.name, Align::kRight, ShownIn::kJsonAndCsv});
    if (!has_intervals) continue;
    for (const char* end : {" low", " high"})
      table.columns.push_back({source.name + end, source.name + end, Align::kRight, ShownIn::kJsonAndCsv});
  }
  table.rows.resize(groups.size());
  for (size_t group = 0; group < std::min(groups.size(), most_rows); ++group) {
    for (const Source& source : sources) {
      Row& row = table.rows[group];
      if (source.is_statistic) {
        AppendCells(EstimateAt(set, groups.Answer(source.position, group), has_intervals), has_intervals,
                    row);
      } else {
        row.emplace_back(groups.Label(source.position, group));
      }
    }
  }
  return table;
}

std::string StatisticText(double value) {
  return std::isnan(value) ? "none" : WithThousands(RoundedText(value));
}

std::string StatisticText(double value, double low, double high) {
  if (std::isinf(low) && std::isinf(high))
    return std::isnan(value) ? "none" : StatisticText(value) + " [unbounded]";
  return absl::StrCat(StatisticText(value), " [", EndText(low), ", ", EndText(high), "]");
}

std::vector<const v1::Measure*> MeasuresNamed(const QuerySetAnswer& set, const v1::Schema& schema) {
  const absl::StatusOr<StatisticGroups> groups = StatisticGroups::Of(set);
  std::vector<const v1::Measure*> measures;
  if (!groups.ok()) return measures;
  for (const v1::Measure& measure : schema.measures()) {
    const auto is_of = [&measure](const std::string& name) { return IsOf(name, measure.name()); };
    if (std::ranges::any_of(groups->statistics(), is_of)) measures.push_back(&measure);
  }
  return measures;
}

const v1::Measure* MeasureNamed(const std::string& statistic, const v1::Schema& schema) {
  for (const v1::Measure& measure : schema.measures()) {
    if (IsOf(statistic, measure.name())) return &measure;
  }
  return nullptr;
}

std::vector<const v1::Measure*> MeasuresAsked(const v1::Statistics& statistics, const v1::Schema& schema) {
  std::vector<const v1::Measure*> measures;
  for (const v1::Measure& measure : schema.measures()) {
    const auto is_of = [&measure](const v1::Statistic& each) { return ColumnAsked(each) == measure.name(); };
    if (std::any_of(statistics.statistics().begin(), statistics.statistics().end(), is_of))
      measures.push_back(&measure);
  }
  return measures;
}

std::string ClippedText(const v1::Measure& measure) {
  return absl::StrCat(measure.name(), " clipped to ", ExactText(measure.low()), "..",
                      ExactText(measure.high()));
}

std::vector<std::string> ClippedNotes(const std::vector<const v1::Measure*>& measures) {
  std::vector<std::string> notes;
  for (const v1::Measure* measure : measures)
    notes.push_back(absl::StrCat("these are the statistics of ", ClippedText(*measure)));
  return notes;
}

Table ClippedTable(const std::vector<const v1::Measure*>& measures) {
  Table table{"clipped",
              "",
              {{"measure", "measure"}, {"low", "low"}, {"high", "high"}, {"resolution", "resolution"}},
              {}};
  table.shown_in = ShownIn::kJsonAndCsv;
  for (const v1::Measure* measure : measures)
    table.rows.push_back({measure->name(), measure->low(), measure->high(), measure->resolution()});
  return table;
}

std::vector<std::string> StatisticsNotes(const QuerySetAnswer& set,
                                         const std::vector<const v1::Measure*>& measures) {
  std::vector<std::string> notes = ClippedNotes(measures);
  const auto is_nan = [](double number) { return std::isnan(number); };
  if (std::ranges::any_of(set.estimates, is_nan))
    notes.emplace_back("none: the noisy number of values in the group is too small for the statistic");
  bool is_unbounded = false;
  for (size_t i = 0; i < set.interval_lows.size(); ++i) {
    const bool goes_down = std::isinf(set.interval_lows[i]);
    const bool goes_up = std::isinf(set.interval_highs[i]);
    const bool is_none = !set.estimates.empty() && is_nan(set.estimates[i]);
    is_unbounded |= (goes_down || goes_up) && !(is_none && goes_down && goes_up);  // "none" has no interval
  }
  if (is_unbounded)
    notes.emplace_back(
        "unbounded: a mean or a variance of which the noisy number of values is not clear of 0, or a "
        "quantile that was selected from the values (an estimate has the error of its rank)");
  return notes;
}

}  // namespace curator::cli
