#include "dp/queries/grouped_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/domain/testing_numbers.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Domain& WithNumbers() {
  static const Domain domain = NumbersDomain();
  return domain;
}

SummedValue ValueOf(uint32_t column, int64_t centre = 0) {
  return {.kind = SummedValue::Kind::kValue, .column = column, .centre = centre};
}

SummedValue SquareOf(uint32_t column, int64_t centre = 0) {
  return {.kind = SummedValue::Kind::kSquare, .column = column, .centre = centre};
}

NumberColumn ColumnOf(int64_t low, int64_t steps) {
  return {
      .column = 0, .name = "x", .low = low, .steps = steps, .resolution = 1, .missing_code = std::nullopt};
}

RecordGroups ByRegion() {
  return GroupsBy(WithNumbers(), {kRegionColumn}, {}, {}).value();
}

TEST(GroupsBy, IsOneGroupOfAllRecordsWithoutAttributes) {
  const RecordGroups groups = GroupsBy(WithNumbers(), {}, {}, {}).value();
  EXPECT_EQ(groups, (RecordGroups{.attributes = {}, .group_of_cell = {0}, .groups = 1}));
  EXPECT_TRUE(Validate(WithNumbers(), groups).ok());
}

TEST(GroupsBy, IsEveryCellOfItsAttributes) {
  EXPECT_THAT(GroupsBy(WithNumbers(), {0, 1}, {}, {})->group_of_cell,
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(GroupsBy, LeavesOutRecordsThatDoNotFulfilTheCondition) {
  // By age, of region 1; the region varies more slowly.
  const RecordGroups groups = GroupsBy(WithNumbers(), {1}, {0}, {1}).value();
  EXPECT_THAT(groups.attributes, ElementsAre(0, 1));
  EXPECT_THAT(groups.group_of_cell, ElementsAre(-1, -1, -1, -1, -1, 0, 1, 2, 3, 4));
  EXPECT_EQ(groups.groups, 5);
  // By region, of the ages 3 and 5 in region 0 and 4 in region 1.
  EXPECT_THAT(GroupsBy(WithNumbers(), {0}, {0, 1}, {0, 2, 6})->group_of_cell,
              ElementsAre(0, -1, 0, -1, -1, -1, 1, -1, -1, -1));
}

TEST(GroupsBy, HasGroupsAlsoWhereNoCellFulfilsTheCondition) {
  const RecordGroups groups = GroupsBy(WithNumbers(), {0}, {1}, {}).value();
  EXPECT_EQ(groups.groups, 2);
  EXPECT_EQ(std::ranges::count(groups.group_of_cell, kInNoGroup), 10);
}

TEST(GroupsBy, RefusesWhatItCannotGroup) {
  EXPECT_FALSE(GroupsBy(WithNumbers(), {7}, {}, {}).ok());
  EXPECT_FALSE(GroupsBy(WithNumbers(), {1, 0}, {}, {}).ok());
  EXPECT_FALSE(GroupsBy(WithNumbers(), {}, {0}, {2}).ok());
  EXPECT_FALSE(GroupsBy(WithNumbers(), {}, {0}, {1, 0}).ok());
  const Domain wide = CodedDomain({1 << 12, 1 << 12});
  EXPECT_THAT(GroupsBy(wide, {0, 1}, {}, {}).status().message(), HasSubstr("16777216 cells"));
}

TEST(RangeOf, IsThatOfTheNumbersThatRecordsAdd) {
  EXPECT_EQ(RangeOf(WithNumbers(), {}).value(), (SummandRange{1, 1}));
  EXPECT_EQ(RangeOf(WithNumbers(), {.kind = SummedValue::Kind::kOne, .column = kAgeColumn}).value(),
            (SummandRange{1, 1}));
  EXPECT_EQ(RangeOf(WithNumbers(), ValueOf(kBalanceColumn)).value(), (SummandRange{-2, 3}));
  EXPECT_EQ(RangeOf(WithNumbers(), ValueOf(kBalanceColumn, 1)).value(), (SummandRange{-3, 2}));
  EXPECT_EQ(RangeOf(WithNumbers(), ValueOf(kAgeColumn)).value(), (SummandRange{3, 6}));
  EXPECT_EQ(RangeOf(WithNumbers(), ValueOf(kFarColumn)).value(), (SummandRange{7, 9})) << "in steps";
  // Squares from 0 to 9, around 4.
  EXPECT_EQ(RangeOf(WithNumbers(), SquareOf(kBalanceColumn)).value(), (SummandRange{-4, 5}));
}

TEST(RangeOf, HoldsForEveryCodeAndIsReached) {
  for (const int64_t steps :
       {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{1000}, int64_t{3000}, int64_t{5000}}) {
    for (const int64_t low : {int64_t{0}, -steps / 2, -steps, int64_t{5}, int64_t{-70'000}}) {
      const Domain domain =
          Domain::Create({Attribute::Create("x", IntegerKind{low, low + steps, 1}).value()}).value();
      const NumberColumn column = *NumberColumnAt(domain, 0);
      for (const int64_t centre : {int64_t{0}, low + steps / 2, low}) {
        for (const SummedValue& value : {ValueOf(0, centre), SquareOf(0, centre)}) {
          const SummandRange range = RangeOf(domain, value).value();
          SummandRange reached{AddedBy(value, column, 0), AddedBy(value, column, 0)};
          for (int64_t code = 0; code <= steps; ++code) {
            reached.low = std::min(reached.low, AddedBy(value, column, code));
            reached.high = std::max(reached.high, AddedBy(value, column, code));
          }
          // The least square may lie between two codes of the range only at the centre, which is a code or 0.
          EXPECT_EQ(reached, range) << low << " " << steps << " " << centre;
          EXPECT_LE(std::max(-range.low, range.high), kLargestSummand);
        }
      }
    }
  }
}

TEST(RangeOf, RefusesColumnsWithoutNumbersAndNumbersThatAreTooFarFromZero) {
  EXPECT_FALSE(RangeOf(WithNumbers(), ValueOf(kRegionColumn)).ok());
  EXPECT_FALSE(RangeOf(WithNumbers(), ValueOf(9)).ok());
  EXPECT_FALSE(RangeOf(WithNumbers(), {.kind = SummedValue::Kind::kValue, .column = std::nullopt}).ok());
  const Domain far =
      Domain::Create({Attribute::Create("year", IntegerKind{2'000'000, 2'000'009, 1}).value(),
                      Attribute::Create("least", IntegerKind{INT64_MIN, INT64_MIN + 3, 1}).value()})
          .value();
  EXPECT_THAT(RangeOf(far, ValueOf(0)).status().message(), HasSubstr("minus a number between its bounds"));
  EXPECT_FALSE(RangeOf(far, SquareOf(0)).ok());
  EXPECT_EQ(RangeOf(far, ValueOf(0, 2'000'004)).value(), (SummandRange{-4, 5}));
  EXPECT_FALSE(RangeOf(far, ValueOf(1)).ok()) << "and nothing overflows";
  EXPECT_FALSE(RangeOf(far, ValueOf(0, INT64_MIN)).ok());
}

TEST(Squares, AreRoundedToTheNearestStepOfAtMostAMillion) {
  const NumberColumn column = ColumnOf(0, 1 << 20);
  const int64_t centre = 1 << 19;
  const int64_t step = StepOfSquares(column, centre);
  EXPECT_EQ(step, 1 << 18);
  EXPECT_EQ(CentreOfSquares(column, centre), 1 << 19);
  const SummedValue value = SquareOf(0, centre);
  for (const int64_t code :
       {int64_t{0}, int64_t{1}, int64_t{262'144}, int64_t{400'001}, centre, int64_t{1} << 20}) {
    const double exact = std::pow(static_cast<double>(code - centre), 2) / static_cast<double>(step);
    EXPECT_LE(std::abs(static_cast<double>(AddedBy(value, column, code) + (1 << 19)) - exact), 0.5) << code;
  }
  EXPECT_EQ(StepOfSquares(ColumnOf(-1024, 2048), 0), 1) << "exact where they are few enough";
  EXPECT_EQ(StepOfSquares(ColumnOf(-1025, 2048), 0), 2);
}

TEST(CodeBlocks, DivideAllCodesButThatOfMissingValues) {
  EXPECT_EQ(CodesOf(WithNumbers(), kAgeColumn), 4);
  EXPECT_EQ(CodesOf(WithNumbers(), kBalanceColumn), 6);
  EXPECT_EQ(CodesOf(WithNumbers(), kFarColumn), 3);
  EXPECT_EQ(NumberOfBlocks(WithNumbers(), {kBalanceColumn, 1}), 6);
  EXPECT_EQ(NumberOfBlocks(WithNumbers(), {kBalanceColumn, 4}), 2);
  EXPECT_EQ(NumberOfBlocks(WithNumbers(), {kBalanceColumn, 100}), 1);
  EXPECT_EQ(NumberOfSums(WithNumbers(),
                         {.groups = ByRegion(), .blocks = CodeBlocks{kBalanceColumn, 4}, .value = {}}),
            4);
  EXPECT_EQ(NumberOfSums(WithNumbers(), {.groups = ByRegion(), .blocks = std::nullopt, .value = {}}), 2);
}

TEST(ValidateGroups, RefusesNumbersThatAreNoGroups) {
  EXPECT_TRUE(Validate(WithNumbers(), ByRegion()).ok());
  for (const RecordGroups& groups :
       {RecordGroups{{0}, {0, 2}, 2}, RecordGroups{{0}, {-2, 0}, 2}, RecordGroups{{0}, {0}, 2},
        RecordGroups{{0}, {0, 0, 0}, 2}, RecordGroups{{0}, {-1, -1}, 0}, RecordGroups{{5}, {0, 1}, 2},
        RecordGroups{{0}, {0, 1}, kMostGroupCells + 1}})
    EXPECT_EQ(Validate(WithNumbers(), groups).code(), absl::StatusCode::kInvalidArgument);
}

TEST(ValidateSums, RefusesColumnsCentresAndBlocksThatMakeNoSense) {
  const auto with = [](SummedValue value, std::optional<CodeBlocks> blocks = std::nullopt) {
    return Validate(WithNumbers(), GroupedSum{.groups = ByRegion(), .blocks = blocks, .value = value}).code();
  };
  EXPECT_EQ(with({}), absl::StatusCode::kOk);
  EXPECT_EQ(with(ValueOf(kBalanceColumn, 3), CodeBlocks{kAgeColumn, 2}), absl::StatusCode::kOk);
  for (const SummedValue& value :
       {ValueOf(kRegionColumn), ValueOf(kBalanceColumn, 4), ValueOf(kBalanceColumn, -3),
        ValueOf(kFarColumn, 6),
        SummedValue{.kind = SummedValue::Kind::kOne, .column = kAgeColumn, .centre = 4},
        SummedValue{.kind = SummedValue::Kind::kOne, .column = std::nullopt, .centre = 1}})
    EXPECT_EQ(with(value), absl::StatusCode::kInvalidArgument);
  for (const CodeBlocks& blocks :
       {CodeBlocks{4, 1}, CodeBlocks{0, 0}, CodeBlocks{0, -1}, CodeBlocks{0, int64_t{1} << 60}})
    EXPECT_EQ(with({}, blocks), absl::StatusCode::kInvalidArgument);
  const Domain wide = CodedDomain({1 << 12, 1 << 12});
  const GroupedSum many{
      .groups = GroupsBy(wide, {0}, {}, {}).value(), .blocks = CodeBlocks{1, 1}, .value = {}};
  EXPECT_THAT(Validate(wide, many).message(), HasSubstr("16777216 sums"));
}

TEST(ValidateQuantiles, RefusesTooManyCodesOfGroupsAndQuantilesThatAreNone) {
  const auto with = [](uint32_t column, int64_t numerator, int64_t denominator) {
    return Validate(WithNumbers(), GroupedQuantile{ByRegion(), column, numerator, denominator}).code();
  };
  EXPECT_EQ(with(kBalanceColumn, 1, 2), absl::StatusCode::kOk);
  EXPECT_EQ(with(kRegionColumn, 9, 10), absl::StatusCode::kOk);
  EXPECT_EQ(with(kBalanceColumn, 0, 2), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(with(kBalanceColumn, 2, 2), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(with(9, 1, 2), absl::StatusCode::kInvalidArgument);
  const Domain wide = CodedDomain({1 << 12, (1 << 12) + 1});
  EXPECT_TRUE(Validate(wide, GroupedQuantile{GroupsBy(wide, {0}, {}, {}).value(), 0, 1, 2}).ok());
  EXPECT_FALSE(Validate(wide, GroupedQuantile{GroupsBy(wide, {0}, {}, {}).value(), 1, 1, 2}).ok());
}

}  // namespace
}  // namespace curator::dp
