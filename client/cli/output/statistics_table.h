// Answers of statistics as a table with one row for each group.
//
// Thread-safe: pure functions, and immutable views that point into the answer, which must outlive them.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/answer.h"
#include "client/cli/output/document.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/schema.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

// Whether the set has answers of statistics.
bool IsStatistics(const QuerySetAnswer& set);

// The groups of a set of statistics, and the statistics that each of them has.
class StatisticGroups {
 public:
  // DATA_LOSS unless the answers come group by group, each with the same statistics in the same order.
  static absl::StatusOr<StatisticGroups> Of(const QuerySetAnswer& set);

  // How many groups there are.
  size_t size() const { return statistics_.empty() ? 0 : set_->size() / statistics_.size(); }
  // The grouping attributes; none where there is one group of all records.
  const std::vector<std::string>& attributes() const { return attributes_; }
  // "mean(income)", or as a selection names it.
  const std::vector<std::string>& statistics() const { return statistics_; }
  // The value of attribute `position` of a group.
  const std::string& Label(size_t position, size_t group) const;
  // The number of the answer in the set.
  size_t Answer(size_t statistic, size_t group) const { return group * statistics_.size() + statistic; }

 private:
  explicit StatisticGroups(const QuerySetAnswer& set) : set_(&set) {}

  const QuerySetAnswer* set_;
  std::vector<std::string> attributes_;
  std::vector<std::string> statistics_;
};

inline constexpr size_t kAllRows = std::numeric_limits<size_t>::max();

// A row for each group: the columns of `selection` under its names, in its order; without any, the grouping
// attributes and all statistics. In tables a statistic is one column, its value with its interval (see
// StatisticText()); in JSON and CSV it is three, "NAME", "NAME low" and "NAME high", in which a value that is
// no number is absent, and infinite ends are "inf" in CSV and null in JSON. Rows after the first `most_rows`
// are empty: only their number matters. Post-processed answers have no intervals.
// Errors: DATA_LOSS for answers that are not those of groups, or that do not have the selection's columns.
absl::StatusOr<Table> StatisticsTable(const QuerySetAnswer& set, const v1::AnswerHeader& header,
                                      const v1::Selection& selection = {}, size_t most_rows = kAllRows);

// "51,204 [50,871, 51,537]"; "none" for what is no number; "7.5 [2, unbounded]"; "12 [unbounded]" where both
// ends are infinite. The bounds of all intervals are rounded as the value is.
std::string StatisticText(double value, double low, double high);
// "51,204", or "none".
std::string StatisticText(double value);

// The measures that the statistics of a set are of, as their names say, or as a request asks them.
std::vector<const v1::Measure*> MeasuresNamed(const QuerySetAnswer& set, const v1::Schema& schema);
std::vector<const v1::Measure*> MeasuresAsked(const v1::Statistics& statistics, const v1::Schema& schema);

// The measure that a statistic of this name ("mean(income)") is of; null for one of records or of an
// attribute.
const v1::Measure* MeasureNamed(const std::string& statistic, const v1::Schema& schema);

// "income clipped to 0..200000".
std::string ClippedText(const v1::Measure& measure);

// "these are the statistics of income clipped to 0..200000", for each.
std::vector<std::string> ClippedNotes(const std::vector<const v1::Measure*>& measures);

// The same as a table of JSON, "clipped".
Table ClippedTable(const std::vector<const v1::Measure*>& measures);

// What has to be said beneath the table: which values were clipped, and why an answer is "none" or an
// interval is unbounded.
std::vector<std::string> StatisticsNotes(const QuerySetAnswer& set,
                                         const std::vector<const v1::Measure*>& measures);

}  // namespace curator::cli
