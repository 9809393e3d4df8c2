#include "dp/sensitivity/sensitivity.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/sensitivity/max_sum.h"

namespace curator::dp {
namespace {

constexpr int64_t kMaxSensitivity = int64_t{1} << 53;

absl::Status CheckOwnsARecord(const UnitBound& unit) {
  if (unit.max_records >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError("a unit must be allowed at least one record");
}

absl::Status ValidateUnit(const UnitBound& unit) {
  RETURN_IF_ERROR(CheckOwnsARecord(unit));
  if (unit.max_records == kNoRecordBound) {
    return absl::FailedPreconditionError(
        "a unit of this dataset may own any number of records, so no number of records can be protected; "
        "only a dataset whose unit declares max_records can answer this");
  }
  if (unit.max_records > (int64_t{1} << 31)) {
    return absl::OutOfRangeError("a unit's record bound exceeds 2^31: its sensitivity cannot be counted");
  }
  return absl::OkStatus();
}

// The positive quotient in lowest terms, or INVALID_ARGUMENT when it does not fit or exceeds `limit`.
absl::StatusOr<Rational> NoiseParameter(Int128 numerator, Int128 denominator, int64_t limit,
                                        std::string_view field) {
  Int128 a = numerator;
  Int128 b = denominator;
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  numerator /= a;
  denominator /= a;
  if (numerator > static_cast<Int128>(limit) * denominator) {
    return InvalidField(
        field,
        "is too small for this request: the noise would exceed every answer; ask for less or spend more");
  }
  constexpr int64_t kFits = std::numeric_limits<int64_t>::max();
  if (numerator > kFits || denominator > kFits) {
    return InvalidField(
        field, "makes a noise parameter that cannot be held exactly; give fewer decimals or ask for less");
  }
  return Rational{static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)};
}

constexpr int64_t kSaturatedBound = int64_t{1} << 55;
constexpr int64_t kMostPairSteps = int64_t{1} << 22;

int64_t Saturated(Int128 value) {
  return value > kSaturatedBound ? kSaturatedBound : static_cast<int64_t>(value);
}

// What one record can add to the answers of all groups over one attribute set.
struct Weights {
  std::vector<int64_t> l1;          // for each cell: of its weights; saturated
  std::vector<int64_t> l2_squared;  // likewise
  Int128 spans = 0;                 // summed over queries
  Int128 spans_squared = 0;
  int64_t queries = 0;
  bool has_negative = false;
};

// The weights of a whole marginal: the same for every cell, so there is no table.
struct Whole {
  int64_t marginals = 0;
  int64_t pair_l1 = 0;  // by which a replaced record moves them
  int64_t pair_l2_squared = 0;
};

// All parities: every cell has the same absolute weight in each, so there are no tables.
struct ParityWeights {
  Int128 l1 = 0;
  Int128 l2_squared = 0;
};

struct Totals {
  std::map<AttributeSet, Weights> weights;
  Whole whole;
  ParityWeights parities;
  int64_t largest = 0;  // weight, in absolute value
  int64_t largest_span = 0;
};

Weights& WeightsOver(const Domain& domain, const AttributeSet& set, Totals& totals) {
  Weights& weights = totals.weights[set];
  if (weights.l1.empty()) {
    weights.l1.resize(static_cast<size_t>(domain.CellCount(set).value_or(0)));
    weights.l2_squared.resize(weights.l1.size());
  }
  return weights;
}

void Add(const Domain& domain, const AttributeSet& set, const Boxes& boxes, Totals& totals) {
  Weights& weights = WeightsOver(domain, set, totals);
  std::vector<int64_t> sizes;
  for (const uint32_t attribute : set) sizes.push_back(domain.attributes()[attribute].size());
  const std::vector<int64_t> cover = BoxCover(sizes, boxes.sides);
  for (size_t cell = 0; cell < cover.size(); ++cell) {
    weights.l1[cell] = Saturated(Int128{weights.l1[cell]} + cover[cell]);
    weights.l2_squared[cell] = Saturated(Int128{weights.l2_squared[cell]} + cover[cell]);
  }
  const auto queries = static_cast<int64_t>(boxes.sides.size() / set.size());
  weights.queries += queries;
  weights.spans += queries;
  weights.spans_squared += queries;
  totals.largest = std::max<int64_t>(totals.largest, 1);
  totals.largest_span = std::max<int64_t>(totals.largest_span, 1);
}

void Add(const Domain& domain, const AttributeSet& set, const std::vector<LinearQuery>& queries,
         Totals& totals) {
  Weights& weights = WeightsOver(domain, set, totals);
  for (const LinearQuery& query : queries) {
    int64_t least = 0;
    int64_t most = 0;
    for (const WeightedCell& term : query) {
      const int64_t weight = term.weight;
      least = std::min(least, weight);
      most = std::max(most, weight);
      weights.l1[term.cell] = Saturated(Int128{weights.l1[term.cell]} + std::abs(weight));
      weights.l2_squared[term.cell] = Saturated(Int128{weights.l2_squared[term.cell]} + weight * weight);
    }
    const int64_t span = most - least;
    weights.has_negative = weights.has_negative || least < 0;
    weights.spans += span;
    weights.spans_squared += static_cast<Int128>(span) * span;
    totals.largest = std::max({totals.largest, most, -least});
    totals.largest_span = std::max(totals.largest_span, span);
  }
  weights.queries += static_cast<int64_t>(queries.size());
}

// The same bounds as MarginalsSensitivity(), also for a marginal of one cell, in which replaced records stay:
// plans and draws are priced by either function, and must agree.
void AddWhole(Totals& totals) {
  ++totals.whole.marginals;
  totals.whole.pair_l1 += 2;
  totals.whole.pair_l2_squared += 2;
  totals.largest = std::max<int64_t>(totals.largest, 1);
  totals.largest_span = std::max<int64_t>(totals.largest_span, 1);
}

void Add(const Parity& parity, Totals& totals) {
  const Int128 weight = parity.weight;
  totals.parities.l1 += weight;
  totals.parities.l2_squared += weight * weight;
  totals.largest = std::max<int64_t>(totals.largest, parity.weight);
  totals.largest_span = std::max<int64_t>(totals.largest_span, 2 * int64_t{parity.weight});
}

Totals TotalsOf(const Domain& domain, std::span<const QueryGroup> groups) {
  Totals totals;
  std::map<AttributeSet, std::vector<const Boxes*>> boxes_over;
  for (const QueryGroup& group : groups) {
    if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      Add(domain, group.attributes, *queries, totals);
    } else if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
      boxes_over[group.attributes].push_back(boxes);
    } else if (const auto* parity = std::get_if<Parity>(&group.queries)) {
      Add(*parity, totals);
    } else {
      AddWhole(totals);
    }
  }
  // Each set's boxes at once: every Add() goes through all cells of the set.
  for (const auto& [set, all] : boxes_over) {
    if (all.size() == 1) {
      Add(domain, set, *all.front(), totals);
      continue;
    }
    Boxes together;
    for (const Boxes* boxes : all)
      together.sides.insert(together.sides.end(), boxes->sides.begin(), boxes->sides.end());
    Add(domain, set, together, totals);
  }
  return totals;
}

struct Norms {
  Int128 l1 = 0;
  Int128 l2_squared = 0;
};

// The norms of the weights of the worst record in all queries together.
Norms WorstRecord(const Domain& domain, Totals& totals) {
  std::vector<CellFunction> l1;
  std::vector<CellFunction> l2_squared;
  for (const auto& [set, weights] : totals.weights) {
    l1.push_back({set, weights.l1});
    l2_squared.push_back({set, weights.l2_squared});
  }
  return {totals.whole.marginals + totals.parities.l1 + LargestSum(domain, std::move(l1)),
          totals.whole.marginals + totals.parities.l2_squared + LargestSum(domain, std::move(l2_squared))};
}

// The norms by which the worst pair of records differs, bounded attribute set by attribute set.
Norms SetBySet(const Totals& totals) {
  Norms sum{totals.whole.pair_l1 + 2 * totals.parities.l1,
            totals.whole.pair_l2_squared + 4 * totals.parities.l2_squared};
  for (const auto& [set, weights] : totals.weights) {
    const Int128 l1 = *std::ranges::max_element(weights.l1);
    const Int128 l2_squared = *std::ranges::max_element(weights.l2_squared);
    sum.l1 += std::min(2 * l1, weights.spans);
    sum.l2_squared += std::min((weights.has_negative ? 4 : 2) * l2_squared, weights.spans_squared);
  }
  return sum;
}

// Whether `cells` cells of `queries` queries are compared pair by pair.
bool IsSmall(int64_t cells, int64_t queries) {
  if (queries > kMostPairSteps || cells > kMostPairSteps) return false;
  return (cells + 1) * queries <= kMostPairSteps / (cells + 1);
}

// The same boxes over fewer cells: neighbouring bins that no box distinguishes are one.
struct MergedBins {
  Domain domain;
  std::vector<QueryGroup> groups;
};

// For boxes that are all over one attribute set and few beside its cells; else none. Any two cells that
// become one have the same weights in every query, so nothing that is a maximum over cells changes.
absl::StatusOr<std::optional<MergedBins>> WithMergedBins(const Domain& domain,
                                                         std::span<const QueryGroup> groups) {
  constexpr int64_t kCellsPerSide = 4;
  const AttributeSet& set = groups.front().attributes;
  const int64_t cells = domain.CellCount(set).value_or(0);
  int64_t sides = 0;
  for (const QueryGroup& group : groups) {
    const auto* boxes = std::get_if<Boxes>(&group.queries);
    if (boxes == nullptr || group.attributes != set) return std::nullopt;
    sides += static_cast<int64_t>(boxes->sides.size());
    if (sides > cells / kCellsPerSide) return std::nullopt;
  }
  std::vector<std::vector<uint32_t>> firsts(set.size(), {0});  // of each merged bin
  for (const QueryGroup& group : groups) {
    const std::vector<CodeInterval>& all = std::get<Boxes>(group.queries).sides;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto size = static_cast<uint32_t>(domain.attributes()[set[i % set.size()]].size());
      firsts[i % set.size()].push_back(all[i].first);
      if (all[i].last + 1 < size) firsts[i % set.size()].push_back(all[i].last + 1);
    }
  }
  std::vector<Attribute> attributes;
  AttributeSet positions;
  for (std::vector<uint32_t>& of_axis : firsts) {
    std::ranges::sort(of_axis);
    of_axis.erase(std::unique(of_axis.begin(), of_axis.end()), of_axis.end());
    ASSIGN_OR_RETURN(Attribute attribute, Attribute::Create(absl::StrCat("axis ", attributes.size()),
                                                            CodedKind{static_cast<int64_t>(of_axis.size())}));
    positions.push_back(static_cast<uint32_t>(attributes.size()));
    attributes.push_back(std::move(attribute));
  }
  ASSIGN_OR_RETURN(Domain few, Domain::Create(std::move(attributes)));
  std::vector<QueryGroup> over_few;
  for (const QueryGroup& group : groups) {
    Boxes boxes = std::get<Boxes>(group.queries);
    for (size_t i = 0; i < boxes.sides.size(); ++i) {
      const std::vector<uint32_t>& of_axis = firsts[i % set.size()];
      const auto bin_of = [&](uint32_t code) {
        return static_cast<uint32_t>(std::ranges::upper_bound(of_axis, code) - of_axis.begin() - 1);
      };
      boxes.sides[i] = {bin_of(boxes.sides[i].first), bin_of(boxes.sides[i].last)};
    }
    over_few.push_back({positions, std::move(boxes)});
  }
  return MergedBins{std::move(few), std::move(over_few)};
}

// The largest difference between the weights of any two cells, or of one cell and no record, pair by pair.
Norms EveryPair(const Domain& domain, std::span<const QueryGroup> groups, const Weights& weights) {
  const auto cells = static_cast<int64_t>(weights.l1.size());
  std::vector<std::vector<int64_t>> rows(1, std::vector<int64_t>(static_cast<size_t>(weights.queries)));
  for (int64_t cell = 0; cell < cells; ++cell) {
    std::vector<int64_t> basis(static_cast<size_t>(cells));
    basis[static_cast<size_t>(cell)] = 1;
    std::vector<int64_t> row;
    for (const QueryGroup& group : groups) {
      const std::vector<int64_t> answers = AnswersFromCounts(domain, group, basis);
      row.insert(row.end(), answers.begin(), answers.end());
    }
    rows.push_back(std::move(row));
  }
  Norms worst;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      Norms pair;
      for (size_t query = 0; query < rows[i].size(); ++query) {
        const int64_t gap = rows[i][query] - rows[j][query];
        pair.l1 += std::abs(gap);
        pair.l2_squared += static_cast<Int128>(gap) * gap;
      }
      worst = {std::max(worst.l1, pair.l1), std::max(worst.l2_squared, pair.l2_squared)};
    }
  }
  return worst;
}

// Whether every pair is compared depends on `cells`, the number of cells before any were merged, so that
// merging changes no sensitivity.
absl::StatusOr<Sensitivity> SensitivityOf(const Domain& domain, const UnitBound& unit,
                                          std::span<const QueryGroup> groups, int64_t cells) {
  const bool replaces = unit.relation == NeighbourRelation::kReplaceOne;
  Totals totals = TotalsOf(domain, groups);
  Norms one = WorstRecord(domain, totals);
  if (replaces) {
    const bool has_parities = totals.parities.l1 > 0;
    const bool has_negative = has_parities || std::ranges::any_of(totals.weights, [](const auto& each) {
                                return each.second.has_negative;
                              });
    const Norms by_sets = SetBySet(totals);
    one = {std::min(2 * one.l1, by_sets.l1),
           std::min((has_negative ? 4 : 2) * one.l2_squared, by_sets.l2_squared)};
    const bool is_of_one_set = totals.weights.size() == 1 && totals.whole.marginals == 0 && !has_parities;
    if (is_of_one_set && IsSmall(cells, totals.weights.begin()->second.queries)) {
      const Norms pair = EveryPair(domain, groups, totals.weights.begin()->second);
      one = {std::min(one.l1, pair.l1), std::min(one.l2_squared, pair.l2_squared)};
    }
  }
  const Int128 m = unit.max_records;
  if (std::max(one.l1, one.l2_squared) <= kMaxSensitivity && m * m * one.l2_squared <= kMaxSensitivity &&
      m * one.l1 <= kMaxSensitivity) {
    return Sensitivity{.l1 = static_cast<int64_t>(m * one.l1),
                       .l2_squared = static_cast<int64_t>(m * m * one.l2_squared),
                       .linf = static_cast<int64_t>(m * (replaces ? totals.largest_span : totals.largest))};
  }
  return absl::OutOfRangeError("the sensitivity of these queries exceeds 2^53");
}

}  // namespace

absl::StatusOr<Sensitivity> MarginalsSensitivity(const UnitBound& unit, int64_t marginals) {
  if (absl::Status valid = ValidateUnit(unit); !valid.ok()) return valid;
  if (marginals < 1) return absl::InvalidArgumentError("there must be at least one marginal");
  const Int128 m = unit.max_records;
  const Int128 sides = unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
  const Int128 l1 = sides * m * marginals;
  const Int128 l2_squared = sides * m * m * marginals;
  if (marginals > kMaxSensitivity || l2_squared > kMaxSensitivity) {
    return absl::OutOfRangeError(absl::StrCat("the sensitivity of ", marginals,
                                              " marginals for units of at most ", unit.max_records,
                                              " records exceeds 2^53"));
  }
  return Sensitivity{.l1 = static_cast<int64_t>(l1),
                     .l2_squared = static_cast<int64_t>(l2_squared),
                     .linf = unit.max_records};
}

absl::StatusOr<Sensitivity> RecordCountSensitivity(const UnitBound& unit) {
  return MarginalsSensitivity({.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records},
                              1);
}

absl::StatusOr<Sensitivity> ErrorsSensitivity(const UnitBound& unit, int64_t candidates) {
  if (candidates < 1) return absl::InvalidArgumentError("there must be at least one error");
  ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(unit, 1));
  const Int128 each = one_marginal.l1;  // at most 2^32
  const Int128 l2_squared = each * each * candidates;
  if (candidates > kMaxSensitivity || l2_squared > kMaxSensitivity) {
    return absl::OutOfRangeError(absl::StrCat("the sensitivity of ", candidates,
                                              " errors for units of at most ", unit.max_records,
                                              " records exceeds 2^53"));
  }
  return Sensitivity{.l1 = one_marginal.l1 * candidates,
                     .l2_squared = static_cast<int64_t>(l2_squared),
                     .linf = one_marginal.l1};
}

absl::StatusOr<Sensitivity> QueriesSensitivity(const Domain& domain, const UnitBound& unit,
                                               std::span<const QueryGroup> groups) {
  RETURN_IF_ERROR(
      MarginalsSensitivity(unit, 1).status());  // the unit's record bound is one that can be counted with
  RETURN_IF_ERROR(ValidateQueries(domain, groups));
  ASSIGN_OR_RETURN(const std::optional<MergedBins> merged, WithMergedBins(domain, groups));
  const int64_t cells = domain.CellCount(groups.front().attributes).value_or(0);
  return merged ? SensitivityOf(merged->domain, unit, merged->groups, cells)
                : SensitivityOf(domain, unit, groups, cells);
}

absl::StatusOr<Sensitivity> SumsSensitivity(const UnitBound& unit, const SummandRange& range, int64_t sums) {
  RETURN_IF_ERROR(ValidateUnit(unit));
  if (sums < 1) return absl::InvalidArgumentError("there must be at least one sum");
  if (range.low > range.high || (range.low == 0 && range.high == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("records cannot add numbers from ", range.low, " to ", range.high));
  }
  const Int128 k = unit.max_records;
  const Int128 most = std::max(-Int128{range.low}, Int128{range.high});
  const Int128 width = std::max(Int128{range.high}, Int128{0}) - std::min(Int128{range.low}, Int128{0});
  const bool replaces = unit.relation == NeighbourRelation::kReplaceOne;
  const Int128 one_sum = replaces ? width : most;
  const bool in_two_sums = replaces && sums > 1;
  const Int128 l1 = k * (in_two_sums ? 2 * most : one_sum);
  // Beyond this width the square exceeds 2^62 by itself; up to it nothing below overflows.
  constexpr int64_t kLargest = int64_t{1} << 62;
  if (width <= int64_t{1} << 31) {
    const Int128 one_square = one_sum * one_sum;
    const Int128 l2_squared = k * k * (in_two_sums ? std::max(one_square, 2 * most * most) : one_square);
    if (l1 <= kLargest && l2_squared <= kLargest) {
      return Sensitivity{.l1 = static_cast<int64_t>(l1),
                         .l2_squared = static_cast<int64_t>(l2_squared),
                         .linf = static_cast<int64_t>(k * one_sum)};
    }
  }
  return absl::OutOfRangeError(absl::StrCat("the sensitivity of sums of numbers from ", range.low, " to ",
                                            range.high, " for units of at most ", unit.max_records,
                                            " records exceeds 2^62"));
}

absl::StatusOr<Sensitivity> UnitCountsSensitivity(const UnitBound& unit, int64_t groups) {
  RETURN_IF_ERROR(CheckOwnsARecord(unit));
  if (groups < 1) return absl::InvalidArgumentError("there must be at least one group");
  // Two units have a record in at most 2 k groups together; a bound above all groups does not matter.
  const int64_t records = std::min(unit.max_records, groups);
  const int64_t changed =
      std::min(groups, unit.relation == NeighbourRelation::kReplaceOne ? 2 * records : records);
  return Sensitivity{.l1 = changed, .l2_squared = changed, .linf = 1};
}

int64_t QuantileSelections(const UnitBound& unit, int64_t groups) {
  return unit.relation == NeighbourRelation::kReplaceOne && groups > 1 ? 2 : 1;
}

absl::Status CheckSizeBins(std::span<const int64_t> least_sizes) {
  const bool rises = std::ranges::adjacent_find(least_sizes, std::greater_equal<>()) == least_sizes.end();
  if (!least_sizes.empty() && least_sizes.size() <= size_t{1} << 16 && least_sizes.front() == 1 && rises)
    return absl::OkStatus();
  return absl::InvalidArgumentError("bins of group sizes must rise from 1, at most 65536 of them");
}

Sensitivity GroupSizesSensitivity(NeighbourRelation relation, GroupRole role, size_t bins) {
  if (bins == 1) return {.l1 = 1, .l2_squared = 1, .linf = 1};
  const bool replaces = relation == NeighbourRelation::kReplaceOne;
  if (role == GroupRole::kUnit) {
    return replaces ? Sensitivity{.l1 = 2, .l2_squared = 2, .linf = 1}
                    : Sensitivity{.l1 = 1, .l2_squared = 1, .linf = 1};
  }
  return replaces ? Sensitivity{.l1 = 4, .l2_squared = 8, .linf = 2}
                  : Sensitivity{.l1 = 2, .l2_squared = 2, .linf = 1};
}

absl::StatusOr<Sensitivity> GroupMarginalsSensitivity(NeighbourRelation relation, int64_t marginals) {
  return MarginalsSensitivity({.relation = relation, .max_records = 1}, marginals);
}

Event NoiseEvent(const NoiseSpec& noise, const Sensitivity& sensitivity) {
  if (noise.mechanism == Mechanism::kDiscreteLaplace) {
    return {DiscreteLaplaceEvent{
        .scale = noise.parameter, .l1_sensitivity = sensitivity.l1, .linf_sensitivity = sensitivity.linf}};
  }
  DiscreteGaussianEvent event{.sigma_squared = noise.parameter,
                              .l2_sensitivity_squared = sensitivity.l2_squared};
  const Int128 above = static_cast<Int128>(sensitivity.linf) + 1;
  if (above * above <= sensitivity.l2_squared) event.linf_sensitivity = sensitivity.linf;
  return {event};
}

absl::StatusOr<NoiseSpec> LaplaceNoiseFor(const Sensitivity& sensitivity, Epsilon epsilon) {
  if (epsilon.units() <= 0) return InvalidField("spend.epsilon", "must be greater than 0");
  auto scale = NoiseParameter(static_cast<Int128>(sensitivity.l1) * kEpsilonUnitsPerOne, epsilon.units(),
                              kMaxNoiseScale, "spend.epsilon");
  if (!scale.ok()) return scale.status();
  return NoiseSpec{.mechanism = Mechanism::kDiscreteLaplace, .parameter = *scale};
}

absl::StatusOr<NoiseSpec> GaussianNoiseFor(const Sensitivity& sensitivity, Rho rho) {
  if (rho.units() <= 0) return InvalidField("spend.rho", "must be greater than 0");
  auto variance = NoiseParameter(static_cast<Int128>(sensitivity.l2_squared) * kRhoUnitsPerOne,
                                 static_cast<Int128>(rho.units()) * 2, kMaxNoiseVariance, "spend.rho");
  if (!variance.ok()) return variance.status();
  return NoiseSpec{.mechanism = Mechanism::kDiscreteGaussian, .parameter = *variance};
}

}  // namespace curator::dp
