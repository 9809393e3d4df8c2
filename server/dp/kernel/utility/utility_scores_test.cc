#include "dp/kernel/utility/utility_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/utility/testing_units.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

constexpr int64_t kStep = int64_t{1} << kUtilityLatticeBits;

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

// One question of each kind, with numbers that clip some units and not others.
const ClippedSum kSum{.attributes = {0, 1},
                      .values = {{0, 1, 2, 3, 4, 5}, {5, 1, 0, -1, 0, -5}, {0, 0, 0, 0, 0, 0}},
                      .low = -2,
                      .high = 4};
const ClippedLogLikelihood kLikelihood{
    .attributes = {1},
    .log_probabilities = {{std::log(0.5), std::log(0.25), std::log(0.25)},
                          {std::log(0.01), std::log(0.98), std::log(0.01)},
                          {0, -std::numeric_limits<double>::infinity(), -700}},
    .clip = 3};
const CellFrequency kFrequency{.attributes = {0, 1}, .most_per_unit = 2};
const QuantileValue kQuantile{.attribute = 1, .numerator = 1, .denominator = 4};
const ClippedGroups kNormal{.attribute = 1,
                            .model = NormalGroups{.values = {-1, 0.5, 4},
                                                  .low = -2,
                                                  .high = 4,
                                                  .means = {-2, 0, 3},
                                                  .betweens = {0.5, 1},
                                                  .withins = {0.2, 1, 5}},
                            .clip = 2.5};
const std::vector<Utility> kAll = {kSum, kLikelihood, kFrequency, kQuantile, kNormal};

std::vector<int64_t> Scores(const Utility& utility, const SealedTableHandle& table, const UnitBound& unit) {
  return ScoresOf(ToLattice(utility, {}, Questions(), unit).value(), *table, Questions()).value();
}

constexpr UnitBound kPerson{NeighbourRelation::kAddRemove, 3};
constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};

TEST(UtilityScores, OfAClippedSumClipWholeUnitsAndNotTheirRecords) {
  const SealedTableHandle table = SealUnits(Questions(), {{{1, 2}, {1, 2}, {0, 0}}, {{0, 1}}});
  // Candidate 0: 5 + 5 + 0 clipped to 4, plus 1; candidate 1: -5 - 5 + 5 clipped to -2, plus 1.
  EXPECT_EQ(Scores(kSum, table, kPerson), (std::vector<int64_t>{5 * kStep, -1 * kStep, 0}));
}

TEST(UtilityScores, OfALogLikelihoodAreRelativeToTheBestCandidateOfEachUnit) {
  const SealedTableHandle table = SealUnits(Questions(), {{{0, 0}, {1, 0}}, {{0, 1}}});
  const std::vector<int64_t> scores = Scores(kLikelihood, table, kPerson);
  // Unit 0 likes candidate 2 best; unit 1 candidate 1, and finds candidate 2 impossible.
  EXPECT_EQ(scores[2], -3 * kStep);
  EXPECT_NEAR(static_cast<double>(scores[0]) / kStep, 2 * std::log(0.5) + std::log(0.25 / 0.98), 1e-5);
  EXPECT_NEAR(static_cast<double>(scores[1]) / kStep, -3, 1e-5);
}

TEST(UtilityScores, OfAFrequencyCountNoMoreOfAUnitThanItsCap) {
  const SealedTableHandle table = SealUnits(Questions(), {{{0, 0}, {0, 0}, {0, 0}}, {{0, 0}, {1, 1}}});
  EXPECT_EQ(Scores(kFrequency, table, kPerson), (std::vector<int64_t>{3 * kStep, 0, 0, 0, kStep, 0}));
}

TEST(UtilityScores, OfAQuantileAreZeroWhereItLiesAndFallAwayFromIt) {
  std::vector<std::vector<uint32_t>> rows(2, {0, 0});
  rows.resize(10, {0, 1});
  rows.resize(12, {0, 2});
  const SealedTableHandle table = SealRows(Questions(), rows).value();
  // n = 12, a quarter of them 3: of value 0 there are 2, one too few; value 2 begins at 10, seven too many.
  EXPECT_EQ(Scores(kQuantile, table, kRecord), (std::vector<int64_t>{-4 * kStep, 0, -28 * kStep}));
}

TEST(UtilityScores, AddBonuses) {
  const std::vector<double> bonuses = {0.5, -1, 0};
  const SealedTableHandle empty = SealUnits(Questions(), {});
  EXPECT_EQ(ScoresOf(ToLattice(kSum, bonuses, Questions(), kPerson).value(), *empty, Questions()).value(),
            (std::vector<int64_t>{kStep / 2, -kStep, 0}));
}

TEST(UtilityScores, AreTheSameForUnitsOfOneRecordAndForRecordsByThemselves) {
  std::mt19937_64 random(3);
  Units units;
  std::vector<std::vector<uint32_t>> rows;
  while (rows.size() < 50) {
    units.push_back(RandomUnit(Questions(), 1, random));
    if (!units.back().empty()) rows.push_back(units.back()[0]);
  }
  const SealedTableHandle grouped = SealUnits(Questions(), units);
  const SealedTableHandle plain = SealRows(Questions(), rows).value();
  for (const Utility& utility : kAll)
    EXPECT_EQ(Scores(utility, grouped, kRecord), Scores(utility, plain, kRecord));
}

TEST(UtilityScores, AreRefusedWhereRecordsOfAUnitCannotBeBroughtTogether) {
  const SealedTableHandle plain = SealRows(Questions(), {{0, 0}}).value();
  const SealedTableHandle grouped = SealUnits(Questions(), {{{0, 0}}});
  for (const Utility& utility : {Utility(kSum), Utility(kLikelihood), Utility(kFrequency)}) {
    const LatticeUtility lattice = ToLattice(utility, {}, Questions(), kPerson).value();
    EXPECT_EQ(CheckGrouping(lattice, *plain, kPerson).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(CheckGrouping(lattice, *plain, kRecord).ok());
    EXPECT_TRUE(CheckGrouping(lattice, *grouped, kPerson).ok());
  }
}

TEST(UtilityScores, AreRefusedForATableOfAnotherDomain) {
  const Domain other = CodedDomain({3, 2});
  for (const SealedTableHandle& table : {SealUnits(other, {}), SealRows(other, {}).value()}) {
    const LatticeUtility lattice = ToLattice(kSum, {}, Questions(), kRecord).value();
    EXPECT_EQ(ScoresOf(lattice, *table, Questions()).status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST(UtilityScores, StayWithin64BitsAtTheLargestPublicNumbers) {
  const Domain domain = CodedDomain({2});
  const ClippedSum extreme{
      .attributes = {0}, .values = {{1e300, -1e300}, {-1e300, 1e300}}, .low = -1024, .high = 1024};
  const std::vector<double> bonuses = {kLargestBonus, -kLargestBonus};
  const UnitBound unit{NeighbourRelation::kReplaceOne, kMaxRecordsPerUnit};
  const LatticeUtility lattice = ToLattice(extreme, bonuses, domain, unit).value();
  const SealedTableHandle table = SealUnits(domain, Units(3, UnitRecords(1000, std::vector<uint32_t>{0})));
  EXPECT_EQ(
      ScoresOf(lattice, *table, domain).value(),
      (std::vector<int64_t>{(int64_t{1} << 60) + 3 * 1024 * kStep, -(int64_t{1} << 60) - 3 * 1024 * kStep}));
}

// How far apart one unit moves two scores, beyond `range`; and whether it moves some exactly that far.
struct Finding {
  bool exceeds = false;
  bool reaches = false;
};

template <typename ScoresOfUnits>
Finding Compare(const UnitBound& unit, int64_t range, const ScoresOfUnits& scores_of) {
  Finding finding;
  for (const NeighbouringUnits& pair : NeighboursInOneUnit(Questions(), unit, 300, 5)) {
    const std::vector<int64_t> one = scores_of(pair.one);
    const std::vector<int64_t> other = scores_of(pair.other);
    std::vector<int64_t> change;
    for (size_t j = 0; j < one.size(); ++j) change.push_back(one[j] - other[j]);
    const auto [least, most] = std::minmax_element(change.begin(), change.end());
    finding.exceeds = finding.exceeds || *most - *least > range;
    finding.reaches = finding.reaches || *most - *least == range;
  }
  return finding;
}

Finding CompareKind(const Utility& utility, const UnitBound& unit) {
  return Compare(unit, ToLattice(utility, {}, Questions(), unit).value().range,
                 [&](const Units& units) { return Scores(utility, SealUnits(Questions(), units), unit); });
}

TEST(UtilityScores, OfNeighboursMoveApartByAtMostTheRange) {
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    for (const int64_t most : {1, 2, 5}) {
      for (const Utility& utility : kAll)
        EXPECT_FALSE(CompareKind(utility, {relation, most}).exceeds) << utility.index() << " of " << most;
    }
  }
}

TEST(UtilityScores, OfNeighboursReachTheRange) {
  for (const int64_t most : {1, 5}) {
    EXPECT_TRUE(CompareKind(kFrequency, {NeighbourRelation::kAddRemove, most}).reaches) << most;
    EXPECT_TRUE(CompareKind(kLikelihood, {NeighbourRelation::kAddRemove, most}).reaches) << most;
    EXPECT_TRUE(CompareKind(kFrequency, {NeighbourRelation::kReplaceOne, most}).reaches) << most;
    EXPECT_TRUE(CompareKind(kNormal, {NeighbourRelation::kAddRemove, most}).reaches) << most;
  }
  EXPECT_TRUE(CompareKind(kSum, {NeighbourRelation::kAddRemove, 5}).reaches);
}

// One more record of value 0: the quantile lies in value 2, value 1 misses it by less and value 3 by more.
TEST(UtilityScores, OfAQuantileReachTheRangeOnBothSidesOfIt) {
  const Domain domain = CodedDomain({5});
  const QuantileValue quantile{0, 1, 4};
  const LatticeUtility lattice = ToLattice(quantile, {}, domain, kRecord).value();
  std::vector<std::vector<uint32_t>> rows(100, {2});
  rows.resize(120, {4});
  const auto before = ScoresOf(lattice, *SealRows(domain, rows).value(), domain).value();
  rows.push_back({0});
  const auto after = ScoresOf(lattice, *SealRows(domain, rows).value(), domain).value();
  EXPECT_EQ((after[1] - before[1]) - (after[3] - before[3]), lattice.range);
}

TEST(UtilityScoresCanary, AnUnclippedLikelihoodIsCaught) {
  const UnitBound unit{NeighbourRelation::kAddRemove, 1};
  const int64_t range = ToLattice(kLikelihood, {}, Questions(), unit).value().range;
  EXPECT_TRUE(Compare(unit, range, [&](const Units& units) {
                std::vector<int64_t> scores(3);
                for (const UnitRecords& records : units) {
                  for (const auto& record : records) {
                    for (size_t j = 0; j < 3; ++j)
                      scores[j] +=
                          std::llround(std::max(-700.0, kLikelihood.log_probabilities[j][record[1]]) * kStep);
                  }
                }
                return scores;
              }).exceeds);
}

TEST(UtilityScoresCanary, GroupingIgnoredIsCaught) {
  const UnitBound unit{NeighbourRelation::kAddRemove, 5};
  for (const Utility& utility :
       {Utility(kSum), Utility(kLikelihood), Utility(kFrequency), Utility(kNormal)}) {
    const LatticeUtility lattice = ToLattice(utility, {}, Questions(), unit).value();
    EXPECT_TRUE(Compare(unit, lattice.range,
                        [&](const Units& units) {
                          std::vector<std::vector<uint32_t>> rows;  // each of them clipped by itself
                          for (const UnitRecords& records : units)
                            rows.insert(rows.end(), records.begin(), records.end());
                          return ScoresOf(lattice, *SealRows(Questions(), rows).value(), Questions()).value();
                        })
                    .exceeds)
        << utility.index();
  }
}

TEST(UtilityScoresCanary, AddRemoveRangeUsedUnderReplacementIsCaught) {
  for (const Utility& utility : {Utility(kSum), Utility(kFrequency), Utility(kQuantile)}) {
    const int64_t too_small =
        ToLattice(utility, {}, Questions(), {NeighbourRelation::kAddRemove, 2}).value().range;
    EXPECT_TRUE(
        Compare({NeighbourRelation::kReplaceOne, 2}, too_small,
                [&](const Units& units) {
                  return Scores(utility, SealUnits(Questions(), units), {NeighbourRelation::kReplaceOne, 2});
                })
            .exceeds)
        << utility.index();
  }
}

}  // namespace
}  // namespace curator::dp
