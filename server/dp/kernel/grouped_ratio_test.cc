// NoisySums, NoisyUnitCounts and SelectQuantiles: on all pairs of small neighbouring tables, the exact losses
// of their draws are at most what the meter takes, and some reach it; broken variants are caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "dp/accounting/rule.h"
#include "dp/kernel/grouped_draws.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/small_units.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/noise/drbg.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/testing/largest_change.h"

namespace curator::dp {
namespace {

const Domain& Table() {
  static const Domain domain = NumbersDomain();
  return domain;
}

constexpr Epsilon kOne(kEpsilonUnitsPerOne);
const std::vector<UnitBound> kUnits = {{NeighbourRelation::kAddRemove, 1},
                                       {NeighbourRelation::kAddRemove, 2},
                                       {NeighbourRelation::kReplaceOne, 1},
                                       {NeighbourRelation::kReplaceOne, 2}};

RecordGroups Everybody() {
  return GroupsBy(Table(), {}, {}, {}).value();
}
RecordGroups ByRegion() {
  return GroupsBy(Table(), {kRegionColumn}, {}, {}).value();
}
RecordGroups OfRegionOne() {
  return GroupsBy(Table(), {}, {kRegionColumn}, {1}).value();
}

SummedValue Number(SummedValue::Kind kind, uint32_t column, int64_t centre = 0) {
  return {.kind = kind, .column = column, .centre = centre};
}

// Ranges on both sides of 0, on one side of it, and away from it, in one sum and in several.
std::vector<GroupedSum> Sums() {
  using Kind = SummedValue::Kind;
  std::vector<GroupedSum> sums;
  for (const RecordGroups& groups : {Everybody(), ByRegion(), OfRegionOne()}) {
    for (const SummedValue& value :
         {SummedValue{}, Number(Kind::kOne, kBalanceColumn), Number(Kind::kValue, kBalanceColumn),
          Number(Kind::kValue, kBalanceColumn, 3), Number(Kind::kValue, kFarColumn),
          Number(Kind::kSquare, kBalanceColumn)})
      sums.push_back({.groups = groups, .blocks = std::nullopt, .value = value});
  }
  sums.push_back({.groups = Everybody(), .blocks = CodeBlocks{kBalanceColumn, 3}, .value = {}});
  sums.push_back({.groups = ByRegion(),
                  .blocks = CodeBlocks{kBalanceColumn, 2},
                  .value = Number(Kind::kValue, kBalanceColumn)});
  return sums;
}

// `values` far above and far below, coordinate by coordinate: where the loss of Laplace noise is largest.
std::vector<std::vector<int64_t>> FarValues(size_t count) {
  constexpr int64_t kFar = int64_t{1} << 40;
  std::vector<std::vector<int64_t>> all;
  for (size_t signs = 0; signs < size_t{1} << count; ++signs) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < count; ++i) values.push_back((signs >> i) % 2 == 0 ? kFar : -kFar);
    all.push_back(std::move(values));
  }
  return all;
}

struct Found {
  bool exceeds = false;
  bool reaches = false;

  void Compare(const Interval& loss, const Interval& price) {
    exceeds = exceeds || loss.CertainlyAbove(price) || (-loss).CertainlyAbove(price);
    reaches = reaches || !price.CertainlyAbove(Max(loss, -loss));
  }
};

// ln P of a draw on each table.
std::vector<Interval> LogProbabilities(const Draw& draw, const std::vector<SealedTableHandle>& tables,
                                       const UnitBound& unit) {
  std::vector<Interval> all;
  for (const SealedTableHandle& table : tables)
    all.push_back(LogProbability(draw, *table, Table(), unit).value());
  return all;
}

// Draws with the values that `draw_of` is given, on every pair of neighbours of `unit`.
template <typename DrawOf>
Found AuditValues(const UnitBound& unit, size_t count, const Interval& price, const DrawOf& draw_of) {
  Found found;
  for (const Units& others : {Units{}, Units{{{1, 4, 6, 1}}, {{0, 2, 5, 2}}}}) {
    const std::vector<SealedTableHandle> tables = ExtremeTables(others, unit.max_records);
    for (const std::vector<int64_t>& values : FarValues(count)) {
      const std::vector<Interval> on_table = LogProbabilities(draw_of(values), tables, unit);
      for (const auto& [one, other] : NeighboursAmong(tables.size(), unit.relation))
        found.Compare(on_table[one] - on_table[other], price);
    }
  }
  return found;
}

// Laplace noise whose scale is `l1`, so that it is sold for an epsilon of 1.
NoiseSpec SoldForOne(int64_t l1) {
  return {Mechanism::kDiscreteLaplace, {l1, 1}};
}

Found AuditSum(const UnitBound& unit, const GroupedSum& sum, int64_t l1) {
  return AuditValues(unit, static_cast<size_t>(NumberOfSums(Table(), sum)), Interval::Of(kOne),
                     [&](const std::vector<int64_t>& values) {
                       return SumsDraw{.sum = sum, .noise = SoldForOne(l1), .values = values};
                     });
}

Sensitivity SensitivityOf(const UnitBound& unit, const GroupedSum& sum) {
  return SumsSensitivity(unit, RangeOf(Table(), sum.value).value(), NumberOfSums(Table(), sum)).value();
}

TEST(ExactRatioOfSums, LosesWhatTheMeterTakesAndReachesIt) {
  for (const UnitBound& unit : {kUnits[0], kUnits[2]}) {
    for (const GroupedSum& sum : Sums()) {
      if (NumberOfSums(Table(), sum) > 3) continue;
      const Found found = AuditSum(unit, sum, SensitivityOf(unit, sum).l1);
      EXPECT_FALSE(found.exceeds);
      EXPECT_TRUE(found.reaches) << "the price is higher than it need be";
    }
  }
}

TEST(ExactRatioOfSums, OfPersonsLosesWhatTheMeterTakesAndReachesIt) {
  const std::vector<GroupedSum> sums = Sums();
  for (const UnitBound& unit : {kUnits[1], kUnits[3]}) {
    for (const size_t i : {2, 8, 10}) {
      const Found found = AuditSum(unit, sums[i], SensitivityOf(unit, sums[i]).l1);
      EXPECT_FALSE(found.exceeds) << i;
      EXPECT_TRUE(found.reaches) << i;
    }
  }
}

using Numbers = std::vector<int64_t>;
using NumbersOf = std::function<Numbers(const SealedTable&)>;

std::vector<Numbers> NumbersOfEach(const std::vector<SealedTableHandle>& tables,
                                   const NumbersOf& numbers_of) {
  std::vector<Numbers> all;
  for (const SealedTableHandle& table : tables) all.push_back(numbers_of(*table));
  return all;
}

// The exact numbers of neighbours: what noise of every kind has to cover.
Sensitivity LargestMove(const UnitBound& unit, const NumbersOf& numbers_of) {
  Sensitivity largest;
  const std::vector<Numbers> numbers =
      NumbersOfEach(ExtremeTables({{{1, 1, 1, 1}}, {{0, 4, 6, 0}}}, unit.max_records), numbers_of);
  for (const auto& [one, other] : NeighboursAmong(numbers.size(), unit.relation))
    largest = Largest(largest, ChangeBetween(numbers[one], numbers[other]));
  return largest;
}

TEST(ExactSums, MoveByTheirSensitivityInEveryNorm) {
  for (const UnitBound& unit : kUnits) {
    for (const GroupedSum& sum : Sums()) {
      if (sum.blocks && sum.value.column) continue;  // a block holds only some of the numbers
      EXPECT_EQ(
          LargestMove(unit, [&](const SealedTable& table) { return ExactSums(table, Table(), sum).value(); }),
          SensitivityOf(unit, sum));
    }
  }
}

TEST(ExactUnitCounts, MoveByTheirSensitivityInEveryNorm) {
  for (const UnitBound& unit : kUnits) {
    for (const RecordGroups& groups : {Everybody(), ByRegion(), OfRegionOne()}) {
      EXPECT_EQ(LargestMove(unit,
                            [&](const SealedTable& table) {
                              return ExactUnitCounts(table, Table(), groups).value();
                            }),
                UnitCountsSensitivity(unit, groups.groups).value());
    }
  }
}

TEST(ExactRatioOfSumsCanary, HighMinusLowInPlaceOfTheWidthWithZeroIsCaught) {
  // "far" has 7 to 9 steps; the record of the one group may lie in the other region.
  const GroupedSum far{.groups = OfRegionOne(),
                       .blocks = std::nullopt,
                       .value = Number(SummedValue::Kind::kValue, kFarColumn)};
  for (const UnitBound& unit : {kUnits[0], kUnits[2]}) EXPECT_TRUE(AuditSum(unit, far, 9 - 7).exceeds);
}

TEST(ExactRatioOfSumsCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  for (const GroupedSum& sum : {Sums()[2], Sums()[8]})
    EXPECT_TRUE(AuditSum(kUnits[2], sum, SensitivityOf(kUnits[0], sum).l1).exceeds);
}

TEST(ExactRatioOfSumsCanary, TheRecordsOfAPersonForgottenAreCaught) {
  for (const GroupedSum& sum : {Sums()[2], Sums()[8]}) {
    EXPECT_TRUE(AuditSum(kUnits[1], sum, SensitivityOf(kUnits[0], sum).l1).exceeds);
    EXPECT_TRUE(AuditSum(kUnits[3], sum, SensitivityOf(kUnits[2], sum).l1).exceeds);
  }
}

// The loss of Gaussian noise z on neighbours that differ by d is (d^2 + 2 z.d) / (2 sigma^2), at most
// rho + |z| sqrt(2 rho) / sigma; z is taken along d, where it is largest.
Found AuditGaussian(const UnitBound& unit, const GroupedSum& sum, int64_t l2_squared) {
  constexpr int64_t kSteps = 1000;
  // sigma^2 = 2, and the normalisers of the two tables are the same.
  const Interval rho = Interval(l2_squared) / Interval(4);
  Found found;
  const std::vector<SealedTableHandle> tables = ExtremeTables({}, unit.max_records);
  const std::vector<Numbers> sums =
      NumbersOfEach(tables, [&](const SealedTable& table) { return ExactSums(table, Table(), sum).value(); });
  for (const auto& [one, other] : NeighboursAmong(tables.size(), unit.relation)) {
    Interval loss(0);
    int64_t squared_noise = 0;
    for (size_t i = 0; i < sums[one].size(); ++i) {
      const int64_t z = -kSteps * (sums[other][i] - sums[one][i]);
      const int64_t value = sums[one][i] + z;
      const auto squared = [&](size_t table) {
        return Interval(value - sums[table][i]) * Interval(value - sums[table][i]);
      };
      loss = loss + (squared(other) - squared(one)) / Interval(4);
      squared_noise += z * z;
    }
    found.Compare(loss, rho + Sqrt(rho * Interval(squared_noise)));
  }
  return found;
}

TEST(ExactGaussianRatioOfSums, LosesNoMoreThanItsDistanceAllowsAndReachesIt) {
  for (const UnitBound& unit : kUnits) {
    for (const GroupedSum& sum : Sums()) {
      if (sum.blocks && sum.value.column) continue;
      const Found found = AuditGaussian(unit, sum, SensitivityOf(unit, sum).l2_squared);
      EXPECT_FALSE(found.exceeds);
      EXPECT_TRUE(found.reaches);
    }
  }
}

TEST(ExactGaussianRatioOfSumsCanary, TwiceTheSquareOfTheLargestNumberAloneIsCaught) {
  // The balance has -2 to 3 steps: 3 for -2 in one region moves its sum by 5, and 25 is above 2 * 9.
  const GroupedSum balance = Sums()[8];
  ASSERT_EQ(SensitivityOf(kUnits[2], balance).l2_squared, 25);
  EXPECT_TRUE(AuditGaussian(kUnits[2], balance, 2 * 9).exceeds);
  EXPECT_TRUE(AuditGaussian(kUnits[3], balance, 4 * 2 * 9).exceeds);
}

TEST(ExactGaussianRatioOfSumsCanary, TheSquareOfTheWidthAloneIsCaught) {
  // "far" has 9 steps at most: 9 leave one region and enter the other, 2 * 81.
  const GroupedSum far = Sums()[10];
  ASSERT_EQ(SensitivityOf(kUnits[2], far).l2_squared, 2 * 81);
  EXPECT_TRUE(AuditGaussian(kUnits[2], far, 81).exceeds);
}

Found AuditUnitCounts(const UnitBound& unit, const RecordGroups& groups, int64_t l1) {
  return AuditValues(unit, static_cast<size_t>(groups.groups), Interval::Of(kOne),
                     [&](const std::vector<int64_t>& values) {
                       return UnitCountsDraw{.groups = groups, .noise = SoldForOne(l1), .values = values};
                     });
}

TEST(ExactRatioOfUnitCounts, LosesWhatTheMeterTakesAndReachesIt) {
  for (const UnitBound& unit : kUnits) {
    for (const RecordGroups& groups : {Everybody(), ByRegion(), OfRegionOne()}) {
      const Found found = AuditUnitCounts(unit, groups, UnitCountsSensitivity(unit, groups.groups)->l1);
      EXPECT_FALSE(found.exceeds);
      EXPECT_TRUE(found.reaches);
    }
  }
}

TEST(ExactRatioOfUnitCountsCanary, OneUnitWhereTwoAreExchangedIsCaught) {
  EXPECT_TRUE(AuditUnitCounts(kUnits[2], ByRegion(), UnitCountsSensitivity(kUnits[0], 2)->l1).exceeds);
}

TEST(ExactRatioOfUnitCountsCanary, TheRecordsOfAPersonForgottenAreCaught) {
  EXPECT_TRUE(AuditUnitCounts(kUnits[1], ByRegion(), UnitCountsSensitivity(kUnits[0], 2)->l1).exceeds);
}

// Quantiles. What one pair of neighbours loses, group by group: of each code, in the group's own selection.

using Losses = std::vector<Interval>;

struct PairLosses {
  std::vector<Losses> of_group;
  std::vector<std::vector<double>> probabilities;  // of the first table
};

GroupedQuantile InGroup(const GroupedQuantile& quantile, int32_t group) {
  GroupedQuantile one = quantile;
  for (int32_t& each : one.groups.group_of_cell) each = each == group ? 0 : kInNoGroup;
  one.groups.groups = 1;
  return one;
}

// ln P of each code, group by group, on each table; `drawn` is the unit whose range is used, which is the
// dataset's own in the kernel.
using Codes = std::vector<Interval>;
std::vector<std::vector<Codes>> CodesOfTables(const GroupedQuantile& quantile,
                                              const std::vector<SealedTableHandle>& tables,
                                              const UnitBound& drawn) {
  std::vector<std::vector<Codes>> all(tables.size());
  for (int32_t group = 0; group < quantile.groups.groups; ++group) {
    for (std::vector<Codes>& of_table : all) of_table.emplace_back();
    for (int64_t code = 0; code < CodesOf(Table(), quantile.column); ++code) {
      const QuantilesDraw draw{.quantile = InGroup(quantile, group), .epsilon = kOne, .selected = {code}};
      const std::vector<Interval> on_table = LogProbabilities(draw, tables, drawn);
      for (size_t i = 0; i < tables.size(); ++i) all[i].back().push_back(on_table[i]);
    }
  }
  return all;
}

PairLosses LossesOf(const std::vector<Codes>& one, const std::vector<Codes>& other) {
  PairLosses losses;
  for (size_t group = 0; group < one.size(); ++group) {
    losses.of_group.emplace_back();
    losses.probabilities.emplace_back();
    for (size_t code = 0; code < one[group].size(); ++code) {
      losses.of_group.back().push_back(one[group][code] - other[group][code]);
      losses.probabilities.back().push_back(std::exp(one[group][code].Upper()));
    }
  }
  return losses;
}

// How far apart the losses of a group's codes are.
Interval SpanOf(const Losses& losses) {
  Interval most = losses.front();
  Interval least = losses.front();
  for (const Interval& loss : losses) {
    most = Max(most, loss);
    least = -Max(-least, -loss);
  }
  return most - least;
}

Interval LargestLoss(const Losses& losses) {
  Interval largest(0);
  for (const Interval& loss : losses) largest = Max(largest, Max(loss, -loss));
  return largest;
}

// Of a draw of all groups, which are independent: sum over groups of
// ln(sum of P exp((order - 1) loss)) / (order - 1).
double RenyiDivergence(const PairLosses& losses, double order) {
  double sum = 0;
  for (size_t group = 0; group < losses.of_group.size(); ++group) {
    double moment = 0;
    for (size_t code = 0; code < losses.of_group[group].size(); ++code)
      moment +=
          losses.probabilities[group][code] * std::exp((order - 1) * losses.of_group[group][code].Upper());
    sum += std::log(moment) / (order - 1);
  }
  return sum;
}

struct QuantileFound {
  bool loss_exceeds = false;        // of the draw of all groups, epsilon for each selection that is paid
  bool one_span_exceeds = false;    // of some group, epsilon
  bool all_spans_exceed = false;    // of all groups together, epsilon
  bool divergence_exceeds = false;  // alpha rho of the selections that are paid
  double largest_span = 0;          // of all groups together
};

constexpr double kOrders[] = {1.01, 1.5, 2, 4, 16, 64};

double RhoOf(Epsilon epsilon) {
  const RuleSpec zcdp{
      .kind = RuleKind::kZcdp, .epsilon = kOne, .delta = Delta(1), .order = {}, .delta_slack = {}};
  const auto cost = CostOf(zcdp, {ExponentialMechanismEvent{epsilon}}).value();
  return static_cast<double>(cost[0].amount) / static_cast<double>(kRhoUnitsPerOne);
}

QuantileFound AuditQuantile(const UnitBound& unit, const GroupedQuantile& quantile, const UnitBound& drawn,
                            int64_t paid) {
  const Interval epsilon = Interval::Of(kOne);
  const double rho = RhoOf(kOne);
  QuantileFound found;
  // Where ten records of a region have the code 1, all others are far from the quantile.
  Units crowd(10, UnitRecords{{0, 0, 1, 0}, {1, 0, 1, 0}});
  for (const Units& others : {Units{}, Units{{{0, 0, 0, 0}}, {{0, 0, 5, 0}}, {{1, 0, 2, 0}}}, crowd}) {
    const std::vector<SealedTableHandle> tables = ExtremeTables(others, unit.max_records);
    const std::vector<std::vector<Codes>> codes = CodesOfTables(quantile, tables, drawn);
    for (const auto& [one, other] : NeighboursAmong(tables.size(), unit.relation)) {
      const PairLosses losses = LossesOf(codes[one], codes[other]);
      Interval loss(0);
      Interval spans(0);
      for (const Losses& of_group : losses.of_group) {
        loss = loss + LargestLoss(of_group);
        spans = spans + SpanOf(of_group);
        found.one_span_exceeds = found.one_span_exceeds || SpanOf(of_group).CertainlyAbove(epsilon);
      }
      found.loss_exceeds = found.loss_exceeds || loss.CertainlyAbove(Interval(paid) * epsilon);
      found.all_spans_exceed = found.all_spans_exceed || spans.CertainlyAbove(epsilon);
      found.largest_span = std::max(found.largest_span, spans.Upper());
      for (const double order : kOrders) {
        const double price = order * rho * static_cast<double>(paid);
        found.divergence_exceeds =
            found.divergence_exceeds || RenyiDivergence(losses, order) > price * (1 + 1e-9);
      }
    }
  }
  return found;
}

QuantileFound AuditQuantile(const UnitBound& unit, const GroupedQuantile& quantile) {
  return AuditQuantile(unit, quantile, unit, QuantileSelections(unit, quantile.groups.groups));
}

GroupedQuantile Quantile(RecordGroups groups, int64_t numerator = 1, int64_t denominator = 2) {
  return {.groups = std::move(groups),
          .column = kBalanceColumn,
          .numerator = numerator,
          .denominator = denominator};
}

TEST(ExactRatioOfQuantiles, OfAllGroupsIsOneSelectionWhereUnitsEnterOrLeave) {
  for (const UnitBound& unit : {kUnits[0], kUnits[1]}) {
    for (const GroupedQuantile& quantile : {Quantile(ByRegion()), Quantile(ByRegion(), 9, 10),
                                            Quantile(Everybody()), Quantile(OfRegionOne(), 1, 4)}) {
      const QuantileFound found = AuditQuantile(unit, quantile);
      EXPECT_FALSE(found.all_spans_exceed) << "the draw of all groups has a bounded range";
      EXPECT_FALSE(found.loss_exceeds);
      EXPECT_FALSE(found.divergence_exceeds);
      EXPECT_GT(found.largest_span, 0.99) << "the price is higher than it need be";
    }
  }
}

TEST(ExactRatioOfQuantiles, OfOneGroupIsOneSelectionAlsoWhereUnitsAreReplaced) {
  for (const UnitBound& unit : {kUnits[2], kUnits[3]}) {
    for (const GroupedQuantile& quantile :
         {Quantile(Everybody()), Quantile(OfRegionOne()), Quantile(Everybody(), 1, 10)}) {
      const QuantileFound found = AuditQuantile(unit, quantile);
      EXPECT_FALSE(found.all_spans_exceed);
      EXPECT_FALSE(found.loss_exceeds);
      EXPECT_FALSE(found.divergence_exceeds);
      EXPECT_GT(found.largest_span, 0.99);
    }
  }
}

TEST(ExactRatioOfQuantiles, OfSeveralGroupsIsTwoSelectionsWhereUnitsAreReplaced) {
  for (const UnitBound& unit : {kUnits[2], kUnits[3]}) {
    for (const GroupedQuantile& quantile : {Quantile(ByRegion()), Quantile(ByRegion(), 9, 10)}) {
      const QuantileFound found = AuditQuantile(unit, quantile);
      EXPECT_FALSE(found.one_span_exceeds) << "each of two groups is one selection";
      EXPECT_FALSE(found.loss_exceeds);
      EXPECT_FALSE(found.divergence_exceeds);
      EXPECT_GT(found.largest_span, 0.99);
    }
  }
}

TEST(ExactRatioOfQuantilesCanary, OneSelectionForSeveralGroupsUnderReplacementIsCaught) {
  EXPECT_TRUE(AuditQuantile(kUnits[2], Quantile(ByRegion(), 9, 10), kUnits[2], 1).all_spans_exceed);
  EXPECT_TRUE(AuditQuantile(kUnits[2], Quantile(ByRegion(), 9, 10), kUnits[2], 1).loss_exceeds);
}

// A record that is replaced within its group moves scores by twice what one that only enters does, and the
// divergence by four times.
TEST(ExactRatioOfQuantilesCanary, TheAddRemoveRangeUsedUnderReplacementIsCaught) {
  const QuantileFound several = AuditQuantile(kUnits[2], Quantile(ByRegion()), kUnits[0], 2);
  EXPECT_TRUE(several.one_span_exceeds);
  EXPECT_TRUE(several.divergence_exceeds);
  EXPECT_TRUE(AuditQuantile(kUnits[2], Quantile(Everybody()), kUnits[0], 1).loss_exceeds);
}

TEST(ExactRatioOfQuantilesCanary, TheRecordsOfAPersonForgottenAreCaught) {
  EXPECT_TRUE(AuditQuantile(kUnits[1], Quantile(ByRegion()), kUnits[0], 1).all_spans_exceed);
  EXPECT_TRUE(AuditQuantile(kUnits[3], Quantile(ByRegion()), kUnits[2], 2).one_span_exceeds);
}

}  // namespace
}  // namespace curator::dp
