#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/number_column.h"
#include "dp/workload/statistics/fieller.h"
#include "dp/workload/statistics/quantile_reading.h"
#include "dp/workload/statistics/quantile_ways.h"
#include "dp/workload/statistics/set_draws.h"
#include "dp/workload/statistics/statistics_answers.h"

namespace curator::dp {
namespace {

// Forecasts for the statistics of one set.
class SetForecasts {
 public:
  SetForecasts(const Domain& domain, const UnitBound& unit, SetDraws draws,
               std::span<const BoughtDraw> bought, double level, int64_t steps)
      : domain_(domain),
        unit_(unit),
        draws_(std::move(draws)),
        bought_(bought),
        level_(level),
        steps_(steps) {}

  absl::StatusOr<StatisticForecast> Of(const Statistic& statistic) const {
    switch (statistic.kind) {
      case StatisticKind::kCount: {
        ASSIGN_OR_RETURN(const size_t count, draws_.Count(statistic.column));
        return OfDraw(count, 1, ErrorUnit::kRecords, "the number of records, with noise");
      }
      case StatisticKind::kDistinctUnits: {
        ASSIGN_OR_RETURN(const size_t units, draws_.Units());
        return OfDraw(units, 1, ErrorUnit::kRecords, "the number of persons or groups, with noise");
      }
      case StatisticKind::kSum:
        return OfSum(*statistic.column);
      case StatisticKind::kMean:
        return OfMean(statistic);
      case StatisticKind::kVariance:
        return OfVariance(statistic);
      case StatisticKind::kQuantile:
        break;
    }
    return OfQuantile(statistic);
  }

 private:
  absl::StatusOr<StatisticForecast> OfDraw(size_t draw, double unit, ErrorUnit error_unit,
                                           std::string words) const {
    ASSIGN_OR_RETURN(const int64_t width, ConfidenceHalfWidth(draws_.noise(draw), level_));
    return StatisticForecast{.statistic = {},
                             .words = std::move(words),
                             .standard_deviation = draws_.Deviation(draw) * unit,
                             .half_width = static_cast<double>(width) * unit,
                             .unit = error_unit};
  }

  StatisticForecast OfTerms(const NoiseSums& noise, std::span<const double> terms, double unit,
                            ErrorUnit error_unit, std::string words) const {
    double variance = 0;
    for (const double term : terms) variance += term * term;
    return {.statistic = {},
            .words = std::move(words),
            .standard_deviation = std::sqrt(variance) * unit,
            .half_width = noise.HalfWidth(terms) * unit,
            .unit = error_unit};
  }

  absl::StatusOr<StatisticForecast> OfSum(uint32_t column) const {
    ASSIGN_OR_RETURN(const SumParts parts, draws_.Sum(column));
    const double unit = NumberColumnAt(domain_, column)->resolution;
    if (parts.centre == 0)
      return OfDraw(parts.sum, unit, ErrorUnit::kValue, "the sum of the values, with noise");
    const std::array<double, 2> terms = {
        draws_.DeviationOfLaw(parts.sum),
        std::abs(static_cast<double>(parts.centre)) * draws_.DeviationOfLaw(*parts.count)};
    return OfTerms(
        NoiseSums(draws_.noise(parts.sum).mechanism, level_), terms, unit, ErrorUnit::kValue,
        "the sum of the values less the middle of their bounds, and their number, each with noise");
  }

  // Of a mean at the bound that is further from the centre.
  absl::StatusOr<StatisticForecast> OfMean(const Statistic& statistic) const {
    ASSIGN_OR_RETURN(const SumParts parts, draws_.Sum(*statistic.column));
    ASSIGN_OR_RETURN(const NoisyMoments moments, draws_.MomentsOf(statistic));
    const double farthest = std::max(std::abs(moments.least), std::abs(moments.most));
    const std::array<double, 2> terms = {moments.sum_deviation, farthest * moments.count_deviation};
    return OfTerms(
        NoiseSums(draws_.noise(parts.sum).mechanism, level_), terms,
        NumberColumnAt(domain_, *statistic.column)->resolution, ErrorUnit::kValueTimesRecords,
        "the sum of the values less the middle of their bounds over their number, each with noise; "
        "at most, for a mean at a bound");
  }

  // The largest of means and variances in the corners of what is possible.
  absl::StatusOr<StatisticForecast> OfVariance(const Statistic& statistic) const {
    ASSIGN_OR_RETURN(const SumParts parts, draws_.Sum(*statistic.column));
    ASSIGN_OR_RETURN(const NoisyMoments moments, draws_.MomentsOf(statistic));
    const NoiseSums noise(draws_.noise(parts.sum).mechanism, level_);
    const double resolution = NumberColumnAt(domain_, *statistic.column)->resolution;
    const double farthest = std::max(std::abs(moments.least), std::abs(moments.most));
    StatisticForecast worst;
    for (const double mean : {0.0, farthest}) {
      for (const double variance : {0.0, farthest * farthest - mean * mean}) {
        const std::array<double, 3> terms = {
            moments.squares_deviation, 2 * mean * moments.sum_deviation,
            std::abs(moments.centre_of_squares + mean * mean - variance) * moments.count_deviation};
        StatisticForecast forecast = OfTerms(
            noise, terms, resolution * resolution, ErrorUnit::kSquaredValueTimesRecords,
            "the sums of the values and of their squares, and their number, each with noise; at most");
        if (forecast.half_width > worst.half_width) worst = std::move(forecast);
      }
    }
    return worst;
  }

  absl::StatusOr<StatisticForecast> OfQuantile(const Statistic& statistic) const {
    const int64_t codes = CodesOf(domain_, *statistic.column);
    StatisticForecast forecast;
    forecast.unit = ErrorUnit::kRank;
    if (const std::optional<size_t> selection = draws_.Selection(*statistic.column, statistic.thousandths)) {
      const Epsilon epsilon = bought_[*selection].epsilon;
      forecast.words = "selected among the values by the exponential mechanism";
      forecast.standard_deviation = SelectedRankDeviation(unit_, statistic.thousandths, epsilon);
      forecast.half_width = SelectedRankBound(unit_, statistic.thousandths, codes, epsilon, level_);
      return forecast;
    }
    ASSIGN_OR_RETURN(const TreeParts parts, draws_.Tree(*statistic.column));
    forecast.words = "read from the numbers of records in the blocks of a tree, each with noise";
    const NoiseSpec& noise = draws_.noise(parts.levels.front());
    QuantileReader reader(parts.tree, noise, statistic.thousandths, level_, steps_);
    constexpr int64_t kPlaces = 65;
    const int64_t places = std::min(kPlaces, codes);
    for (int64_t place = 0; place < places; ++place) {
      const int64_t code = (2 * place + 1) * codes / (2 * places);
      const double share = static_cast<double>(statistic.thousandths) / 1000;
      const double squares =
          parts.tree.WeightSumsOf({.first = 0, .last = static_cast<uint32_t>(code)}, -share).squares;
      const double deviation = draws_.Deviation(parts.levels.front()) * std::sqrt(squares);
      forecast.standard_deviation = std::max(forecast.standard_deviation, deviation);
      forecast.half_width = std::max(forecast.half_width, reader.HalfWidth(code));
    }
    return forecast;
  }

  const Domain& domain_;
  const UnitBound& unit_;
  const SetDraws draws_;
  const std::span<const BoughtDraw> bought_;
  const double level_;
  const int64_t steps_;  // of the half widths of each quantile
};

}  // namespace

absl::StatusOr<std::vector<StatisticForecast>> ForecastsOf(const Domain& domain, const UnitBound& unit,
                                                           std::span<const AskedStatistics> sets, size_t set,
                                                           std::span<const StatisticsDraw> draws,
                                                           std::span<const BoughtDraw> bought, double level) {
  if (!(level > 0 && level < 1))
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  ASSIGN_OR_RETURN(SetDraws found, SetDraws::Create(domain, sets, set, draws, bought));
  const int64_t steps = QuantileReader::kMostSteps / std::max<int64_t>(1, NumberOfQuantiles(sets));
  const SetForecasts forecasts(domain, unit, std::move(found), bought, level, steps);
  std::vector<StatisticForecast> all;
  for (const Statistic& statistic : sets[set].statistics) {
    ASSIGN_OR_RETURN(StatisticForecast forecast, forecasts.Of(statistic));
    forecast.statistic = NameOf(domain, statistic);
    forecast.groups = NumberOfGroups(domain, sets[set]);
    all.push_back(std::move(forecast));
  }
  return all;
}

}  // namespace curator::dp
