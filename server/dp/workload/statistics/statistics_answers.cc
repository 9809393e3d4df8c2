#include "dp/workload/statistics/statistics_answers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/domain/number_column.h"
#include "dp/workload/statistics/fieller.h"
#include "dp/workload/statistics/quantile_reading.h"
#include "dp/workload/statistics/set_draws.h"

namespace curator::dp {
namespace {

constexpr int64_t kGroupsBetweenLooks = 1024;  // at the stop token

absl::Status CheckLevel(double level) {
  if (level > 0 && level < 1) return absl::OkStatus();
  return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
}

double HalfOf(double low, double high) {
  return low + (high - low) / 2;
}

// The answers of one set.
class SetReader {
 public:
  SetReader(const Domain& domain, const AskedStatistics& asked, SetDraws draws,
            const StatisticsRelease& release, double level, int64_t steps, const std::stop_token& stop)
      : domain_(domain),
        asked_(asked),
        draws_(std::move(draws)),
        release_(release),
        level_(level),
        steps_(steps),
        stop_(stop),
        groups_(NumberOfGroups(domain, asked)),
        answers_(static_cast<size_t>(NumberOfAnswers(domain, asked))) {}

  absl::StatusOr<std::vector<StatisticAnswer>> Read() && {
    for (size_t i = 0; i < asked_.statistics.size(); ++i) {
      const Statistic& statistic = asked_.statistics[i];
      switch (statistic.kind) {
        case StatisticKind::kCount: {
          ASSIGN_OR_RETURN(const size_t count, draws_.Count(statistic.column));
          RETURN_IF_ERROR(ReadPlain(i, count, 1));
          break;
        }
        case StatisticKind::kDistinctUnits: {
          ASSIGN_OR_RETURN(const size_t units, draws_.Units());
          RETURN_IF_ERROR(ReadPlain(i, units, 1));
          break;
        }
        case StatisticKind::kSum:
          RETURN_IF_ERROR(ReadSum(i));
          break;
        case StatisticKind::kMean:
        case StatisticKind::kVariance:
          RETURN_IF_ERROR(ReadMoments(i));
          break;
        case StatisticKind::kQuantile:
          RETURN_IF_ERROR(ReadQuantile(i));
          break;
      }
    }
    return std::move(answers_);
  }

 private:
  StatisticAnswer& Answer(int64_t group, size_t statistic) {
    return answers_[static_cast<size_t>(group) * asked_.statistics.size() + statistic];
  }
  double Value(size_t draw, int64_t group) const {
    return static_cast<double>(release_.values[draw][static_cast<size_t>(group)]);
  }

  template <typename Visit>
  absl::Status ForEachGroup(const Visit& visit) {
    for (int64_t group = 0; group < groups_; ++group) {
      if (group % kGroupsBetweenLooks == 0) RETURN_IF_ERROR(CheckGoesOn(stop_));
      visit(group);
    }
    return absl::OkStatus();
  }

  // The numbers of one draw, times `unit`.
  absl::Status ReadPlain(size_t statistic, size_t draw, double unit) {
    ASSIGN_OR_RETURN(const int64_t width, ConfidenceHalfWidth(draws_.noise(draw), level_));
    return ReadAround(statistic, draws_.Deviation(draw) * unit, static_cast<double>(width) * unit,
                      [&](int64_t group) { return Value(draw, group) * unit; });
  }

  template <typename Estimate>
  absl::Status ReadAround(size_t statistic, double deviation, double width, const Estimate& estimate) {
    return ForEachGroup([&](int64_t group) {
      const double value = estimate(group);
      Answer(group, statistic) = {
          .value = value, .standard_deviation = deviation, .low = value - width, .high = value + width};
    });
  }

  absl::Status ReadSum(size_t statistic) {
    const uint32_t column = *asked_.statistics[statistic].column;
    ASSIGN_OR_RETURN(const SumParts parts, draws_.Sum(column));
    const double unit = NumberColumnAt(domain_, column)->resolution;
    if (parts.centre == 0) return ReadPlain(statistic, parts.sum, unit);
    constexpr double kHalfStep = 0.5;
    const auto centre = static_cast<double>(parts.centre);
    const std::array<double, 2> terms = {draws_.DeviationOfLaw(parts.sum),
                                         std::abs(centre) * draws_.DeviationOfLaw(*parts.count)};
    const NoiseSums noise(draws_.noise(parts.sum).mechanism, level_);
    return ReadAround(statistic, std::hypot(terms[0], terms[1]) * unit,
                      (noise.HalfWidth(terms) + kHalfStep) * unit, [&](int64_t group) {
                        return (Value(parts.sum, group) + centre * Value(*parts.count, group)) * unit;
                      });
  }

  absl::Status ReadMoments(size_t statistic) {
    const Statistic& asked = asked_.statistics[statistic];
    const bool is_variance = asked.kind == StatisticKind::kVariance;
    ASSIGN_OR_RETURN(const SumParts parts, draws_.Sum(*asked.column));
    ASSIGN_OR_RETURN(NoisyMoments moments, draws_.MomentsOf(asked));
    size_t squares = 0;
    if (is_variance) {
      ASSIGN_OR_RETURN(squares, draws_.Squares(*asked.column, parts.centre));
    }
    const double resolution = NumberColumnAt(domain_, *asked.column)->resolution;
    const double unit = is_variance ? resolution * resolution : resolution;
    const double offset = is_variance ? 0 : static_cast<double>(parts.centre);
    const NoiseSums noise(draws_.noise(parts.sum).mechanism, level_);
    return ForEachGroup([&](int64_t group) {
      moments.sum = Value(parts.sum, group);
      moments.count = Value(*parts.count, group);
      if (is_variance) {
        moments.squares =
            Value(squares, group) * moments.step_of_squares + moments.centre_of_squares * moments.count;
      }
      const EstimateWithEnds found = is_variance ? VarianceOf(noise, moments) : MeanOf(noise, moments);
      Answer(group, statistic) = {.value = (found.value + offset) * unit,
                                  .standard_deviation = found.standard_deviation * unit,
                                  .low = (found.low + offset) * unit,
                                  .high = (found.high + offset) * unit};
    });
  }

  absl::Status ReadQuantile(size_t statistic) {
    const Statistic& asked = asked_.statistics[statistic];
    const uint32_t column = *asked.column;
    if (const std::optional<size_t> selection = draws_.Selection(column, asked.thousandths))
      return ReadSelected(statistic, *selection);
    if (!trees_.insert(column).second) return absl::OkStatus();
    ASSIGN_OR_RETURN(const TreeParts parts, draws_.Tree(column));
    std::vector<std::pair<size_t, QuantileReader>> readers;
    for (size_t i = statistic; i < asked_.statistics.size(); ++i) {
      const Statistic& other = asked_.statistics[i];
      if (other.kind != StatisticKind::kQuantile || other.column != column) continue;
      readers.emplace_back(i, QuantileReader(parts.tree, draws_.noise(parts.levels.front()),
                                             other.thousandths, level_, steps_));
    }
    for (int64_t group = 0; group < groups_; ++group) {
      const std::vector<double> ranks = RanksOf(parts.tree, ValuesOf(parts, group));
      for (auto& [position, reader] : readers) {
        RETURN_IF_ERROR(CheckGoesOn(stop_));  // half widths of many codes may take a while
        Answer(group, position) = Between(column, reader.Read(ranks));
      }
    }
    return absl::OkStatus();
  }

  // Of a group, level by level.
  std::vector<int64_t> ValuesOf(const TreeParts& parts, int64_t group) const {
    std::vector<int64_t> values;
    values.reserve(static_cast<size_t>(parts.tree.nodes()));
    for (const size_t level : parts.levels) {
      const std::vector<int64_t>& all = release_.values[level];
      const auto blocks = static_cast<int64_t>(all.size()) / groups_;
      const auto first = all.begin() + group * blocks;
      values.insert(values.end(), first, first + blocks);
    }
    return values;
  }

  // The deviation is what a normal law of this interval has.
  StatisticAnswer Between(uint32_t column, const QuantileCodes& codes) const {
    StatisticAnswer answer{.value = std::numeric_limits<double>::quiet_NaN(),
                           .standard_deviation = std::numeric_limits<double>::infinity(),
                           .low = NumbersOfCode(domain_, column, codes.low).low,
                           .high = NumbersOfCode(domain_, column, codes.high).high};
    if (!codes.code) return answer;
    answer.value = NumbersOfCode(domain_, column, *codes.code).middle;
    const std::array<double, 1> one = {1};
    const double deviations = NoiseSums(Mechanism::kDiscreteGaussian, level_).HalfWidth(one);
    answer.standard_deviation = (HalfOf(answer.low, answer.high) - answer.low) / deviations;
    return answer;
  }

  absl::Status ReadSelected(size_t statistic, size_t draw) {
    constexpr double kUnbounded = std::numeric_limits<double>::infinity();
    const uint32_t column = *asked_.statistics[statistic].column;
    const int64_t codes = CodesOf(domain_, column);
    const auto is_code = [&](int64_t code) { return code >= 0 && code < codes; };
    if (!std::ranges::all_of(release_.values[draw], is_code)) return LacksDraws();
    return ForEachGroup([&](int64_t group) {
      const int64_t code = release_.values[draw][static_cast<size_t>(group)];
      Answer(group, statistic) = {.value = NumbersOfCode(domain_, column, code).middle,
                                  .standard_deviation = kUnbounded,
                                  .low = -kUnbounded,
                                  .high = kUnbounded};
    });
  }

  const Domain& domain_;
  const AskedStatistics& asked_;
  const SetDraws draws_;
  const StatisticsRelease& release_;
  const double level_;
  const int64_t steps_;  // of the half widths of each quantile
  const std::stop_token& stop_;
  const int64_t groups_;
  std::set<uint32_t> trees_;  // columns whose quantiles were read
  std::vector<StatisticAnswer> answers_;
};

}  // namespace

absl::StatusOr<std::vector<StatisticAnswer>> AnswersOf(const Domain& domain,
                                                       std::span<const AskedStatistics> sets, size_t set,
                                                       const StatisticsRelease& release, double level,
                                                       const std::stop_token& stop) {
  RETURN_IF_ERROR(CheckLevel(level));
  ASSIGN_OR_RETURN(SetDraws draws, SetDraws::Create(domain, sets, set, release.draws, release.bought));
  if (release.values.size() != release.draws.size()) return LacksDraws();
  for (size_t i = 0; i < release.draws.size(); ++i) {
    if (release.draws[i].set != set) continue;
    const auto found = static_cast<int64_t>(release.values[i].size());
    if (found != NumberOfValues(domain, sets, release.draws[i])) return LacksDraws();
  }
  const int64_t steps = QuantileReader::kMostSteps / std::max<int64_t>(1, NumberOfQuantiles(sets));
  return SetReader(domain, sets[set], std::move(draws), release, level, steps, stop).Read();
}

absl::Status CheckOfDomain(const Domain& domain, std::span<const AskedStatistics> sets,
                           const StatisticsRelease& release) {
  for (size_t set = 0; set < sets.size(); ++set)
    RETURN_IF_ERROR(SetDraws::Create(domain, sets, set, release.draws, release.bought).status());
  return absl::OkStatus();
}

}  // namespace curator::dp
