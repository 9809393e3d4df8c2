// What one unit can move sums over disjoint groups and counts of units by: held against all neighbours of
// small tables, and against random neighbours of larger ones.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/testing/largest_change.h"

namespace curator::dp {
namespace {

// A record adds `number` to the sum of `group`; to none where that is -1.
struct Record {
  int64_t group = 0;
  int64_t number = 0;
};
using Unit = std::vector<Record>;

std::vector<int64_t> SumsOf(const Unit& unit, int64_t sums) {
  std::vector<int64_t> values(static_cast<size_t>(sums));
  for (const Record& record : unit) {
    if (record.group >= 0) values[static_cast<size_t>(record.group)] += record.number;
  }
  return values;
}

std::vector<int64_t> GroupsOf(const Unit& unit, int64_t groups) {
  std::vector<int64_t> values(static_cast<size_t>(groups));
  for (const Record& record : unit) {
    if (record.group >= 0) values[static_cast<size_t>(record.group)] = 1;
  }
  return values;
}

// Units of at most `most` records whose numbers are the ends of the range or 0, in each group or in none.
std::vector<Unit> AllUnits(const SummandRange& range, int64_t groups, int64_t most) {
  std::vector<Record> records;
  for (int64_t group = -1; group < groups; ++group) {
    for (const int64_t number : {range.low, range.high, int64_t{0}}) records.push_back({group, number});
  }
  std::vector<Unit> units = {{}};
  size_t start = 0;
  for (int64_t size = 1; size <= most; ++size) {
    const size_t end = units.size();
    for (size_t i = start; i < end; ++i) {
      for (const Record& record : records) {
        Unit longer = units[i];
        longer.push_back(record);
        units.push_back(std::move(longer));
      }
    }
    start = end;
  }
  return units;
}

Sensitivity WorstSums(const UnitBound& unit, const SummandRange& range, int64_t sums) {
  return LargestChange(AllUnits(range, sums, unit.max_records), unit.relation,
                       [&](const Unit& each) { return SumsOf(each, sums); });
}

Sensitivity WorstUnitCounts(const UnitBound& unit, int64_t groups) {
  return LargestChange(AllUnits({0, 0}, groups, unit.max_records), unit.relation,
                       [&](const Unit& each) { return GroupsOf(each, groups); });
}

const std::vector<SummandRange> kRanges = {{0, 5},  {-5, 0}, {3, 5},  {-5, -3},
                                           {-2, 3}, {-5, 5}, {-1, 5}, {1, 1}};
const std::vector<UnitBound> kUnits = {{NeighbourRelation::kAddRemove, 1},
                                       {NeighbourRelation::kAddRemove, 2},
                                       {NeighbourRelation::kReplaceOne, 1},
                                       {NeighbourRelation::kReplaceOne, 2}};

TEST(SumsSensitivity, IsTheLargestChangeOverAllNeighbours) {
  for (const UnitBound& unit : kUnits) {
    for (const SummandRange& range : kRanges) {
      for (const int64_t sums : {1, 2, 3}) {
        EXPECT_EQ(SumsSensitivity(unit, range, sums).value(), WorstSums(unit, range, sums))
            << unit.max_records << ": " << range.low << ".." << range.high << " in " << sums;
      }
    }
  }
}

TEST(SumsSensitivity, OfOnesIsThatOfAMarginal) {
  for (const UnitBound& unit : kUnits)
    EXPECT_EQ(SumsSensitivity(unit, {1, 1}, 5).value(), MarginalsSensitivity(unit, 1).value());
}

struct Apart {
  Sensitivity bound;
  bool exceeds = false;

  void Compare(const std::vector<int64_t>& one, const std::vector<int64_t>& other) {
    exceeds = exceeds || Largest(bound, ChangeBetween(one, other)) != bound;
  }
};

Unit RandomUnit(const SummandRange& range, int64_t groups, int64_t most, std::mt19937_64& random) {
  Unit unit(random() % static_cast<uint64_t>(most + 1));
  // Half of the units lie in one group at one end of the range: what moves a sum most.
  const bool is_alike = random() % 2 == 0;
  const auto drawn = [&]() -> Record {
    const auto group = static_cast<int64_t>(random() % static_cast<uint64_t>(groups + 1)) - 1;
    if (random() % 2 == 0) return {group, random() % 2 == 0 ? range.low : range.high};
    return {group,
            range.low + static_cast<int64_t>(random() % static_cast<uint64_t>(range.high - range.low + 1))};
  };
  const Record first = drawn();
  for (Record& record : unit) record = is_alike ? first : drawn();
  return unit;
}

TEST(SumsSensitivity, IsNeverExceededByRandomNeighbours) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const int64_t low = static_cast<int64_t>(random() % 41) - 20;
    const SummandRange range{low, low + 1 + static_cast<int64_t>(random() % 30)};
    const auto groups = static_cast<int64_t>(1 + random() % 6);
    const auto most = static_cast<int64_t>(1 + random() % 7);
    for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
      const UnitBound unit{relation, most};
      Apart sums{.bound = SumsSensitivity(unit, range, groups).value()};
      Apart units{.bound = UnitCountsSensitivity(unit, groups).value()};
      for (int pair = 0; pair < 60; ++pair) {
        const Unit before =
            relation == NeighbourRelation::kReplaceOne ? RandomUnit(range, groups, most, random) : Unit();
        const Unit after = RandomUnit(range, groups, most, random);
        sums.Compare(SumsOf(before, groups), SumsOf(after, groups));
        units.Compare(GroupsOf(before, groups), GroupsOf(after, groups));
      }
      EXPECT_FALSE(sums.exceeds) << round;
      EXPECT_FALSE(units.exceeds) << round;
    }
  }
}

// Whether `claimed` is too little for some neighbours.
bool IsCaught(const Sensitivity& claimed, const Sensitivity& worst) {
  return claimed.l1 < worst.l1 || claimed.l2_squared < worst.l2_squared || claimed.linf < worst.linf;
}

constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};

TEST(SumsSensitivityCanary, HighMinusLowInPlaceOfTheWidthWithZeroIsCaught) {
  // Numbers from 3 to 5: a record that leaves the group takes 5 with it, not 2.
  const Sensitivity high_minus_low{.l1 = 2, .l2_squared = 4, .linf = 2};
  EXPECT_TRUE(IsCaught(high_minus_low, WorstSums(kReplaced, {3, 5}, 1)));
  EXPECT_TRUE(IsCaught(high_minus_low, WorstSums({NeighbourRelation::kAddRemove, 1}, {3, 5}, 1)));
}

TEST(SumsSensitivityCanary, TwiceTheSquareOfTheLargestNumberAloneIsCaught) {
  // Numbers from -5 to 5 in one of several sums: 5 for -5 moves it by 10.
  Sensitivity two_squares = SumsSensitivity(kReplaced, {-5, 5}, 3).value();
  two_squares.l2_squared = 2 * 25;
  EXPECT_TRUE(IsCaught(two_squares, WorstSums(kReplaced, {-5, 5}, 3)));
}

TEST(SumsSensitivityCanary, TheSquareOfTheWidthAloneIsCaught) {
  // Numbers from 0 to 5: 5 leaves one sum and enters another.
  Sensitivity width = SumsSensitivity(kReplaced, {0, 5}, 3).value();
  width.l2_squared = 25;
  EXPECT_TRUE(IsCaught(width, WorstSums(kReplaced, {0, 5}, 3)));
}

TEST(SumsSensitivityCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  const Sensitivity broken = SumsSensitivity({NeighbourRelation::kAddRemove, 1}, {0, 5}, 2).value();
  EXPECT_TRUE(IsCaught(broken, WorstSums(kReplaced, {0, 5}, 2)));
}

TEST(SumsSensitivityCanary, TheRecordsOfAUnitForgottenAreCaught) {
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    for (const int64_t sums : {1, 3}) {
      const Sensitivity one_record = SumsSensitivity({relation, 1}, {-2, 3}, sums).value();
      EXPECT_TRUE(IsCaught(one_record, WorstSums({relation, 2}, {-2, 3}, sums)));
    }
  }
}

TEST(SumsSensitivity, RefusesWhatItCannotBound) {
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  EXPECT_EQ(SumsSensitivity(record, {0, 5}, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SumsSensitivity(record, {5, 4}, 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SumsSensitivity(record, {0, 0}, 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SumsSensitivity({NeighbourRelation::kAddRemove, kNoRecordBound}, {0, 5}, 1).status().code(),
            absl::StatusCode::kFailedPrecondition);
  for (const SummandRange& range :
       {SummandRange{INT64_MIN, INT64_MAX}, {0, int64_t{1} << 32}, {INT64_MIN, 0}})
    EXPECT_EQ(SumsSensitivity(record, range, 2).status().code(), absl::StatusCode::kOutOfRange);
  const UnitBound many{NeighbourRelation::kReplaceOne, int64_t{1} << 31};
  EXPECT_EQ(SumsSensitivity(many, {-(int64_t{1} << 30), int64_t{1} << 30}, 2).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST(SumsSensitivity, OfTheLargestNumbersFits) {
  const UnitBound unit{NeighbourRelation::kReplaceOne, 1000};
  const int64_t most = int64_t{1} << 20;
  EXPECT_EQ(SumsSensitivity(unit, {-most, most}, 2).value(),
            (Sensitivity{.l1 = 2000 * most, .l2_squared = 4'000'000 * most * most, .linf = 2000 * most}));
}

TEST(UnitCountsSensitivity, IsTheLargestChangeOverAllNeighbours) {
  for (UnitBound unit : kUnits) {
    for (const int64_t groups : {1, 2, 3, 4, 5}) {
      for (const int64_t most : {1, 2}) {
        unit.max_records = most;
        EXPECT_EQ(UnitCountsSensitivity(unit, groups).value(), WorstUnitCounts(unit, groups)) << groups;
      }
    }
  }
}

TEST(UnitCountsSensitivity, IsTheNumberOfGroupsWhereAUnitMayOwnAnyNumberOfRecords) {
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    EXPECT_EQ(UnitCountsSensitivity({relation, kNoRecordBound}, 1).value(),
              (Sensitivity{.l1 = 1, .l2_squared = 1, .linf = 1}));
    EXPECT_EQ(UnitCountsSensitivity({relation, kNoRecordBound}, 7).value(),
              (Sensitivity{.l1 = 7, .l2_squared = 7, .linf = 1}));
  }
}

TEST(UnitCountsSensitivity, RefusesUnitsWithoutRecordsAndNoGroups) {
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    for (const int64_t records : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
      EXPECT_EQ(UnitCountsSensitivity({relation, records}, 3).status().code(),
                absl::StatusCode::kInvalidArgument);
    }
    EXPECT_EQ(UnitCountsSensitivity({relation, 1}, 0).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(UnitCountsSensitivityCanary, OneUnitWhereTwoAreExchangedIsCaught) {
  const UnitBound one{NeighbourRelation::kAddRemove, 2};
  const UnitBound exchanged{NeighbourRelation::kReplaceOne, 2};
  EXPECT_TRUE(IsCaught(UnitCountsSensitivity(one, 4).value(), WorstUnitCounts(exchanged, 4)));
}

TEST(UnitCountsSensitivityCanary, TheRecordsOfAUnitForgottenAreCaught) {
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne})
    EXPECT_TRUE(IsCaught(UnitCountsSensitivity({relation, 1}, 4).value(), WorstUnitCounts({relation, 2}, 4)));
}

}  // namespace
}  // namespace curator::dp
