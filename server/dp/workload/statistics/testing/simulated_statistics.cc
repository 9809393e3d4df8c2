#include "dp/workload/statistics/testing/simulated_statistics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/number_column.h"
#include "dp/noise/testing/drawn_noise.h"
#include "dp/queries/grouped_sums.h"
#include "dp/workload/statistics/quantile_reading.h"

namespace curator::dp {
namespace {

// The group of each record; kInNoGroup for those that do not fulfil the condition.
std::vector<int32_t> GroupOfEach(const Domain& domain, const AskedStatistics& asked,
                                 const SimulatedRecords& records) {
  const RecordGroups groups = GroupsBy(domain, asked.by, asked.where, asked.cells).value();
  const std::vector<int64_t> sizes = domain.SizesOf(groups.attributes);
  std::vector<int32_t> group_of_each;
  for (const SimulatedRecord& record : records) {
    int64_t cell = 0;
    for (size_t i = 0; i < sizes.size(); ++i) cell = cell * sizes[i] + record.codes[groups.attributes[i]];
    group_of_each.push_back(groups.group_of_cell[static_cast<size_t>(cell)]);
  }
  return group_of_each;
}

std::vector<int64_t> Sums(const Domain& domain, const SumDraw& draw, int64_t groups,
                          const std::vector<int32_t>& group_of_each, const SimulatedRecords& records) {
  const int64_t blocks = draw.blocks ? NumberOfBlocks(domain, *draw.blocks) : 1;
  const std::optional<NumberColumn> column =
      draw.value.column ? NumberColumnAt(domain, *draw.value.column) : std::nullopt;
  std::vector<int64_t> sums(static_cast<size_t>(groups * blocks));
  for (size_t i = 0; i < records.size(); ++i) {
    if (group_of_each[i] == kInNoGroup) continue;
    int64_t added = 1;
    if (column) {
      const int64_t code = records[i].codes[column->column];
      if (code > column->steps) continue;
      added = AddedBy(draw.value, *column, code);
    }
    int64_t block = 0;
    if (draw.blocks) {
      const int64_t code = records[i].codes[draw.blocks->column];
      if (code >= CodesOf(domain, draw.blocks->column)) continue;
      block = code / draw.blocks->width;
    }
    sums[static_cast<size_t>(group_of_each[i] * blocks + block)] += added;
  }
  return sums;
}

std::vector<int64_t> Units(int64_t groups, const std::vector<int32_t>& group_of_each,
                           const SimulatedRecords& records) {
  std::vector<std::set<int64_t>> units(static_cast<size_t>(groups));
  for (size_t i = 0; i < records.size(); ++i) {
    if (group_of_each[i] != kInNoGroup) units[static_cast<size_t>(group_of_each[i])].insert(records[i].unit);
  }
  std::vector<int64_t> counts;
  for (const std::set<int64_t>& each : units) counts.push_back(static_cast<int64_t>(each.size()));
  return counts;
}

// The codes of each group that stand for numbers, sorted.
std::vector<std::vector<int64_t>> CodesByGroup(const Domain& domain, uint32_t column, int64_t groups,
                                               const std::vector<int32_t>& group_of_each,
                                               const SimulatedRecords& records) {
  std::vector<std::vector<int64_t>> codes(static_cast<size_t>(groups));
  for (size_t i = 0; i < records.size(); ++i) {
    const int64_t code = records[i].codes[column];
    if (group_of_each[i] != kInNoGroup && code < CodesOf(domain, column))
      codes[static_cast<size_t>(group_of_each[i])].push_back(code);
  }
  for (std::vector<int64_t>& each : codes) std::ranges::sort(each);
  return codes;
}

// The first code up to which there are at least this share of the codes.
std::optional<int64_t> QuantileOf(const std::vector<int64_t>& sorted, int32_t thousandths) {
  if (sorted.empty()) return std::nullopt;
  const auto count = static_cast<int64_t>(sorted.size());
  return sorted[static_cast<size_t>((count * thousandths + 999) / 1000 - 1)];
}

TrueAnswer Once(double value) {
  return {.low = value, .high = value};
}

TrueAnswer OfNumbers(const Domain& domain, const Statistic& statistic, const std::vector<int64_t>& codes) {
  const TrueAnswer none = Once(std::numeric_limits<double>::quiet_NaN());
  if (statistic.kind == StatisticKind::kQuantile) {
    const std::optional<int64_t> code = QuantileOf(codes, statistic.thousandths);
    if (!code) return none;
    const BinNumbers bin = NumbersOfCode(domain, *statistic.column, *code);
    return {.low = bin.low, .high = bin.high};
  }
  const NumberColumn column = *NumberColumnAt(domain, *statistic.column);
  const auto count = static_cast<long double>(codes.size());
  long double sum = 0;
  for (const int64_t code : codes) sum += static_cast<long double>(column.low + code) * column.resolution;
  if (statistic.kind == StatisticKind::kCount) return Once(static_cast<double>(count));
  if (statistic.kind == StatisticKind::kSum) return Once(static_cast<double>(sum));
  if (codes.empty()) return none;
  const long double mean = sum / count;
  if (statistic.kind == StatisticKind::kMean) return Once(static_cast<double>(mean));
  if (codes.size() < 2) return none;
  long double squares = 0;
  for (const int64_t code : codes) {
    const long double deviation = static_cast<long double>(column.low + code) * column.resolution - mean;
    squares += deviation * deviation;
  }
  return Once(static_cast<double>(squares / (count - 1)));
}

}  // namespace

std::vector<TrueAnswer> TrueAnswersOf(const Domain& domain, const AskedStatistics& asked,
                                      const SimulatedRecords& records) {
  const int64_t groups = NumberOfGroups(domain, asked);
  const std::vector<int32_t> group_of_each = GroupOfEach(domain, asked, records);
  std::vector<TrueAnswer> answers(static_cast<size_t>(NumberOfAnswers(domain, asked)));
  for (size_t i = 0; i < asked.statistics.size(); ++i) {
    const Statistic& statistic = asked.statistics[i];
    std::vector<int64_t> plain;
    std::vector<std::vector<int64_t>> codes;
    if (statistic.kind == StatisticKind::kDistinctUnits) {
      plain = Units(groups, group_of_each, records);
    } else if (!statistic.column) {
      plain = Sums(domain, {}, groups, group_of_each, records);
    } else {
      codes = CodesByGroup(domain, *statistic.column, groups, group_of_each, records);
    }
    for (size_t group = 0; group < static_cast<size_t>(groups); ++group) {
      answers[group * asked.statistics.size() + i] = plain.empty()
                                                         ? OfNumbers(domain, statistic, codes[group])
                                                         : Once(static_cast<double>(plain[group]));
    }
  }
  return answers;
}

absl::StatusOr<StatisticsRelease> MeasuredExactly(const Domain& domain, const UnitBound& unit,
                                                  std::span<const AskedStatistics> sets,
                                                  const std::variant<Epsilon, Rho>& share,
                                                  const SimulatedRecords& records) {
  const Mechanism mechanism =
      std::holds_alternative<Epsilon>(share) ? Mechanism::kDiscreteLaplace : Mechanism::kDiscreteGaussian;
  StatisticsRelease release;
  ASSIGN_OR_RETURN(release.draws, DrawsFor(domain, unit, mechanism, sets));
  ASSIGN_OR_RETURN(StatisticsPurchase bought, BuyStatistics(domain, unit, sets, release.draws, share));
  release.bought = std::move(bought.bought);
  for (const StatisticsDraw& draw : release.draws) {
    const AskedStatistics& asked = sets[draw.set];
    const int64_t groups = NumberOfGroups(domain, asked);
    const std::vector<int32_t> group_of_each = GroupOfEach(domain, asked, records);
    if (const auto* sum = std::get_if<SumDraw>(&draw.what)) {
      release.values.push_back(Sums(domain, *sum, groups, group_of_each, records));
    } else if (const auto* quantile = std::get_if<QuantileDraw>(&draw.what)) {
      std::vector<int64_t> selected;
      for (const std::vector<int64_t>& codes :
           CodesByGroup(domain, quantile->column, groups, group_of_each, records))
        selected.push_back(QuantileOf(codes, quantile->thousandths).value_or(0));
      release.values.push_back(std::move(selected));
    } else {
      release.values.push_back(Units(groups, group_of_each, records));
    }
  }
  return release;
}

StatisticsRelease WithNoise(StatisticsRelease release, BitSource& bits) {
  for (size_t i = 0; i < release.draws.size(); ++i) {
    if (std::holds_alternative<QuantileDraw>(release.draws[i].what)) continue;
    const NoiseSpec& noise = release.bought[i].noise;
    const std::vector<int64_t> values = DrawnNoise(noise, bits, std::ssize(release.values[i]));
    for (size_t value = 0; value < values.size(); ++value) release.values[i][value] += values[value];
  }
  return release;
}

}  // namespace curator::dp
