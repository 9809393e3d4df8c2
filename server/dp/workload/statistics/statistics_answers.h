// Statistics from what was measured for them, with the intervals that hold the true statistic of the clipped
// values at a stated level; and forecasts of their errors.
//
// Functions of public facts and of noisy numbers. Thread-safe: pure functions; the same input gives the same
// doubles.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/statistics/asked_statistics.h"
#include "dp/workload/statistics/statistics_plan.h"

namespace curator::dp {

// What was drawn for the sets of statistics of a release. `values` has those of each draw: sums in the order
// of grouped_sums.h, the selected codes, or the counts of units.
struct StatisticsRelease {
  std::vector<StatisticsDraw> draws;
  std::vector<BoughtDraw> bought;
  std::vector<std::vector<int64_t>> values;
  bool operator==(const StatisticsRelease&) const = default;
};

// NaN for an answer that is no number: a mean of a group whose noisy count is not positive. Where nothing is
// known the interval is from minus to plus infinity.
struct StatisticAnswer {
  double value = 0;
  double standard_deviation = 0;
  double low = 0;
  double high = 0;
};

// The answers of the set at position `set` of `sets`, group by group, within a group in the order of its
// statistics.
//
// Counts and sums have the interval of their noise. A mean has Fieller's: the numbers m for which the noisy
// sum minus m times the noisy count is within the noise of both; infinite where the count is not clear of 0.
// A variance has the same form, with the mean's square at its estimate (fieller.h has both). Quantiles from
// a tree: the codes that the noisy ranks do not exclude (quantile_reading.h), from the lower end of the
// first one's bin to the upper end of the last one's; the value is the middle of its bin, and the deviation
// that of a normal law with this interval. Selected ones have no interval of values and an infinite
// deviation but, in the forecast, a bound of ranks. Means, variances and quantiles lie within the bounds of
// their column, and so do finite intervals. Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < level <
// 1; CANCELLED once `stop` is requested; DATA_LOSS for a release that lacks draws of the set or has other
// numbers of values than NumberOfValues().
absl::StatusOr<std::vector<StatisticAnswer>> AnswersOf(const Domain& domain,
                                                       std::span<const AskedStatistics> sets, size_t set,
                                                       const StatisticsRelease& release, double level,
                                                       const std::stop_token& stop = {});

// DATA_LOSS unless all sets, and the draws of each, are of this domain: then their answers can be counted.
absl::Status CheckOfDomain(const Domain& domain, std::span<const AskedStatistics> sets,
                           const StatisticsRelease& release);

// What one statistic will be off by.
enum class ErrorUnit { kRecords, kValue, kValueTimesRecords, kSquaredValueTimesRecords, kRank };
struct StatisticForecast {
  std::string statistic;  // NameOf()
  std::string words;      // how it is measured
  double standard_deviation = 0;
  double half_width = 0;  // at the level; of kRank: the bound of the rank's error
  ErrorUnit unit = ErrorUnit::kRecords;
  int64_t groups = 1;
};
absl::StatusOr<std::vector<StatisticForecast>> ForecastsOf(const Domain& domain, const UnitBound& unit,
                                                           std::span<const AskedStatistics> sets, size_t set,
                                                           std::span<const StatisticsDraw> draws,
                                                           std::span<const BoughtDraw> bought, double level);

}  // namespace curator::dp
