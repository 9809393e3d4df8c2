#include "dp/synthesis/dpsyn/view_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dp/synthesis/dpsyn/view_table.h"

namespace curator::dp {
namespace {

constexpr double kLeastSinglePercent = 40;
constexpr double kMostSinglePercent = 85;
constexpr double kPercentOfEveryPair = 32;  // of single attributes, if every pair were selected
constexpr double kAttributesPerSelection = 16;
constexpr double kMostNoiseOfAPair = 0.25;
constexpr double kStrongDependence = 0.5;  // L1 distance from independence, in proportion to the records

double SinglePercent(double selections, double pairs) {
  const double rising = kPercentOfEveryPair / std::sqrt(selections / pairs);
  return std::floor(std::clamp(rising, kLeastSinglePercent, kMostSinglePercent));
}

// Whether a selection that costs this share finds a strongly dependent pair among all: its score moves by 1
// either way with a record, and exp(epsilon score / 2) has to outweigh the number of pairs.
bool FindsStrongDependence(const ViewBudget& whole, double share, double records, double pairs) {
  const double amount = whole.amount * share;
  const double epsilon = whole.pure ? amount : std::sqrt(8 * amount);
  const double log_of_pairs = 0.7 * static_cast<double>(std::bit_width(static_cast<uint64_t>(pairs)));
  return epsilon * kStrongDependence * records / 2 >= log_of_pairs;
}

}  // namespace

double MostPairNoise(size_t attributes) {
  return attributes <= 14 ? 0.5 : 7 / static_cast<double>(attributes);
}

SelectionRule RuleOfSelections(const Domain& domain, const AttributeSet& attributes,
                               const std::vector<AttributeSet>& candidates, const ViewBudget& whole,
                               double records, int64_t selection_percent) {
  if (candidates.empty()) return {};
  // The square root of rho times the records, or half of epsilon times the records.
  const double signal = records / std::sqrt(2 * NoiseVariance(whole, 1));
  const auto pairs = static_cast<double>(candidates.size());
  double selections =
      std::floor(static_cast<double>(attributes.size()) * std::sqrt(signal) / kAttributesPerSelection);
  selections = std::min({selections, pairs, static_cast<double>(kMostViews)});
  int64_t smallest = kMostViewCells;
  for (const AttributeSet& pair : candidates) smallest = std::min(smallest, CellsOf(domain, pair));
  for (; selections > 0; --selections) {
    const double single_percent = SinglePercent(selections, pairs);
    const double each = (100 - single_percent) / 100 / selections;
    const double selecting = each * static_cast<double>(selection_percent) / 100;
    if (!FindsStrongDependence(whole, selecting, records, pairs)) continue;
    if (NoiseShare(smallest, NoiseVariance(whole, each - selecting), records) <= kMostNoiseOfAPair)
      return {.selections = static_cast<int64_t>(selections),
              .single_percent = static_cast<int64_t>(single_percent)};
  }
  return {.selections = 0, .single_percent = static_cast<int64_t>(kMostSinglePercent)};
}

}  // namespace curator::dp
