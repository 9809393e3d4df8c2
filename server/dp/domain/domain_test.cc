#include "dp/domain/domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace curator::dp {
namespace {

using testing::HasSubstr;

Attribute Coded(std::string name, int64_t size) {
  return Attribute::Create(std::move(name), CodedKind{size}).value();
}

Domain AgeSexIncome() {
  return Domain::Create({Coded("age", 15), Coded("sex", 2), Coded("income", 3)}).value();
}

TEST(Domain, RefusesNoAttributesTooManyAndRepeatedNames) {
  EXPECT_EQ(FieldViolationOf(Domain::Create({}).status())->field, "attributes");
  EXPECT_EQ(FieldViolationOf(Domain::Create({Coded("a", 1), Coded("b", 1), Coded("a", 2)}).status()),
            (FieldViolation{"attributes[2].name", "repeats attributes[0], \"a\""}));
  std::vector<Attribute> many;
  for (size_t i = 0; i <= kMaxAttributes; ++i) many.push_back(Coded("a" + std::to_string(i), 2));
  EXPECT_EQ(FieldViolationOf(Domain::Create(many).status())->description,
            "has 4097 attributes; at most 4096 are allowed");
  many.pop_back();
  EXPECT_TRUE(Domain::Create(many).ok());
}

TEST(Domain, FindsAttributesByNameAndOffersNearMisses) {
  const Domain domain = AgeSexIncome();
  EXPECT_EQ(domain.IndexOf("income").value(), 2u);
  EXPECT_EQ(domain.IndexOf("Incom").status().message(),
            "there is no attribute \"Incom\"; did you mean \"income\"?");
  EXPECT_EQ(domain.IndexOf("zzzzzz").status().message(),
            "there is no attribute \"zzzzzz\"; there are: age, sex, income");
  EXPECT_FALSE(domain.IndexOf("").ok());
  EXPECT_LT(domain.IndexOf(std::string(1 << 20, 'x')).status().message().size(), 2000u);
  std::vector<Attribute> many = {Coded(std::string(65, 'l'), 2)};
  for (int i = 1; i < 12; ++i) many.push_back(Coded(std::string(1, static_cast<char>('a' + i)), 2));
  EXPECT_EQ(Domain::Create(many)->IndexOf("zzzzzz").status().message(),
            "there is no attribute \"zzzzzz\"; there are: ..., b, c, d, e, f, g, h, i, j and 2 more");
}

TEST(Domain, CountsCellsUpToTwoToTheSixtyTwo) {
  EXPECT_EQ(AgeSexIncome().CellCount({}), 1);
  EXPECT_EQ(AgeSexIncome().CellCount({0, 2}), 45);
  std::vector<Attribute> attributes;
  for (int i = 0; i < 3; ++i) attributes.push_back(Coded("a" + std::to_string(i), kMaxAttributeSize));
  attributes.push_back(Coded("small", 1 << 14));
  attributes.push_back(Coded("two", 2));
  const Domain large = Domain::Create(attributes).value();
  EXPECT_EQ(large.CellCount({0, 1, 3}), int64_t{1} << 62);
  EXPECT_EQ(large.CellCount({0, 1, 3, 4}), std::nullopt);
  EXPECT_EQ(large.CellCount({0, 1, 2, 3}), std::nullopt);
  EXPECT_EQ(large.CellCount({9}), std::nullopt);
}

TEST(Domain, ChecksThatSetsRiseAndLieWithin) {
  EXPECT_TRUE(AgeSexIncome().CheckSet({}).ok());
  EXPECT_TRUE(AgeSexIncome().CheckSet({0, 2}).ok());
  EXPECT_FALSE(AgeSexIncome().CheckSet({2, 0}).ok());
  EXPECT_FALSE(AgeSexIncome().CheckSet({1, 1}).ok());
  EXPECT_FALSE(AgeSexIncome().CheckSet({3}).ok());
}

TEST(Schema, TheIdColumnIsNeverAnAttribute) {
  EXPECT_TRUE(CreateSchema(AgeSexIncome(), PersonUnit{"pid", 3}).ok());
  EXPECT_EQ(FieldViolationOf(CreateSchema(AgeSexIncome(), PersonUnit{"sex", 3}).status())->field,
            "unit.person.id_column");
  EXPECT_EQ(FieldViolationOf(CreateSchema(AgeSexIncome(), GroupUnit{"", 3}).status())->field,
            "unit.group.id_column");
  EXPECT_EQ(FieldViolationOf(CreateSchema(AgeSexIncome(), GroupUnit{"g", 0}).status())->field,
            "unit.group.max_records");
  EXPECT_EQ(FieldViolationOf(CreateSchema(AgeSexIncome(), PersonUnit{"pid", kMaxRecordsPerUnit + 1}).status())
                ->field,
            "unit.person.max_records");
}

TEST(Schema, TheUnitBoundIsOneRecordOrTheDeclaredNumber) {
  const auto bound = [](PrivacyUnit unit, NeighbourRelation relation) {
    return UnitBoundOf(CreateSchema(AgeSexIncome(), std::move(unit)).value(), relation);
  };
  EXPECT_EQ(bound(RecordUnit{}, NeighbourRelation::kAddRemove),
            (UnitBound{NeighbourRelation::kAddRemove, 1}));
  EXPECT_EQ(bound(PersonUnit{"pid", 3}, NeighbourRelation::kReplaceOne),
            (UnitBound{NeighbourRelation::kReplaceOne, 3}));
  EXPECT_EQ(bound(GroupUnit{"g", 40}, NeighbourRelation::kAddRemove),
            (UnitBound{NeighbourRelation::kAddRemove, 40}));
  EXPECT_EQ(bound(GroupUnit{"g", kNoRecordBound}, NeighbourRelation::kAddRemove),
            (UnitBound{NeighbourRelation::kAddRemove, kNoRecordBound}));
}

TEST(Schema, OnlyAGroupMayOwnAnyNumberOfRecords) {
  EXPECT_FALSE(CreateSchema(AgeSexIncome(), PersonUnit{"pid", kNoRecordBound}).ok());
  EXPECT_FALSE(CreateSchema(AgeSexIncome(), GroupUnit{"sex", kNoRecordBound}).ok()) << "an attribute";
}

Measure MeasureOf(const std::string& name, const std::string& column = "") {
  return Measure::Create(name, {0, 100, 1}, std::nullopt, Reading{.column = column}).value();
}

Domain WithMeasures(std::vector<Measure> measures) {
  return Domain::Create(AgeSexIncome().attributes(), std::move(measures)).value();
}

TEST(Domain, HasMeasuresBesideItsAttributes) {
  const Domain domain = WithMeasures({MeasureOf("income"), MeasureOf("hours")});
  EXPECT_EQ(domain.size(), 3u) << "measures are no attributes";
  EXPECT_THAT(
      std::string(domain.IndexOf("hours").status().message()),
      HasSubstr("\"hours\" is a measure, without bins; an attribute is needed; there are: age, sex, income"));
  EXPECT_EQ(domain.measures().size(), 2u);
  EXPECT_FALSE(domain.IndexOf("hours").ok());
  EXPECT_NE(domain, AgeSexIncome());
  EXPECT_EQ(Domain::Create({}, {MeasureOf("hours")}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Domain, NamesOfMeasuresDifferFromOneAnother) {
  const std::vector<Attribute> attributes = AgeSexIncome().attributes();
  EXPECT_TRUE(Domain::Create(attributes, {MeasureOf("age"), MeasureOf("income")}).ok())
      << "an attribute's name is another matter";
  EXPECT_EQ(FieldViolationOf(Domain::Create(attributes, {MeasureOf("a"), MeasureOf("a")}).status())->field,
            "measures[1].name");
  std::vector<Measure> many;
  for (size_t i = 0; i <= kMaxMeasures; ++i) many.push_back(MeasureOf("m" + std::to_string(i)));
  EXPECT_EQ(FieldViolationOf(Domain::Create(attributes, many).status())->field, "measures");
  many.pop_back();
  EXPECT_TRUE(Domain::Create(attributes, many).ok());
}

TEST(Schema, AMeasureMayReadTheColumnOfAnAttributeButNotThatOfTheIdsOrOfAnotherMeasure) {
  const auto field = [](std::vector<Measure> measures) {
    const absl::Status status =
        CreateSchema(WithMeasures(std::move(measures)), PersonUnit{"pid", 3}).status();
    return status.ok() ? "" : FieldViolationOf(status)->field;
  };
  EXPECT_EQ(field({MeasureOf("income"), MeasureOf("wage", "age")}), "");
  EXPECT_EQ(field({MeasureOf("income"), MeasureOf("wage", "pid")}), "measures[1].reading.column");
  EXPECT_EQ(field({MeasureOf("income"), MeasureOf("wage", "income")}), "measures[1].reading.column");
  EXPECT_EQ(field({MeasureOf("pid", "x")}), "unit.person.id_column") << "an id is never released";
}

TEST(Schema, AColumnIsWrittenInOneWay) {
  const auto numeric = [](char decimal_sign) {
    return Attribute::Create("pay", NumericKind{.edges = {0, 1, 2}}, std::nullopt,
                             Reading{.column = "", .decimal_sign = decimal_sign})
        .value();
  };
  const auto field = [&](Attribute attribute, const std::string& column) {
    Domain domain =
        Domain::Create({std::move(attribute), Coded("sex", 2)}, {MeasureOf("wage", column)}).value();
    const absl::Status status = CreateSchema(std::move(domain), RecordUnit{}).status();
    return status.ok() ? "" : FieldViolationOf(status)->field;
  };
  EXPECT_EQ(field(numeric('.'), "pay"), "");
  EXPECT_EQ(field(numeric(','), "pay"), "measures[0].reading");
  EXPECT_EQ(field(numeric(','), "other"), "");
  EXPECT_EQ(field(Attribute::Create("pay", CategoricalKind{{"0", "1"}}).value(), "pay"), "")
      << "texts have no signs";
}

TEST(Schema, OnlyBoundedUnitsHaveAnIdColumn) {
  EXPECT_EQ(IdColumnOf(RecordUnit{}), std::nullopt);
  EXPECT_EQ(IdColumnOf(PersonUnit{"pid", 3}), "pid");
  EXPECT_EQ(IdColumnOf(GroupUnit{"g", 3}), "g");
}

}  // namespace
}  // namespace curator::dp
