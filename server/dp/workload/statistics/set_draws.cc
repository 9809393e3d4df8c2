#include "dp/workload/statistics/set_draws.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <variant>

#include "base/status_macros.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/statistics/quantile_reading.h"

namespace curator::dp {
namespace {

// Whether a draw is on columns of the domain, so that its values can be numbered.
bool IsSound(const Domain& domain, const StatisticsDraw& draw) {
  const size_t columns = domain.size() + domain.measures().size();
  if (const auto* quantile = std::get_if<QuantileDraw>(&draw.what)) return quantile->column < columns;
  const auto* sum = std::get_if<SumDraw>(&draw.what);
  if (sum == nullptr) return true;
  if (!RangeOf(domain, sum->value).ok()) return false;
  return !sum->blocks || (sum->blocks->column < columns && sum->blocks->width >= 1 &&
                          sum->blocks->width <= kMaxAttributeSize);
}

// Whether a column is one that the statistic can be of (asked_statistics.h).
bool HasItsColumn(const Domain& domain, const Statistic& statistic) {
  if (!statistic.column)
    return statistic.kind == StatisticKind::kCount || statistic.kind == StatisticKind::kDistinctUnits;
  if (*statistic.column >= domain.size() + domain.measures().size()) return false;
  if (statistic.kind == StatisticKind::kQuantile) return HasOrderedNumbers(domain, *statistic.column);
  return statistic.kind != StatisticKind::kDistinctUnits &&
         NumberColumnAt(domain, *statistic.column).has_value();
}

// Whether a stored set is of this domain, so that it has answers.
bool IsSound(const Domain& domain, const AskedStatistics& asked) {
  if (!domain.CheckSet(asked.by).ok() || !domain.CheckSet(asked.where).ok()) return false;
  if (asked.statistics.empty() || asked.statistics.size() > kMostStatistics) return false;
  if (domain.CellCount(asked.by).value_or(kMostStatisticAnswers + 1) > kMostStatisticAnswers) return false;
  return std::ranges::all_of(asked.statistics,
                             [&](const Statistic& statistic) { return HasItsColumn(domain, statistic); });
}

}  // namespace

absl::Status LacksDraws() {
  return absl::DataLossError("the release is damaged: it lacks what its statistics are read from");
}

absl::StatusOr<SetDraws> SetDraws::Create(const Domain& domain, std::span<const AskedStatistics> sets,
                                          size_t set, std::span<const StatisticsDraw> draws,
                                          std::span<const BoughtDraw> bought) {
  if (set >= sets.size() || draws.size() != bought.size()) return LacksDraws();
  if (!IsSound(domain, sets[set])) return LacksDraws();
  for (const StatisticsDraw& draw : draws) {
    if (draw.set == set && !IsSound(domain, draw)) return LacksDraws();
  }
  return SetDraws(domain, set, draws, bought);
}

std::optional<size_t> SetDraws::Find(const std::variant<SumDraw, QuantileDraw, UnitsDraw>& what) const {
  for (size_t i = 0; i < draws_.size(); ++i) {
    if (draws_[i].set == set_ && draws_[i].what == what) return i;
  }
  return std::nullopt;
}

absl::StatusOr<size_t> SetDraws::Needed(const SummedValue& value) const {
  const std::optional<size_t> found = Find(SumDraw{.blocks = std::nullopt, .value = value});
  if (!found) return LacksDraws();
  return *found;
}

absl::StatusOr<size_t> SetDraws::Count(std::optional<uint32_t> column) const {
  return Needed(CountOf(*domain_, column));
}

absl::StatusOr<SumParts> SetDraws::Sum(uint32_t column) const {
  const std::optional<NumberColumn> number = NumberColumnAt(*domain_, column);
  if (!number) return LacksDraws();
  for (const int64_t centre : {int64_t{0}, MiddleOf(*number)}) {
    const std::optional<size_t> sum =
        Find(SumDraw{.blocks = std::nullopt,
                     .value = {.kind = SummedValue::Kind::kValue, .column = column, .centre = centre}});
    if (!sum) continue;
    SumParts parts{.sum = *sum, .centre = centre, .count = std::nullopt};
    if (const absl::StatusOr<size_t> count = Count(column); count.ok()) parts.count = *count;
    if (centre != 0 && !parts.count) return LacksDraws();
    return parts;
  }
  return LacksDraws();
}

absl::StatusOr<size_t> SetDraws::Squares(uint32_t column, int64_t centre) const {
  return Needed({.kind = SummedValue::Kind::kSquare, .column = column, .centre = centre});
}

absl::StatusOr<size_t> SetDraws::Units() const {
  const std::optional<size_t> found = Find(UnitsDraw{});
  if (!found) return LacksDraws();
  return *found;
}

std::optional<size_t> SetDraws::Selection(uint32_t column, int32_t thousandths) const {
  return Find(QuantileDraw{.column = column, .thousandths = thousandths});
}

absl::StatusOr<TreeParts> SetDraws::Tree(uint32_t column) const {
  std::vector<size_t> levels;
  std::vector<int64_t> widths;
  int64_t parts_of_share = 0;
  for (size_t i = 0; i < draws_.size(); ++i) {
    const auto* sum = std::get_if<SumDraw>(&draws_[i].what);
    if (draws_[i].set != set_ || sum == nullptr || !sum->blocks || sum->blocks->column != column) continue;
    levels.push_back(i);
    widths.push_back(sum->blocks->width);
    parts_of_share = draws_[i].shares_of_share;
  }
  if (parts_of_share != static_cast<int64_t>(levels.size())) return LacksDraws();
  if (levels.empty() || widths.front() != 1) return LacksDraws();
  const int64_t codes = CodesOf(*domain_, column);
  const int64_t branching = widths.size() > 1 ? widths[1] : std::max<int64_t>(2, codes);
  if (branching < 2) return LacksDraws();
  TreeParts parts{.tree = IntervalTree(codes, branching), .levels = std::move(levels)};
  if (parts.tree.levels() != widths.size()) return LacksDraws();
  int64_t width = 1;
  for (size_t level = 0; level < widths.size(); ++level, width *= branching) {
    if (widths[level] != width || noise(parts.levels[level]) != noise(parts.levels.front()))
      return LacksDraws();
  }
  return parts;
}

absl::StatusOr<NoisyMoments> SetDraws::MomentsOf(const Statistic& statistic) const {
  ASSIGN_OR_RETURN(const SumParts parts, Sum(*statistic.column));
  if (!parts.count) return LacksDraws();
  const NumberColumn column = *NumberColumnAt(*domain_, *statistic.column);
  NoisyMoments moments;
  moments.count_deviation = DeviationOfLaw(*parts.count);
  moments.sum_deviation = DeviationOfLaw(parts.sum);
  moments.least = static_cast<double>(column.low - parts.centre);
  moments.most = static_cast<double>(column.low + column.steps - parts.centre);
  if (statistic.kind != StatisticKind::kVariance) return moments;
  ASSIGN_OR_RETURN(const size_t squares, Squares(column.column, parts.centre));
  moments.step_of_squares = static_cast<double>(StepOfSquares(column, parts.centre));
  moments.squares_deviation = DeviationOfLaw(squares) * moments.step_of_squares;
  moments.centre_of_squares =
      static_cast<double>(CentreOfSquares(column, parts.centre)) * moments.step_of_squares;
  return moments;
}

double SetDraws::Deviation(size_t draw) const {
  return ForecastError(noise(draw)).standard_deviation;
}

double SetDraws::DeviationOfLaw(size_t draw) const {
  constexpr double kLeastSmooth = 1.5;
  const double own = Deviation(draw);
  if (own >= kLeastSmooth) return own;
  const auto [numerator, denominator] = noise(draw).parameter;
  const double parameter = static_cast<double>(numerator) / static_cast<double>(denominator);
  return noise(draw).mechanism == Mechanism::kDiscreteLaplace ? std::numbers::sqrt2 * parameter
                                                              : std::sqrt(parameter);
}

}  // namespace curator::dp
