#include "dp/workload/statistics/statistics_plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/domain/number_column.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/statistics/quantile_ways.h"

namespace curator::dp {
namespace {

bool HasMean(const Statistic& statistic) {
  return statistic.kind == StatisticKind::kMean || statistic.kind == StatisticKind::kVariance;
}

// Of noise that costs the same, in proportion to the variance.
double VarianceOf(Mechanism mechanism, const Sensitivity& sensitivity) {
  const auto l1 = static_cast<double>(sensitivity.l1);
  return mechanism == Mechanism::kDiscreteLaplace ? l1 * l1 : static_cast<double>(sensitivity.l2_squared);
}

// The draws of one set, each once, in the order in which the statistics need them.
class DrawsOfSet {
 public:
  DrawsOfSet(const Domain& domain, const UnitBound& unit, Mechanism mechanism, const AskedStatistics& asked,
             size_t set, int64_t& selected_codes)
      : domain_(domain),
        unit_(unit),
        mechanism_(mechanism),
        asked_(asked),
        set_(set),
        groups_(NumberOfGroups(domain, asked)),
        selected_codes_(selected_codes) {}

  absl::StatusOr<std::vector<StatisticsDraw>> All() && {
    for (const Statistic& statistic : asked_.statistics) {
      switch (statistic.kind) {
        case StatisticKind::kCount:
          Add(SumDraw{.blocks = std::nullopt, .value = CountOf(domain_, statistic.column)});
          break;
        case StatisticKind::kSum: {
          ASSIGN_OR_RETURN(const SummedValue sum, SumOf(*statistic.column));
          AddSum(sum);
          break;
        }
        case StatisticKind::kMean:
        case StatisticKind::kVariance:
          AddMoments(statistic);
          break;
        case StatisticKind::kQuantile:
          RETURN_IF_ERROR(AddQuantiles(*statistic.column));
          break;
        case StatisticKind::kDistinctUnits:
          Add(UnitsDraw{});
          break;
      }
    }
    return std::move(draws_);
  }

 private:
  void Add(std::variant<SumDraw, QuantileDraw, UnitsDraw> what, int64_t shares_of_share = 1) {
    const auto is_same = [&what](const StatisticsDraw& draw) { return draw.what == what; };
    if (std::ranges::any_of(draws_, is_same)) return;
    draws_.push_back({.set = set_, .what = std::move(what), .shares_of_share = shares_of_share});
  }

  // A sum, and the count that it is read with where its values have a centre.
  void AddSum(const SummedValue& sum) {
    Add(SumDraw{.blocks = std::nullopt, .value = sum});
    if (sum.centre != 0) Add(SumDraw{.blocks = std::nullopt, .value = CountOf(domain_, sum.column)});
  }

  void AddMoments(const Statistic& statistic) {
    const NumberColumn column = *NumberColumnAt(domain_, *statistic.column);
    SummedValue value{
        .kind = SummedValue::Kind::kValue, .column = statistic.column, .centre = MiddleOf(column)};
    Add(SumDraw{.blocks = std::nullopt, .value = value});
    Add(SumDraw{.blocks = std::nullopt, .value = CountOf(domain_, statistic.column)});
    if (statistic.kind != StatisticKind::kVariance) return;
    value.kind = SummedValue::Kind::kSquare;
    Add(SumDraw{.blocks = std::nullopt, .value = value});
  }

  // Whether something else in the set needs this count.
  bool IsCounted(const SummedValue& count) const {
    return std::ranges::any_of(asked_.statistics, [&](const Statistic& other) {
      const bool is_count = other.kind == StatisticKind::kCount || HasMean(other);
      return is_count && CountOf(domain_, other.column) == count;
    });
  }

  // The sum of a column: that which its mean needs, or else the one of less noise for as many draws.
  absl::StatusOr<SummedValue> SumOf(uint32_t number) const {
    const NumberColumn column = *NumberColumnAt(domain_, number);
    const SummedValue plain{.kind = SummedValue::Kind::kValue, .column = number, .centre = 0};
    SummedValue centred = plain;
    centred.centre = MiddleOf(column);
    const bool has_mean = std::ranges::any_of(
        asked_.statistics, [&](const Statistic& other) { return HasMean(other) && other.column == number; });
    const absl::StatusOr<SummandRange> range = RangeOf(domain_, plain);
    if (has_mean || !range.ok()) return centred;
    const SummedValue count = CountOf(domain_, number);
    if (!IsCounted(count)) return plain;
    ASSIGN_OR_RETURN(const double variance_of_plain, VarianceOfSum(plain));
    ASSIGN_OR_RETURN(const double variance_of_centred, VarianceOfSum(centred));
    ASSIGN_OR_RETURN(const double variance_of_count, VarianceOfSum(count));
    const auto centre = static_cast<double>(centred.centre);
    return variance_of_plain <= variance_of_centred + centre * centre * variance_of_count ? plain : centred;
  }

  absl::StatusOr<double> VarianceOfSum(const SummedValue& value) const {
    ASSIGN_OR_RETURN(const SummandRange range, RangeOf(domain_, value));
    ASSIGN_OR_RETURN(const Sensitivity sensitivity, SumsSensitivity(unit_, range, groups_));
    return VarianceOf(mechanism_, sensitivity);
  }

  // All quantiles of a column together: they may share a tree.
  absl::Status AddQuantiles(uint32_t column) {
    if (!measured_.insert(column).second) return absl::OkStatus();
    std::vector<int32_t> thousandths;
    for (const Statistic& statistic : asked_.statistics) {
      if (statistic.kind == StatisticKind::kQuantile && statistic.column == column)
        thousandths.push_back(statistic.thousandths);
    }
    ASSIGN_OR_RETURN(const bool is_tree, IsTree(column, thousandths));
    if (!is_tree) {
      selected_codes_ += CodesToSelect(column, thousandths.size());
      for (const int32_t each : thousandths) Add(QuantileDraw{.column = column, .thousandths = each});
      return absl::OkStatus();
    }
    const int64_t codes = CodesOf(domain_, column);
    const IntervalTree tree(codes, BranchingFor(codes, mechanism_, thousandths));
    int64_t width = 1;
    for (size_t level = 0; level < tree.levels(); ++level, width *= tree.branching()) {
      Add(SumDraw{.blocks = CodeBlocks{.column = column, .width = width}, .value = {}},
          static_cast<int64_t>(tree.levels()));
    }
    return absl::OkStatus();
  }

  int64_t CodesToSelect(uint32_t column, size_t quantiles) const {
    return CodesOf(domain_, column) * groups_ * static_cast<int64_t>(quantiles);
  }

  absl::StatusOr<bool> IsTree(uint32_t column, std::span<const int32_t> thousandths) const {
    const int64_t codes = CodesOf(domain_, column);
    const bool fits_tree = codes * groups_ <= kMostGroupCells;
    const bool fits_selection =
        CodesToSelect(column, thousandths.size()) <= kMostSelectedCodes - selected_codes_;
    const bool may_be_tree = asked_.quantiles != QuantileWay::kSelection && fits_tree;
    const bool may_be_selection = asked_.quantiles != QuantileWay::kTree && fits_selection;
    if (may_be_tree && may_be_selection) return TreeIsBetter(unit_, mechanism_, codes, groups_, thousandths);
    if (may_be_tree || may_be_selection) return may_be_tree;
    return TooManyCodes(codes, thousandths.size());
  }

  absl::Status TooManyCodes(int64_t codes, size_t quantiles) const {
    std::string why = absl::StrCat(codes, " codes in each of ", groups_, " groups: ");
    if (asked_.quantiles != QuantileWay::kSelection)
      absl::StrAppend(&why, "a tree measures at most ", kMostGroupCells, " values");
    if (asked_.quantiles == QuantileWay::kAuto) absl::StrAppend(&why, ", and ");
    if (asked_.quantiles != QuantileWay::kTree)
      absl::StrAppend(&why, quantiles, " selections compare too many of ", kMostSelectedCodes,
                      " codes of a request");
    const bool has_other = asked_.quantiles != QuantileWay::kAuto;
    return InvalidField(
        absl::StrCat("[", set_, "].strategy"),
        absl::StrCat("cannot take the quantiles of ", why, "; ask for fewer groups or a column of fewer bins",
                     has_other ? ", or leave the strategy out" : ""));
  }

  const Domain& domain_;
  const UnitBound& unit_;
  const Mechanism mechanism_;
  const AskedStatistics& asked_;
  const size_t set_;
  const int64_t groups_;
  int64_t& selected_codes_;      // of all sets
  std::set<uint32_t> measured_;  // columns of quantiles
  std::vector<StatisticsDraw> draws_;
};

int64_t UnitsOf(const std::variant<Epsilon, Rho>& share) {
  return std::visit([](const auto& amount) { return amount.units(); }, share);
}

// The least noise of cost `units` at most. Where the parameter does not fit as a quotient it is rounded up,
// by less than a part in 10^7.
std::optional<NoiseSpec> NoiseWithin(const Sensitivity& sensitivity, Mechanism mechanism, int64_t units) {
  const bool is_laplace = mechanism == Mechanism::kDiscreteLaplace;
  if (units <= 0) return std::nullopt;
  const Int128 numerator = Int128{is_laplace ? sensitivity.l1 : sensitivity.l2_squared} * kEpsilonUnitsPerOne;
  const Int128 denominator = Int128{is_laplace ? 1 : 2} * units;
  const int64_t most = is_laplace ? kMaxNoiseScale : kMaxNoiseVariance;
  if (numerator > denominator * most) return std::nullopt;

  Int128 divisor = numerator;
  for (Int128 rest = denominator; rest != 0;) {
    const Int128 next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  constexpr Int128 kFits = std::numeric_limits<int64_t>::max();
  if (numerator / divisor <= kFits && denominator / divisor <= kFits) {
    return NoiseSpec{.mechanism = mechanism,
                     .parameter = {static_cast<int64_t>(numerator / divisor),
                                   static_cast<int64_t>(denominator / divisor)}};
  }
  int64_t scale = int64_t{1} << 24;  // numerators are below 2^102
  while ((numerator * scale + denominator - 1) / denominator > kFits) scale /= 2;
  const auto rounded = static_cast<int64_t>((numerator * scale + denominator - 1) / denominator);
  return NoiseSpec{.mechanism = mechanism, .parameter = Reduced({rounded, scale})};
}

UnitBound OnlyEnteringOrLeaving(const UnitBound& unit) {
  return {.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records};
}

// Buys the draws one by one.
class Buyer {
 public:
  Buyer(const Domain& domain, const UnitBound& unit, std::span<const AskedStatistics> sets,
        const std::variant<Epsilon, Rho>& share)
      : domain_(domain),
        unit_(unit),
        removal_(OnlyEnteringOrLeaving(unit)),
        sets_(sets),
        share_(share),
        mechanism_(std::holds_alternative<Epsilon>(share) ? Mechanism::kDiscreteLaplace
                                                          : Mechanism::kDiscreteGaussian) {}

  absl::Status Buy(const StatisticsDraw& draw) {
    return std::visit(Overloaded{[&](const SumDraw& sum) { return BuySum(draw, sum); },
                                 [&](const QuantileDraw& quantile) { return BuySelection(draw, quantile); },
                                 [&](const UnitsDraw&) { return BuyUnits(draw); }},
                      draw.what);
  }

  StatisticsPurchase Purchase() && { return std::move(purchase_); }

 private:
  absl::Status BuySum(const StatisticsDraw& draw, const SumDraw& sum) {
    const int64_t sums = NumberOfValues(domain_, sets_, draw);
    ASSIGN_OR_RETURN(const SummandRange range, RangeOf(domain_, sum.value));
    ASSIGN_OR_RETURN(const Sensitivity sensitivity, SumsSensitivity(unit_, range, sums));
    ASSIGN_OR_RETURN(const Sensitivity removal, SumsSensitivity(removal_, range, sums));
    return AddNoise(draw, sensitivity, removal);
  }

  absl::Status BuyUnits(const StatisticsDraw& draw) {
    purchase_.is_linear = false;
    const int64_t groups = NumberOfGroups(domain_, sets_[draw.set]);
    ASSIGN_OR_RETURN(const Sensitivity sensitivity, UnitCountsSensitivity(unit_, groups));
    ASSIGN_OR_RETURN(const Sensitivity removal, UnitCountsSensitivity(removal_, groups));
    return AddNoise(draw, sensitivity, removal);
  }

  absl::Status AddNoise(const StatisticsDraw& draw, const Sensitivity& sensitivity,
                        const Sensitivity& removal) {
    const std::optional<NoiseSpec> noise =
        NoiseWithin(sensitivity, mechanism_, UnitsOf(share_) / draw.shares_of_share);
    if (!noise) return TooSmall(draw);
    purchase_.bought.push_back({.noise = *noise, .epsilon = {}});
    purchase_.draws.push_back({NoiseEvent(*noise, sensitivity), 1});
    purchase_.removals.push_back({NoiseEvent(*noise, removal), 1});
    return absl::OkStatus();
  }

  // A unit that only enters or leaves moves a score by max(q, 1 - q) for each record, where one that is
  // replaced moves it by 1, which is what the selection divides by under REPLACE_ONE.
  absl::Status BuySelection(const StatisticsDraw& draw, const QuantileDraw& quantile) {
    RETURN_IF_ERROR(MarginalsSensitivity(unit_, 1).status());
    const int64_t paid = QuantileSelections(unit_, NumberOfGroups(domain_, sets_[draw.set]));
    const int64_t units = UnitsOf(share_) / draw.shares_of_share / paid;
    const Epsilon epsilon =
        mechanism_ == Mechanism::kDiscreteLaplace ? Epsilon(units) : SelectionFor(Rho(units));
    if (epsilon.units() <= 0) return TooSmall(draw);
    int64_t of_removal = epsilon.units();
    if (unit_.relation == NeighbourRelation::kReplaceOne) {
      const Int128 moved = std::max(quantile.thousandths, 1000 - quantile.thousandths);
      of_removal = static_cast<int64_t>((moved * epsilon.units() + 999) / 1000);
    }
    purchase_.bought.push_back({.noise = {}, .epsilon = epsilon});
    purchase_.draws.push_back({{ExponentialMechanismEvent{epsilon}}, paid});
    purchase_.removals.push_back({{ExponentialMechanismEvent{Epsilon(of_removal)}}, paid});
    return absl::OkStatus();
  }

  static absl::Status TooSmall(const StatisticsDraw& draw) {
    const std::string_view what =
        std::visit(Overloaded{[](const SumDraw& sum) -> std::string_view {
                                return sum.value.kind == SummedValue::Kind::kOne ? "a count" : "a sum";
                              },
                              [](const QuantileDraw&) -> std::string_view { return "a selection"; },
                              [](const UnitsDraw&) -> std::string_view { return "a count of units"; }},
                   draw.what);
    return InvalidField("spend", absl::StrCat("is too small: the share of ", std::string(what),
                                              " buys no noise below the limit; spend more, or ask for "
                                              "fewer statistics"));
  }

  const Domain& domain_;
  const UnitBound& unit_;
  const UnitBound removal_;
  const std::span<const AskedStatistics> sets_;
  const std::variant<Epsilon, Rho> share_;
  const Mechanism mechanism_;
  StatisticsPurchase purchase_;
};

}  // namespace

int64_t MiddleOf(const NumberColumn& column) {
  return column.low + column.steps / 2;
}

SummedValue CountOf(const Domain& domain, std::optional<uint32_t> column) {
  SummedValue count{.kind = SummedValue::Kind::kOne, .column = std::nullopt, .centre = 0};
  if (column && NumberColumnAt(domain, *column)->missing_code) count.column = column;
  return count;
}

absl::StatusOr<std::vector<StatisticsDraw>> DrawsFor(const Domain& domain, const UnitBound& unit,
                                                     Mechanism mechanism,
                                                     std::span<const AskedStatistics> sets) {
  std::vector<StatisticsDraw> draws;
  int64_t selected_codes = 0;
  int64_t values = 0;
  for (size_t set = 0; set < sets.size(); ++set) {
    ASSIGN_OR_RETURN(std::vector<StatisticsDraw> of_set,
                     DrawsOfSet(domain, unit, mechanism, sets[set], set, selected_codes).All());
    for (const StatisticsDraw& draw : of_set) values += NumberOfValues(domain, sets, draw);
    if (values > kMostStatisticValues) {
      return InvalidField(absl::StrCat("[", set, "].statistics"),
                          absl::StrCat("would measure more than ", kMostStatisticValues,
                                       " values in one request; ask for fewer groups or statistics"));
    }
    std::ranges::move(of_set, std::back_inserter(draws));
  }
  return draws;
}

int64_t SharesOf(std::span<const StatisticsDraw> draws) {
  std::map<int64_t, int64_t> draws_by_part;
  for (const StatisticsDraw& draw : draws) ++draws_by_part[draw.shares_of_share];
  int64_t shares = 0;
  for (const auto& [parts, count] : draws_by_part) shares += (count + parts - 1) / parts;
  return shares;
}

absl::StatusOr<StatisticsPurchase> BuyStatistics(const Domain& domain, const UnitBound& unit,
                                                 std::span<const AskedStatistics> sets,
                                                 std::span<const StatisticsDraw> draws,
                                                 const std::variant<Epsilon, Rho>& share) {
  Buyer buyer(domain, unit, sets, share);
  for (const StatisticsDraw& draw : draws) RETURN_IF_ERROR(buyer.Buy(draw));
  return std::move(buyer).Purchase();
}

int64_t NumberOfValues(const Domain& domain, std::span<const AskedStatistics> sets,
                       const StatisticsDraw& draw) {
  const int64_t groups = NumberOfGroups(domain, sets[draw.set]);
  const auto* sum = std::get_if<SumDraw>(&draw.what);
  return sum != nullptr && sum->blocks ? groups * NumberOfBlocks(domain, *sum->blocks) : groups;
}

int64_t StatisticsBytes(const Domain& domain, std::span<const AskedStatistics> sets,
                        std::span<const StatisticsDraw> draws) {
  constexpr int64_t kPerDraw = 1024;
  constexpr int64_t kPerValue = 32;  // sums, noise, the release's values and their estimates
  constexpr int64_t kPerCell = 8;    // of the groups' attributes
  constexpr int64_t kPerCode = 64;   // of a selection: counts, scores and weights
  // Of the kernel (dp/data/sum_sealed_groups.h):
  constexpr int64_t kCounters = int64_t{20} << 20;
  constexpr int64_t kPerSum = 32;
  constexpr int64_t kPerSummedCell = 24;
  const auto cells_of = [&domain](const AskedStatistics& asked) {
    return domain.CellCount(Union(asked.by, asked.where)).value_or(kMostGroupCells);
  };
  int64_t bytes = StatisticsReadingBytes(domain, sets, draws);
  int64_t one_draw = 0;  // what the largest takes while it is made: they are made one after another
  for (const StatisticsDraw& draw : draws) {
    const int64_t values = NumberOfValues(domain, sets, draw);
    bytes += kPerDraw + kPerValue * values;
    int64_t counted = values;
    const auto* quantile = std::get_if<QuantileDraw>(&draw.what);
    if (quantile != nullptr) {
      bytes += kPerCode * CodesOf(domain, quantile->column);
      counted *= CodesOf(domain, quantile->column);
    }
    one_draw = std::max(one_draw, kCounters + kPerSum * counted + kPerSummedCell * cells_of(sets[draw.set]));
  }
  for (const AskedStatistics& asked : sets) bytes += kPerCell * cells_of(asked);
  return bytes + one_draw;
}

int64_t StatisticsReadingBytes(const Domain& domain, std::span<const AskedStatistics> sets,
                               std::span<const StatisticsDraw> draws) {
  constexpr int64_t kPerAnswer = 64;  // the answer, its value and its group, which are selected and sorted
  constexpr int64_t kPerBlock = 64;   // of a tree, for one group: values, estimates and ranks
  constexpr int64_t kPerWidth = 8;    // of each code for each quantile
  int64_t bytes = 0;
  for (const AskedStatistics& asked : sets) bytes += kPerAnswer * NumberOfAnswers(domain, asked);
  for (const StatisticsDraw& draw : draws) {
    const auto* sum = std::get_if<SumDraw>(&draw.what);
    if (sum == nullptr || !sum->blocks) continue;
    bytes += kPerBlock * NumberOfBlocks(domain, *sum->blocks);
    if (sum->blocks->width > 1) continue;
    const auto reads = [&](const Statistic& statistic) {
      return statistic.kind == StatisticKind::kQuantile && statistic.column == sum->blocks->column;
    };
    bytes += kPerWidth * CodesOf(domain, sum->blocks->column) *
             std::ranges::count_if(sets[draw.set].statistics, reads);
  }
  return bytes;
}

}  // namespace curator::dp
