#include "dp/sensitivity/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "dp/sensitivity/testing/largest_change.h"

namespace curator::dp {
namespace {

// A record over two attributes of sizes 2 and 3, as one of six cells; a person is a multiset of at most m
// records, or absent.
constexpr int kCells = 6;
using Person = std::vector<int>;

std::vector<Person> AllPersons(int64_t max_records) {
  std::vector<Person> persons = {{}};
  size_t start = 0;
  for (int64_t size = 1; size <= max_records; ++size) {
    const size_t end = persons.size();
    for (size_t i = start; i < end; ++i) {
      for (int cell = persons[i].empty() ? 0 : persons[i].back(); cell < kCells; ++cell) {
        Person longer = persons[i];
        longer.push_back(cell);
        persons.push_back(longer);
      }
    }
    start = end;
  }
  return persons;
}

// The marginals {first}, {second}, {first, second} of one person's records, the first `marginals` of them.
std::vector<int64_t> CountsOf(const Person& person, int64_t marginals) {
  std::vector<int64_t> counts(2 + 3 + 6);
  for (const int cell : person) {
    ++counts[static_cast<size_t>(cell / 3)];
    ++counts[static_cast<size_t>(2 + cell % 3)];
    ++counts[static_cast<size_t>(5 + cell)];
  }
  constexpr size_t kEnds[] = {0, 2, 5, 11};
  counts.resize(kEnds[marginals]);
  return counts;
}

// Over all pairs of neighbouring tables: only the one person who differs matters.
Sensitivity BruteForce(const UnitBound& unit, int64_t marginals) {
  return LargestChange(AllPersons(unit.max_records), unit.relation,
                       [&](const Person& person) { return CountsOf(person, marginals); });
}

class SensitivityOfNeighbours : public testing::TestWithParam<UnitBound> {};

TEST_P(SensitivityOfNeighbours, EqualsTheLargestMovementOverAllNeighbourTables) {
  for (int64_t marginals = 1; marginals <= 3; ++marginals) {
    EXPECT_EQ(MarginalsSensitivity(GetParam(), marginals).value(), BruteForce(GetParam(), marginals))
        << marginals;
  }
}

INSTANTIATE_TEST_SUITE_P(BothRelationsAndPersons, SensitivityOfNeighbours,
                         testing::Values(UnitBound{NeighbourRelation::kAddRemove, 1},
                                         UnitBound{NeighbourRelation::kAddRemove, 2},
                                         UnitBound{NeighbourRelation::kAddRemove, 3},
                                         UnitBound{NeighbourRelation::kReplaceOne, 1},
                                         UnitBound{NeighbourRelation::kReplaceOne, 2},
                                         UnitBound{NeighbourRelation::kReplaceOne, 3}));

TEST(SensitivityCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  const UnitBound replace{NeighbourRelation::kReplaceOne, 1};
  const Sensitivity broken = MarginalsSensitivity({NeighbourRelation::kAddRemove, 1}, 2).value();
  EXPECT_LT(broken.l1, BruteForce(replace, 2).l1);
  EXPECT_LT(broken.l2_squared, BruteForce(replace, 2).l2_squared);
}

TEST(SensitivityCanary, EpsilonNotSplitOverTheMarginalsIsCaught) {
  const UnitBound unit{NeighbourRelation::kAddRemove, 1};
  EXPECT_LT(MarginalsSensitivity(unit, 1)->l1, BruteForce(unit, 3).l1);
}

TEST(SensitivityCanary, L2UsedForL1IsCaught) {
  const UnitBound unit{NeighbourRelation::kReplaceOne, 2};
  const Sensitivity bound = BruteForce(unit, 3);
  EXPECT_LT(bound.l2_squared, bound.l1 * bound.l1);
}

TEST(RecordCountSensitivity, IsTheUnitsBoundUnderBothRelations) {
  for (const auto relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    EXPECT_EQ(RecordCountSensitivity({relation, 3}).value(),
              (Sensitivity{.l1 = 3, .l2_squared = 9, .linf = 3}));
  }
}

TEST(MarginalsSensitivity, RefusesWhatItCannotCount) {
  EXPECT_EQ(MarginalsSensitivity({NeighbourRelation::kAddRemove, 0}, 1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MarginalsSensitivity({NeighbourRelation::kAddRemove, 1}, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MarginalsSensitivity({NeighbourRelation::kAddRemove, int64_t{1} << 31}, 2).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(MarginalsSensitivity({NeighbourRelation::kAddRemove, INT64_MAX - 1}, INT64_MAX).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST(MarginalsSensitivity, IsRefusedFromPublicFactsWhereAUnitMayOwnAnyNumberOfRecords) {
  const UnitBound unbounded{NeighbourRelation::kAddRemove, kNoRecordBound};
  EXPECT_EQ(MarginalsSensitivity(unbounded, 1).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(RecordCountSensitivity(unbounded).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ErrorsSensitivity, IsThatOfOneMarginalInL1ForEachError) {
  EXPECT_EQ(ErrorsSensitivity({NeighbourRelation::kAddRemove, 1}, 1).value(),
            (Sensitivity{.l1 = 1, .l2_squared = 1, .linf = 1}));
  EXPECT_EQ(ErrorsSensitivity({NeighbourRelation::kAddRemove, 3}, 5).value(),
            (Sensitivity{.l1 = 15, .l2_squared = 45, .linf = 3}));
  EXPECT_EQ(ErrorsSensitivity({NeighbourRelation::kReplaceOne, 3}, 5).value(),
            (Sensitivity{.l1 = 30, .l2_squared = 180, .linf = 6}));
}

TEST(ErrorsSensitivity, RefusesWhatItCannotCount) {
  const auto code = [](int64_t max_records, int64_t candidates) {
    return ErrorsSensitivity({NeighbourRelation::kReplaceOne, max_records}, candidates).status().code();
  };
  EXPECT_EQ(code(0, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(1, 0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(kNoRecordBound, 1), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(code(1, int64_t{1} << 51), absl::StatusCode::kOk);
  EXPECT_EQ(code(1, (int64_t{1} << 51) + 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(int64_t{1} << 31, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(int64_t{1} << 25, int64_t{1} << 20), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(1, INT64_MAX), absl::StatusCode::kOutOfRange);
}

TEST(NoiseForABudget, IsExact) {
  const Sensitivity sensitivity{.l1 = 3, .l2_squared = 9, .linf = 3};
  EXPECT_EQ(LaplaceNoiseFor(sensitivity, Epsilon(kEpsilonUnitsPerOne / 10))->parameter, (Rational{30, 1}));
  EXPECT_EQ(LaplaceNoiseFor(sensitivity, Epsilon(7 * kEpsilonUnitsPerOne))->parameter, (Rational{3, 7}));
  EXPECT_EQ(GaussianNoiseFor(sensitivity, Rho(kRhoUnitsPerOne / 10))->parameter, (Rational{45, 1}));
}

TEST(NoiseForABudget, RefusesNothingAndTooLittle) {
  const Sensitivity sensitivity{.l1 = 1, .l2_squared = 1, .linf = 1};
  EXPECT_FALSE(LaplaceNoiseFor(sensitivity, Epsilon(0)).ok());
  EXPECT_FALSE(LaplaceNoiseFor(sensitivity, Epsilon(-1)).ok());
  EXPECT_FALSE(LaplaceNoiseFor(sensitivity, Epsilon(1)).ok());
  EXPECT_FALSE(GaussianNoiseFor(sensitivity, Rho(0)).ok());
  EXPECT_EQ(LaplaceNoiseFor(sensitivity, Epsilon(1)).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace curator::dp
