// How sets of statistics are measured: a list of draws, each with its own noise, whose costs add up.
//
//   count            a sum of ones for each group
//   sum              a sum of values; or of values minus the middle of their bounds, and the count: where
//                    the mean is asked too, where 0 is further than kLargestSummand steps from the values, or
//                    where the count is measured anyway and this has less noise
//   mean             a sum of values minus the middle of their bounds, and the count
//   variance         these two, and a sum of squares
//   quantile         the counts of blocks of codes, level by level of a tree (interval_tree.h), which all
//                    quantiles of a column share; or a selection for each quantile
//   distinct units   a count of units for each group
//
// Statistics of one set share draws: a mean beside a count costs one more. Each draw gets the same share of
// the budget (the levels of a tree share one; so do the two selections that a selection by groups costs
// under REPLACE_ONE); the shares of rho, or of epsilon, add up to the budget at most.
//
// From public facts alone. Thread-safe: plain values and pure functions; the same input gives the same plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/domain/number_column.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/grouped_sums.h"
#include "dp/workload/statistics/asked_statistics.h"

namespace curator::dp {

// One draw, over the groups of the set at position `set`.
struct SumDraw {
  std::optional<CodeBlocks> blocks;
  SummedValue value;
  bool operator==(const SumDraw&) const = default;
};
struct QuantileDraw {
  uint32_t column = 0;
  int32_t thousandths = 500;
  bool operator==(const QuantileDraw&) const = default;
};
struct UnitsDraw {
  bool operator==(const UnitsDraw&) const = default;
};
struct StatisticsDraw {
  size_t set = 0;
  std::variant<SumDraw, QuantileDraw, UnitsDraw> what;
  int64_t shares_of_share = 1;  // of the draws that share one share of the budget: the levels of a tree
  bool operator==(const StatisticsDraw&) const = default;
};

// The draws of `sets`, each valid: of each set its own, in a fixed order. Quantiles whose way is kAuto are
// measured in the way that TreeIsBetter() (quantile_ways.h) prefers for noise of `mechanism`: by the numbers
// of codes and groups, the relation and the unit. Errors: INVALID_ARGUMENT ("[1].strategy", within the sets)
// where the way that a set names cannot answer it within the limits (kMostSelectedCodes, and kMostGroupCells
// measured values a level), and ("[1].statistics") beyond kMostStatisticValues of all draws.
inline constexpr int64_t kMostStatisticValues = int64_t{1} << 24;  // 8 bytes each are stored
absl::StatusOr<std::vector<StatisticsDraw>> DrawsFor(const Domain& domain, const UnitBound& unit,
                                                     Mechanism mechanism,
                                                     std::span<const AskedStatistics> sets);

// The centre of a column's sums, in steps: the middle of its bounds.
int64_t MiddleOf(const NumberColumn& column);

// What counts the records that have a number in a column, or all records.
SummedValue CountOf(const Domain& domain, std::optional<uint32_t> column);

// How many shares of the budget these draws take.
int64_t SharesOf(std::span<const StatisticsDraw> draws);

// What one draw gets: the noise of a sum or a count, or the epsilon of each selection.
struct BoughtDraw {
  NoiseSpec noise;
  Epsilon epsilon;
  bool operator==(const BoughtDraw&) const = default;
};

// The share of one draw, and what it buys.
struct StatisticsPurchase {
  std::vector<BoughtDraw> bought;      // of each draw
  std::vector<CountedEvent> draws;     // what the kernel's meter admits, in the order of the draws
  std::vector<CountedEvent> removals;  // the same under ADD_REMOVE (part_cost.h)
  bool is_linear = true;               // whether LinearDraws holds: not for counts of units
};

// Buys each draw with `share`, an epsilon (discrete Laplace noise) or a rho (discrete Gaussian noise). The
// selections of one share cost at most the share; of a rho each costs epsilon^2 / 8 of it, which holds under
// every rule that counts rho. A noise parameter that fits no quotient of 64 bits is rounded up. Errors:
// INVALID_ARGUMENT ("spend") when a share is too small to buy noise within kMaxNoiseScale and
// kMaxNoiseVariance; those of the sensitivities.
absl::StatusOr<StatisticsPurchase> BuyStatistics(const Domain& domain, const UnitBound& unit,
                                                 std::span<const AskedStatistics> sets,
                                                 std::span<const StatisticsDraw> draws,
                                                 const std::variant<Epsilon, Rho>& share);

// Of a draw: how many values are measured or selected.
int64_t NumberOfValues(const Domain& domain, std::span<const AskedStatistics> sets,
                       const StatisticsDraw& draw);

// The memory that making the draws and answering from them takes, without a table, and of this what
// answering from them alone does beside a release that holds them: all answers, those that are selected and
// sent, and the half widths of quantiles.
int64_t StatisticsBytes(const Domain& domain, std::span<const AskedStatistics> sets,
                        std::span<const StatisticsDraw> draws);
int64_t StatisticsReadingBytes(const Domain& domain, std::span<const AskedStatistics> sets,
                               std::span<const StatisticsDraw> draws);

}  // namespace curator::dp
