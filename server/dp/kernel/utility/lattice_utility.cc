#include "dp/kernel/utility/lattice_utility.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/kernel/utility/record_influence.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

constexpr int64_t kStep = int64_t{1} << kUtilityLatticeBits;

int64_t NearestInteger(double value) {
  return std::llround(value * static_cast<double>(kStep));
}

// How many units' worth of change separates neighbours: one that enters or leaves, or one of each.
int64_t Sides(const UnitBound& unit) {
  return unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
}

absl::StatusOr<int64_t> CellsOf(const Domain& domain, const AttributeSet& set) {
  RETURN_IF_ERROR(ValidateMarginals(domain, std::span(&set, 1)));
  return TotalCells(domain, std::span(&set, 1));
}

// `table` as lattice steps, cell by cell.
absl::StatusOr<std::vector<int64_t>> RoundedByCell(const std::vector<std::vector<double>>& table,
                                                   int64_t cells) {
  if (table.empty()) return absl::InvalidArgumentError("there are no candidates to choose from");
  if (static_cast<int64_t>(table.size()) > kMostUtilityValues / cells) {
    return absl::OutOfRangeError(absl::StrCat("candidates times cells exceed ", kMostUtilityValues));
  }
  const size_t candidates = table.size();
  std::vector<int64_t> values(candidates * static_cast<size_t>(cells));
  for (size_t j = 0; j < candidates; ++j) {
    if (static_cast<int64_t>(table[j].size()) != cells) {
      return absl::InvalidArgumentError(
          absl::StrCat("a candidate has ", table[j].size(), " numbers; its marginal has ", cells, " cells"));
    }
    for (size_t x = 0; x < table[j].size(); ++x) {
      const double value = table[j][x];
      if (std::isnan(value) || value == std::numeric_limits<double>::infinity()) {
        return absl::InvalidArgumentError("a candidate's number is NaN or plus infinity");
      }
      values[x * candidates + j] = NearestInteger(std::clamp(value, -kLargestValue, kLargestValue));
    }
  }
  return values;
}

// The largest difference between two candidates in the same cell.
int64_t SpreadWithinACell(const std::vector<int64_t>& values, size_t candidates) {
  int64_t spread = 0;
  for (size_t first = 0; first < values.size(); first += candidates) {
    const auto [least, most] =
        std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                            values.begin() + static_cast<std::ptrdiff_t>(first + candidates));
    spread = std::max(spread, *most - *least);
  }
  return spread;
}

// One unit's contributions x_i, of all candidates, differ by at most high - low, being clipped to that, and
// by at most max_records times the largest difference within a cell, because clipping and the common
// reference bring two sums no further apart. Under ADD_REMOVE d = x or d = -x; under REPLACE_ONE d = x - y,
// of two units' contributions (a unit without records contributes 0 to all).
int64_t RangeOf(const LatticeSum& sum, size_t candidates, const UnitBound& unit) {
  const Int128 unclipped = static_cast<Int128>(SpreadWithinACell(sum.values, candidates)) * unit.max_records;
  const Int128 spread = std::min<Int128>(sum.high - sum.low, unclipped);
  return Sides(unit) * static_cast<int64_t>(spread);
}

// Contributions lie between 0 and the smaller of the cap and the unit's number of records.
int64_t RangeOf(const LatticeFrequency& frequency, const UnitBound& unit) {
  return Sides(unit) * std::min(frequency.most_per_unit, unit.max_records) * kStep;
}

// The leave-one-out bound. With B_x records below x, p/d the quantile and n records, the score of x is
// -max(0, f_x, -f_{x+1}) with f_x = d B_x - p n. One more record below x moves f_x by d - p, one more at or
// above it by -p; a record that moves moves f_x by d at most. The maximum of three numbers moves by no more
// than one of them does, so a unit of m records moves every score by at most m max(p, d - p) under ADD_REMOVE
// and by m d under REPLACE_ONE (where records may also vanish: max(p, d - p) <= d). Scores below and above
// the quantile move in opposite directions: the range is twice that.
int64_t RangeOf(const LatticeQuantile& quantile, const UnitBound& unit) {
  const int64_t below = quantile.denominator - quantile.numerator;
  const int64_t one_record = unit.relation == NeighbourRelation::kReplaceOne
                                 ? quantile.denominator
                                 : std::max(quantile.numerator, below);
  return 2 * unit.max_records * one_record * kStep;
}

absl::Status CheckBound(double bound, std::string_view name) {
  if (!std::isfinite(bound))
    return absl::InvalidArgumentError(absl::StrCat(std::string(name), " is not a finite number"));
  if (std::abs(bound) > kLargestClip)
    return absl::OutOfRangeError(absl::StrCat(std::string(name), " exceeds ", kLargestClip));
  return absl::OkStatus();
}

absl::StatusOr<LatticeUtility> RoundedSum(const AttributeSet& attributes,
                                          const std::vector<std::vector<double>>& table, LatticeSum sum,
                                          const Domain& domain, const UnitBound& unit) {
  if (sum.low >= sum.high)
    return absl::InvalidArgumentError("the range that contributions are clipped to is empty");
  ASSIGN_OR_RETURN(const int64_t cells, CellsOf(domain, attributes));
  ASSIGN_OR_RETURN(sum.values, RoundedByCell(table, cells));
  const int64_t range = RangeOf(sum, table.size(), unit);
  return LatticeUtility{.attributes = attributes,
                        .candidates = table.size(),
                        .kind = std::move(sum),
                        .bonuses = {},
                        .range = range};
}

absl::StatusOr<LatticeUtility> WithoutBonuses(const ClippedSum& utility, const Domain& domain,
                                              const UnitBound& unit) {
  RETURN_IF_ERROR(CheckBound(utility.low, "the lower bound of contributions"));
  RETURN_IF_ERROR(CheckBound(utility.high, "the upper bound of contributions"));
  LatticeSum sum{.values = {},
                 .reference = Reference::kZero,
                 .low = NearestInteger(utility.low),
                 .high = NearestInteger(utility.high)};
  return RoundedSum(utility.attributes, utility.values, std::move(sum), domain, unit);
}

absl::StatusOr<LatticeUtility> WithoutBonuses(const ClippedLogLikelihood& utility, const Domain& domain,
                                              const UnitBound& unit) {
  RETURN_IF_ERROR(CheckBound(utility.clip, "the clip"));
  LatticeSum sum{
      .values = {}, .reference = Reference::kBestCandidate, .low = -NearestInteger(utility.clip), .high = 0};
  return RoundedSum(utility.attributes, utility.log_probabilities, std::move(sum), domain, unit);
}

absl::StatusOr<LatticeUtility> WithoutBonuses(const CellFrequency& utility, const Domain& domain,
                                              const UnitBound& unit) {
  if (utility.most_per_unit < 1 || utility.most_per_unit > kMaxRecordsPerUnit) {
    return absl::InvalidArgumentError(
        absl::StrCat("what a unit may contribute must be from 1 to ", kMaxRecordsPerUnit, " records"));
  }
  ASSIGN_OR_RETURN(const int64_t cells, CellsOf(domain, utility.attributes));
  const LatticeFrequency frequency{utility.most_per_unit};
  return LatticeUtility{.attributes = utility.attributes,
                        .candidates = static_cast<size_t>(cells),
                        .kind = frequency,
                        .bonuses = {},
                        .range = RangeOf(frequency, unit)};
}

absl::StatusOr<LatticeUtility> WithoutBonuses(const QuantileValue& utility, const Domain& domain,
                                              const UnitBound& unit) {
  ASSIGN_OR_RETURN(const int64_t range, QuantileRange(unit, utility.numerator, utility.denominator));
  ASSIGN_OR_RETURN(const int64_t cells, CellsOf(domain, {utility.attribute}));
  return LatticeUtility{.attributes = {utility.attribute},
                        .candidates = static_cast<size_t>(cells),
                        .kind = LatticeQuantile{utility.numerator, utility.denominator},
                        .bonuses = {},
                        .range = range};
}

LatticeUtility OfGroups(uint32_t attribute, QuestionOnGroups question) {
  const size_t candidates = RowsOf(question.lattice.grid) * RowLengthOf(question.lattice.grid);
  return LatticeUtility{.attributes = {attribute},
                        .candidates = candidates,
                        .kind = std::move(question.lattice),
                        .bonuses = {},
                        .range = question.range};
}

absl::StatusOr<LatticeUtility> WithoutBonuses(const ClippedGroups& utility, const Domain& domain,
                                              const UnitBound& unit) {
  ASSIGN_OR_RETURN(const int64_t codes, CellsOf(domain, {utility.attribute}));
  ASSIGN_OR_RETURN(QuestionOnGroups question, OnLattice(utility, codes, unit));
  return OfGroups(utility.attribute, std::move(question));
}

absl::StatusOr<LatticeUtility> WithoutBonuses(const RecordsInGroups& utility, const Domain& domain,
                                              const UnitBound& unit) {
  ASSIGN_OR_RETURN(const int64_t codes, CellsOf(domain, {utility.attribute}));
  ASSIGN_OR_RETURN(QuestionOnGroups question, OnLattice(utility, codes, unit));
  return OfGroups(utility.attribute, std::move(question));
}

absl::StatusOr<std::vector<int64_t>> RoundedBonuses(std::span<const double> bonuses, size_t candidates) {
  if (bonuses.empty()) return std::vector<int64_t>(candidates, 0);
  if (bonuses.size() != candidates) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", bonuses.size(), " bonuses for ", candidates, " candidates"));
  }
  std::vector<int64_t> rounded;
  rounded.reserve(candidates);
  for (const double bonus : bonuses) {
    if (!std::isfinite(bonus)) return absl::InvalidArgumentError("a bonus is not a finite number");
    if (std::abs(bonus) > kLargestBonus) return absl::OutOfRangeError("a bonus exceeds 2^40");
    rounded.push_back(NearestInteger(bonus));
  }
  return rounded;
}

}  // namespace

absl::StatusOr<int64_t> QuantileRange(const UnitBound& unit, int64_t numerator, int64_t denominator) {
  if (denominator < 2 || denominator > kLargestQuantileDenominator || numerator < 1 ||
      numerator >= denominator) {
    return absl::InvalidArgumentError(
        absl::StrCat("a quantile must lie strictly between 0 and 1, with a denominator of at most ",
                     kLargestQuantileDenominator));
  }
  // Every record counts, so a unit must not own any number of them.
  RETURN_IF_ERROR(MarginalsSensitivity(unit, 1).status());
  return RangeOf(LatticeQuantile{numerator, denominator}, unit);
}

absl::StatusOr<LatticeUtility> ToLattice(const Utility& utility, std::span<const double> bonuses,
                                         const Domain& domain, const UnitBound& unit) {
  if (unit.max_records < 1) return absl::InvalidArgumentError("a unit must be allowed at least one record");
  ASSIGN_OR_RETURN(LatticeUtility lattice,
                   std::visit([&](const auto& kind) { return WithoutBonuses(kind, domain, unit); }, utility));
  ASSIGN_OR_RETURN(lattice.bonuses, RoundedBonuses(bonuses, lattice.candidates));
  lattice.range = std::max<int64_t>(1, lattice.range);  // candidates that are all alike
  return lattice;
}

namespace {

constexpr double kSteps = static_cast<double>(int64_t{1} << kUtilityLatticeBits);

int64_t NeighbourSides(const UnitBound& unit) {
  return unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
}

absl::Status CheckWidth(RecordWeights records, double width) {
  if (records == RecordWeights::kOne || (width > 0 && width <= kLargestClip)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the width that records' weights keep to must be above 0 and at most ", kLargestClip));
}

bool HasAGroupWithoutSpread(const GroupModel& model) {
  const auto* normal = std::get_if<NormalGroups>(&model);
  return normal == nullptr ||
         std::ranges::any_of(normal->betweens, [](double each) { return !(each >= kLeastInsideBetween); });
}

absl::Status CheckClip(const ClippedGroups& utility, const UnitBound& unit) {
  if (!(utility.clip > 0)) return absl::InvalidArgumentError("the clip must be above 0");
  if (utility.clip > kLargestClip)
    return absl::OutOfRangeError(absl::StrCat("the clip exceeds ", kLargestClip));
  if (utility.group == GroupWeight::kInside && HasAGroupWithoutSpread(utility.model)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a weight inside the integral needs the normal model with deviations between groups of "
                     "at least ",
                     kLeastInsideBetween));
  }
  if (utility.role == GroupRole::kAroundRecord && unit.max_records != 1)
    return absl::InvalidArgumentError("this query needs units of one record each");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<QuestionOnGroups> OnLattice(const ClippedGroups& utility, int64_t codes,
                                           const UnitBound& unit) {
  RETURN_IF_ERROR(CheckGroupModel(utility.model, codes));
  RETURN_IF_ERROR(CheckWidth(utility.records, utility.width));
  RETURN_IF_ERROR(CheckClip(utility, unit));
  const int64_t clip = std::llround(utility.clip * kSteps);
  if (clip < 1) return absl::InvalidArgumentError("the clip is below one step of the lattice");
  QuestionOnGroups question{.lattice = {.grid = GridOf(utility.model),
                                        .weights = {},
                                        .group = utility.group,
                                        .low = -clip,
                                        .role = utility.role},
                            .range = NeighbourSides(unit) * clip};
  if (utility.role == GroupRole::kAroundRecord) question.range *= 2;
  question.lattice.weights =
      WeightsOfCodes(question.lattice.grid, static_cast<size_t>(codes), utility.records, utility.width);
  return question;
}

absl::StatusOr<QuestionOnGroups> OnLattice(const RecordsInGroups& utility, int64_t codes,
                                           const UnitBound& unit) {
  RETURN_IF_ERROR(CheckGroupModel(utility.model, codes));
  RETURN_IF_ERROR(CheckWidth(utility.records, utility.width));
  if (unit.max_records != 1) return absl::InvalidArgumentError("this query needs units of one record each");
  QuestionOnGroups question{.lattice = {.grid = GridOf(utility.model),
                                        .weights = {},
                                        .group = GroupWeight::kOne,
                                        .low = std::nullopt,
                                        .role = GroupRole::kAroundRecord},
                            .range = 1};
  LatticeGroups& lattice = question.lattice;
  lattice.weights = WeightsOfCodes(lattice.grid, static_cast<size_t>(codes), utility.records, utility.width);
  const double spread = LargestSpread(lattice.grid, lattice.weights);
  if (!(spread <= kLargestClip)) {
    return absl::OutOfRangeError(absl::StrCat("one record could move the logarithm of a density by ", spread,
                                              ", more than ", kLargestClip,
                                              ": weigh records, or leave out "
                                              "small deviations within groups"));
  }
  const auto steps = static_cast<int64_t>(std::ceil(spread * kSteps));
  question.range = NeighbourSides(unit) * (steps + 4 * ErrorInSteps(lattice.grid));
  return question;
}

}  // namespace curator::dp
