// Statistics of groups of records, as they are asked.
//
// Plain values of public facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/grouped_sums.h"

namespace curator::dp {

enum class StatisticKind {
  kCount,          // of records; with a column, of those with a number
  kSum,            // of a column's numbers
  kMean,           // their sum over their count
  kVariance,       // their variance: the sum of squared deviations over their count minus one
  kQuantile,       // of a column's numbers or bins
  kDistinctUnits,  // of persons or groups with a record
};

struct Statistic {
  StatisticKind kind = StatisticKind::kCount;
  // Of the table. A number column (number_column.h); of quantiles also a numeric or an integer attribute.
  std::optional<uint32_t> column = std::nullopt;
  int32_t thousandths = 500;  // of a quantile: 1..999
  bool operator==(const Statistic&) const = default;
};

enum class QuantileWay { kAuto, kTree, kSelection };

// A set of statistics of the same groups: a group for each cell of `by`, of the records that fulfil `where`.
struct AskedStatistics {
  std::vector<Statistic> statistics;
  AttributeSet by;
  AttributeSet where;           // the attributes of the condition; empty: every record
  std::vector<uint32_t> cells;  // of the marginal over `where` that fulfil it, rising
  std::string condition;        // in words
  QuantileWay quantiles = QuantileWay::kAuto;
  bool operator==(const AskedStatistics&) const = default;
};

// "mean(income)", "count", "quantile(income, 0.25)", "distinct units".
std::string NameOf(const Domain& domain, const Statistic& statistic);

// How many quantiles all sets ask for.
int64_t NumberOfQuantiles(std::span<const AskedStatistics> sets);

// How many groups, and answers: the groups times the statistics.
int64_t NumberOfGroups(const Domain& domain, const AskedStatistics& asked);
int64_t NumberOfAnswers(const Domain& domain, const AskedStatistics& asked);

// "mean(income), count by region (5 groups) where age >= 18": a public summary for listings.
std::string Describe(const Domain& domain, const AskedStatistics& asked);

// Limits of one request.
inline constexpr size_t kMostStatistics = 64;                       // of all sets
inline constexpr int64_t kMostStatisticAnswers = int64_t{1} << 21;  // likewise
inline constexpr int64_t kMostSelectedCodes = int64_t{1} << 24;     // codes times groups times selections

// INVALID_ARGUMENT with a field within the set ("statistics[2].quantiles.of", "by") unless it has
// statistics, of columns that they can be of, each once, and its groups are within the limits of GroupsBy();
// distinct units of a dataset whose unit is a record are refused, with the count that answers it.
absl::Status Validate(const Schema& schema, const AskedStatistics& asked);

}  // namespace curator::dp
