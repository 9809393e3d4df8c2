#include "dp/domain/response.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace curator::dp {
namespace {

Domain Pupils(AttributeKind score) {
  return Domain::Create({Attribute::Create("sex", CategoricalKind{{"F", "M"}, std::nullopt}).value(),
                         Attribute::Create("score", std::move(score)).value(),
                         Attribute::Create("zone", CodedKind{3}).value()})
      .value();
}

Schema Nested(AttributeKind score) {
  return CreateSchema(Pupils(std::move(score)), RecordUnit{},
                      Nesting{.group_column = "school", .response = 1})
      .value();
}

TEST(ResponseValues, OfIntegersAreTheIntegersThemselves) {
  EXPECT_EQ(ResponseValues(Nested(IntegerKind{-1, 2, 1})), (ResponseNumbers{{-1, 0, 1, 2}, -1, 2, 1}));
  EXPECT_EQ(ResponseValues(Nested(IntegerKind{0, 1, 1})), (ResponseNumbers{{0, 1}, 0, 1, 1}));
}

TEST(ResponseValues, OfWiderBinsAreTheirMiddlesAlsoOfANarrowLastOne) {
  EXPECT_EQ(ResponseValues(Nested(IntegerKind{0, 10, 4})), (ResponseNumbers{{1.5, 5.5, 9}, 0, 10, 4}));
  EXPECT_EQ(ResponseValues(Nested(NumericKind{{0, 1, 4}})), (ResponseNumbers{{0.5, 2.5}, 0, 4, 3}));
}

TEST(ResponseValues, StayFiniteAtTheEndsOfTheirTypes) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (const double value : ResponseValues(Nested(NumericKind{{-kLargest, 0, kLargest}})).values)
    EXPECT_LE(std::abs(value), kLargest / 2);
}

std::string FieldAtFault(PrivacyUnit unit, Nesting nesting) {
  const absl::Status status =
      CreateSchema(Pupils(IntegerKind{0, 9, 1}), std::move(unit), std::move(nesting)).status();
  return status.ok() ? "" : FieldViolationOf(status)->field;
}

TEST(Nesting, TheResponseMustStandForNumbers) {
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"school", 1}), "");
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"school", 0}), "nesting.response") << "categorical";
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"school", 2}), "nesting.response") << "coded";
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"school", 3}), "nesting.response") << "beyond the attributes";
}

TEST(Nesting, AttributesOfGroupsAreAttributesInTheirOrderAndNotTheResponse) {
  const auto field = [](AttributeSet described) {
    Nesting nesting{"school", 1};
    nesting.group_attributes = std::move(described);
    return FieldAtFault(RecordUnit{}, nesting);
  };
  for (const AttributeSet& wrong : {AttributeSet{1}, {0, 1}, {0, 3}, {2, 0}, {0, 0}})
    EXPECT_EQ(field(wrong), "nesting.group_attributes") << wrong.size();
  Nesting nesting{"school", 1};
  nesting.group_attributes = {0, 2};
  EXPECT_TRUE(CreateSchema(Pupils(IntegerKind{0, 9, 1}), RecordUnit{}, nesting).ok());
}

TEST(Nesting, TheGroupColumnIsNeverAnAttribute) {
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"sex", 1}), "nesting.group_column");
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"score", 1}), "nesting.group_column");
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"", 1}), "nesting.group_column");
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {" school", 1}), "nesting.group_column");
}

TEST(Nesting, OfAGroupUnitIsByItsIdColumnAndBound) {
  EXPECT_EQ(FieldAtFault(GroupUnit{"school", 40}, {"school", 1}), "");
  EXPECT_EQ(FieldAtFault(GroupUnit{"school", kNoRecordBound}, {"", 1}), "");
  EXPECT_EQ(FieldAtFault(GroupUnit{"school", 40}, {"class", 1}), "nesting.group_column");
  EXPECT_EQ(FieldAtFault(GroupUnit{"school", 40}, {"school", 1, 40}), "nesting.max_group_size");
  EXPECT_EQ(CreateSchema(Pupils(IntegerKind{0, 9, 1}), GroupUnit{"school", 40}, Nesting{"", 1})
                .value()
                .nesting->group_column,
            "school");
}

TEST(Nesting, OfPersonsIsRefused) {
  EXPECT_EQ(FieldAtFault(PersonUnit{"pid", 3}, {"school", 1}), "nesting");
}

TEST(Nesting, TheBoundOfAGroupIsAPositiveNumberOfRecordsOrNone) {
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"school", 1, 40}), "");
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"school", 1, 0}), "nesting.max_group_size");
  EXPECT_EQ(FieldAtFault(RecordUnit{}, {"school", 1, kMaxRecordsPerUnit + 1}), "nesting.max_group_size");
}

TEST(Nesting, DoesNotChangeTheUnit) {
  const Schema schema =
      CreateSchema(Pupils(IntegerKind{0, 9, 1}), RecordUnit{}, Nesting{"school", 1, 40}).value();
  EXPECT_EQ(UnitBoundOf(schema, NeighbourRelation::kAddRemove),
            (UnitBound{NeighbourRelation::kAddRemove, 1}));
  EXPECT_EQ(IdColumnOf(schema.unit), std::nullopt);
  EXPECT_EQ(IdColumnOf(schema), "school");
}

}  // namespace
}  // namespace curator::dp
