#include "dp/domain/number_column.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace curator::dp {
namespace {

// Attributes that have numbers and others, and two measures, of which one has the name of an attribute.
Domain People() {
  std::vector<Attribute> attributes;
  attributes.push_back(
      Attribute::Create("years", IntegerKind{17, 90, 1}, Missing{.tokens = {}, .bin = "none"}).value());
  attributes.push_back(Attribute::Create("band", IntegerKind{0, 99, 10}).value());
  attributes.push_back(Attribute::Create("sex", CategoricalKind{{"f", "m"}}).value());
  attributes.push_back(Attribute::Create("age", IntegerKind{0, 120, 1}).value());
  attributes.push_back(Attribute::Create("one", IntegerKind{7, 7, 1}).value());
  attributes.push_back(Attribute::Create("id", IntegerKind{0, 2'000'000, 1}).value());
  std::vector<Measure> measures;
  measures.push_back(Measure::Create("income", {-1000, 5000, 50}, Missing{}).value());
  measures.push_back(Measure::Create("age", {0, 100, 0.5}).value());
  return Domain::Create(std::move(attributes), std::move(measures)).value();
}

std::string WhyNotFound(const std::string& name) {
  return std::string(FindNumberColumn(People(), name).status().message());
}

TEST(NumberColumnTest, IsAMeasure) {
  const NumberColumn income = FindNumberColumn(People(), "income").value();
  EXPECT_EQ(
      income,
      (NumberColumn{
          .column = 6, .name = "income", .low = -20, .steps = 120, .resolution = 50, .missing_code = 121}));
  EXPECT_EQ(income.ValueOf(-20), -1000);
}

TEST(NumberColumnTest, IsAnIntegerAttributeWithBinsOfOneValue) {
  EXPECT_EQ(FindNumberColumn(People(), "years").value(),
            (NumberColumn{
                .column = 0, .name = "years", .low = 17, .steps = 73, .resolution = 1, .missing_code = 74}));
}

TEST(NumberColumnTest, IsTheMeasureWhereAnAttributeHasItsName) {
  const NumberColumn age = FindNumberColumn(People(), "age").value();
  EXPECT_EQ(age.column, 7u);
  EXPECT_EQ(age.resolution, 0.5);
}

TEST(NumberColumnTest, SaysWhyAnAttributeIsNone) {
  EXPECT_EQ(WhyNotFound("sex"),
            "there is no measure \"sex\", and the attribute of this name is no integer attribute; there are: "
            "income, age, years");
  EXPECT_EQ(WhyNotFound("band"),
            "there is no measure \"band\", and the attribute of this name has bins of several values; there "
            "are: income, age, years");
  EXPECT_NE(WhyNotFound("one").find("has one value"), std::string::npos);
  EXPECT_NE(WhyNotFound("id").find("has more than 1048576 steps"), std::string::npos);
}

TEST(NumberColumnTest, NamesTheNearest) {
  EXPECT_EQ(WhyNotFound("incom"), "there is no measure \"incom\"; did you mean \"income\"?");
  EXPECT_EQ(
      std::string(
          FindNumberColumn(Domain::Create({Attribute::Create("c", CodedKind{3}).value()}).value(), "x")
              .status()
              .message()),
      "there is no measure \"x\"; the dataset has no measures, and no integer attributes with bins of one "
      "value");
}

TEST(NumberColumnTest, IsFoundByItsPlaceInATable) {
  const Domain people = People();
  for (const char* name : {"years", "income", "age"}) {
    const NumberColumn found = FindNumberColumn(people, name).value();
    EXPECT_EQ(NumberColumnAt(people, found.column), found) << name;
  }
  EXPECT_EQ(NumberColumnAt(people, 3)->name, "age") << "the attribute";
  EXPECT_EQ(NumberColumnAt(people, 1), std::nullopt);
  EXPECT_EQ(NumberColumnAt(people, 2), std::nullopt);
  EXPECT_EQ(NumberColumnAt(people, 8), std::nullopt);
}

}  // namespace
}  // namespace curator::dp
