#include "dp/workload/comparisons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <utility>
#include <vector>

namespace curator::dp {
namespace {

using ::testing::HasSubstr;
using enum ComparisonOperator;

constexpr int64_t kDay = 86'400;

Attribute Age() {
  return Attribute::Create("age", IntegerKind{.min = 17, .max = 90, .bin_width = 5}, Missing{{}, "none"})
      .value();
}
Attribute Children() {
  return Attribute::Create("children", IntegerKind{.min = 1, .max = 9}).value();
}
Attribute Income() {
  return Attribute::Create("income", NumericKind{{0, 0.5, 1, 10}}, Missing{{}, "unknown"}).value();
}
Attribute Visit() {
  return Attribute::Create(
             "visit",
             DateKind{.from = 0, .until = 90 * kDay, .bins = DateBins::kMonth, .edges = {}, .zone = {}},
             Missing{{}, "unknown"})
      .value();
}
Attribute Grade() {
  return Attribute::Create(
             "grade",
             CategoricalKind{.values = {"low", "mid", "high"}, .catch_all = "other", .ordered = true},
             Missing{{}, "unknown"})
      .value();
}
Attribute Sex() {
  return Attribute::Create("sex", CategoricalKind{{"Female", "Male"}, "other"}).value();
}

// "1-3,5; 6": the codes that fulfil it, and from where on the others are unknown; or the refusal.
std::string Said(const Attribute& attribute, ComparisonOperator op, const std::string& value) {
  const absl::StatusOr<ComparedCodes> codes = CodesCompared(attribute, op, value);
  if (!codes.ok()) {
    EXPECT_EQ(codes.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(codes.status().message());
  }
  std::string said;
  for (const CodeInterval& run : codes->runs) {
    if (!said.empty()) said += ",";
    said += std::to_string(run.first) + (run.first < run.last ? "-" + std::to_string(run.last) : "");
  }
  return said + "; " + std::to_string(codes->unknown_from);
}

TEST(Comparisons, OfIntegersAreOfWholeBins) {
  EXPECT_EQ(Said(Age(), kLess, "22"), "0; 15");
  EXPECT_EQ(Said(Age(), kLessOrEqual, "21"), "0; 15");
  EXPECT_EQ(Said(Age(), kGreaterOrEqual, "22"), "1-14; 15");
  EXPECT_EQ(Said(Age(), kGreater, " 21 "), "1-14; 15");
  EXPECT_EQ(Said(Age(), kGreater, "86.0"), "14; 15");
  EXPECT_EQ(Said(Children(), kLess, "5"), "0-3; 9");
  EXPECT_EQ(Said(Children(), kGreaterOrEqual, "9"), "8; 9");
}

TEST(Comparisons, OfIntegersMayBeWithTheOneBesideTheRange) {
  EXPECT_EQ(Said(Children(), kGreater, "0"), "0-8; 9");
  EXPECT_EQ(Said(Children(), kLess, "10"), "0-8; 9");
  EXPECT_EQ(Said(Age(), kLess, "91"), "0-14; 15");
  EXPECT_EQ(Said(Children(), kLess, "11"),
            "\"children < 11\": the value is above the largest value, 9 of children");
  EXPECT_EQ(Said(Children(), kGreaterOrEqual, "-1"),
            "\"children >= -1\": the value is below the smallest value, 1 of children");
  const Attribute all = Attribute::Create("all", IntegerKind{.min = std::numeric_limits<int64_t>::min(),
                                                             .max = std::numeric_limits<int64_t>::max(),
                                                             .bin_width = int64_t{1} << 62})
                            .value();
  EXPECT_EQ(Said(all, kLessOrEqual, "9223372036854775807"), "0-3; 4");
  EXPECT_EQ(Said(all, kGreater, "4611686018427387903"), "3; 4");
  EXPECT_THAT(Said(all, kGreater, "9223372036854775807"), HasSubstr("no value of all fulfils it"));
  EXPECT_THAT(Said(all, kLess, "9223372036854775807"),
              HasSubstr("the nearest that does not: all < 4611686018427387904"));
}

TEST(Comparisons, ThatCutABinNameTheNearestThatDoNot) {
  EXPECT_EQ(Said(Age(), kLess, "30"),
            "\"age < 30\" cuts the bin [27, 32) of age; the nearest that do not: age < 27 and age < 32");
  EXPECT_EQ(Said(Age(), kLessOrEqual, "30"),
            "\"age <= 30\" cuts the bin [27, 32) of age; the nearest that do not: age <= 26 and age <= 31");
  EXPECT_EQ(Said(Age(), kGreater, "30"),
            "\"age > 30\" cuts the bin [27, 32) of age; the nearest that do not: age > 26 and age > 31");
  EXPECT_EQ(Said(Age(), kLess, "18"),
            "\"age < 18\" cuts the bin [17, 22) of age; the nearest that does not: age < 22");
  EXPECT_EQ(Said(Age(), kGreaterOrEqual, "89"),
            "\"age >= 89\" cuts the bin [87, 90] of age; the nearest that does not: age >= 87");
  EXPECT_EQ(Said(Age(), kLess, "89"),
            "\"age < 89\" cuts the bin [87, 90] of age; the nearest that do not: age < 87 and age < 91");
}

// The nearest that a refusal names are accepted.
TEST(Comparisons, TheNearestThatAreNamedWork) {
  for (const auto& [attribute, values] : std::vector<std::pair<Attribute, std::vector<std::string>>>{
           {Age(), {"17", "18", "30", "88", "89", "90"}},
           {Income(), {"0", "0.25", "0.5", "7", "10"}},
           {Visit(), {"1970-01-01", "1970-02-10", "1970-03-15", "1970-03-31", "1970-02-01T00:00:01"}}}) {
    for (const ComparisonOperator op : {kLess, kLessOrEqual, kGreater, kGreaterOrEqual}) {
      for (const std::string& value : values) {
        const std::string said = Said(attribute, op, value);
        const size_t at = said.find(" not: ");
        if (at == std::string::npos) continue;
        std::istringstream words(said.substr(at + 6));
        for (std::string name, sign, near, joined; words >> name >> sign >> near; words >> joined) {
          EXPECT_EQ(name, attribute.name());
          for (const ComparisonOperator other : {kLess, kLessOrEqual, kGreater, kGreaterOrEqual}) {
            if (SignOf(other) != sign) continue;
            EXPECT_TRUE(CodesCompared(attribute, other, near).ok()) << said;
          }
        }
      }
    }
  }
}

TEST(Comparisons, OfNumbersAreWithEdgesWhichBelongToTheBinAbove) {
  EXPECT_EQ(Said(Income(), kLess, "0.5"), "0; 3");
  EXPECT_EQ(Said(Income(), kGreaterOrEqual, "5e-1"), "1-2; 3");
  EXPECT_EQ(Said(Income(), kLessOrEqual, "10"), "0-2; 3");
  EXPECT_EQ(Said(Income(), kLessOrEqual, "0.5"),
            "\"income <= 0.5\" cuts the bin [0.5, 1) of income; the nearest that do not: income < 0.5 and "
            "income < 1");
  EXPECT_EQ(Said(Income(), kGreater, "0.5"),
            "\"income > 0.5\" cuts the bin [0.5, 1) of income; the nearest that do not: income >= 0.5 and "
            "income >= 1");
  EXPECT_EQ(Said(Income(), kLess, "10"),
            "\"income < 10\" cuts the bin [1, 10] of income; the nearest that do not: income < 1 and income "
            "<= 10");
  EXPECT_EQ(Said(Income(), kGreater, "3"),
            "\"income > 3\" cuts the bin [1, 10] of income; the nearest that does not: income >= 1");
  EXPECT_THAT(Said(Income(), kGreater, "10"), HasSubstr("no value of income fulfils it"));
  EXPECT_THAT(Said(Income(), kLess, "0"), HasSubstr("no value of income fulfils it"));
  EXPECT_THAT(Said(Income(), kLess, "-1"), HasSubstr("is below the first edge, 0 of income"));
  EXPECT_THAT(Said(Income(), kLess, "NaN"), HasSubstr("is not a finite number"));
}

TEST(Comparisons, OfDatesAreWithDaysTimesAndBins) {
  EXPECT_EQ(Said(Visit(), kLess, "1970-02-01"), "0; 3");
  EXPECT_EQ(Said(Visit(), kLess, "1970-02-01T00:00:00"), "0; 3");
  EXPECT_EQ(Said(Visit(), kLess, "1970-02"), "0; 3");
  EXPECT_EQ(Said(Visit(), kLessOrEqual, "1970-01-31"), "0; 3");
  EXPECT_EQ(Said(Visit(), kLessOrEqual, "1970-01"), "0; 3");
  EXPECT_EQ(Said(Visit(), kGreater, "1970-01-31"), "1-2; 3");
  EXPECT_EQ(Said(Visit(), kGreater, "1970-01"), "1-2; 3");
  EXPECT_EQ(Said(Visit(), kGreaterOrEqual, "1970-02"), "1-2; 3");
  EXPECT_EQ(Said(Visit(), kGreaterOrEqual, "1970-02-01"), "1-2; 3");
  EXPECT_EQ(Said(Visit(), kGreater, "1969-12-31"), "0-2; 3");
  EXPECT_EQ(Said(Visit(), kLess, "1970-04-01"), "0-2; 3") << "the first day after the range";
  EXPECT_EQ(Said(Visit(), kLess, "1970-02-10"),
            "\"visit < 1970-02-10\" cuts the bin 1970-02 of visit; the nearest that do not: visit < "
            "1970-02-01 and visit < 1970-03-01");
  EXPECT_EQ(Said(Visit(), kLessOrEqual, "1970-02-01T00:00:00"),
            "\"visit <= 1970-02-01T00:00:00\": a bin of visit ends before a time and begins at one; write < "
            "1970-02-01T00:00:00");
  EXPECT_THAT(Said(Visit(), kLess, "1970-01-01"), HasSubstr("no value of visit fulfils it"));
  EXPECT_THAT(Said(Visit(), kGreater, "1970-03-31"), HasSubstr("no value of visit fulfils it"));
  EXPECT_THAT(Said(Visit(), kLess, "1970-04-02"), HasSubstr("is after the range"));
  EXPECT_THAT(Said(Visit(), kLess, "soon"), HasSubstr("is no day or time"));
}

TEST(Comparisons, OfOrderedCategoriesLeaveTheCatchAllUnknown) {
  EXPECT_EQ(Said(Grade(), kLess, "high"), "0-1; 3");
  EXPECT_EQ(Said(Grade(), kLessOrEqual, "high"), "0-2; 3");
  EXPECT_EQ(Said(Grade(), kGreater, "low"), "1-2; 3");
  EXPECT_EQ(Said(Grade(), kEqual, "other"), "3; 4");
  EXPECT_EQ(Said(Grade(), kNotEqual, "low"), "1-3; 4") << "the catch-all is a value like any";
  EXPECT_THAT(Said(Grade(), kLess, "other"), HasSubstr("the value is in no order"));
  EXPECT_THAT(Said(Grade(), kLess, "unknown"), HasSubstr("the value is in no order"));
  EXPECT_THAT(Said(Grade(), kLess, "low"), HasSubstr("no value of grade fulfils it"));
  EXPECT_THAT(Said(Grade(), kLess, "best"), HasSubstr("there are: low, mid, high, other, unknown"));
}

TEST(Comparisons, OfValuesInNoOrderAreRefusedWithWhatWorks) {
  EXPECT_EQ(Said(Sex(), kLess, "Male"),
            "\"sex < Male\": the values of sex are in no order; =, !=, a list (in) and an interval (between) "
            "of them work");
  EXPECT_THAT(Said(Attribute::Create("zone", CodedKind{5}).value(), kGreater, "3"),
              HasSubstr("the values of zone are in no order"));
}

TEST(Comparisons, ForEqualityTakeWhatListsTake) {
  EXPECT_EQ(Said(Sex(), kEqual, "Male"), "1; 3");
  EXPECT_EQ(Said(Sex(), kNotEqual, "Male"), "0,2; 3");
  EXPECT_EQ(Said(Age(), kEqual, "[27, 32)"), "2; 15");
  EXPECT_EQ(Said(Age(), kNotEqual, "[27, 32)"), "0-1,3-14; 15");
  EXPECT_THAT(Said(Age(), kEqual, "30"), HasSubstr("is only a part of the bin [27, 32)"));
  EXPECT_EQ(Said(Visit(), kNotEqual, "1970-03"), "0-1; 3");
  EXPECT_THAT(Said(Attribute::Create("one", CodedKind{1}).value(), kNotEqual, "0"),
              HasSubstr("there is no other value of one"));
}

TEST(Comparisons, WithTheLabelOfMissingValuesKnowEveryRecord) {
  EXPECT_EQ(Said(Visit(), kEqual, "unknown"), "3; 4");
  EXPECT_EQ(Said(Visit(), kNotEqual, "unknown"), "0-2; 4");
}

TEST(Comparisons, SayTheirValueInOneWay) {
  EXPECT_EQ(CodesCompared(Age(), kLess, " +22.0 ")->value, "22");
  EXPECT_EQ(CodesCompared(Income(), kLess, "5e-1")->value, "0.5");
  EXPECT_EQ(CodesCompared(Visit(), kLess, "1970-02-01T00:00")->value, "1970-02-01");
  EXPECT_EQ(CodesCompared(Visit(), kLess, " 1970-02 ")->value, "1970-02");
  EXPECT_EQ(CodesCompared(Grade(), kLess, " high")->value, "high");
}

}  // namespace
}  // namespace curator::dp
