#include "dp/workload/values.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator::dp {
namespace {

Attribute Age() {
  return Attribute::Create("age", IntegerKind{.min = 17, .max = 90, .bin_width = 5}).value();
}
Attribute Hours() {
  return Attribute::Create("hours", IntegerKind{.min = 0, .max = 99}).value();
}
Attribute Income() {
  return Attribute::Create("income", NumericKind{{0, 0.5, 1, 10}}).value();
}
Attribute Sex() {
  return Attribute::Create("sex", CategoricalKind{{"Female", "Male"}, "other"}).value();
}

Attribute Visit() {
  const int64_t day = 86'400;
  return Attribute::Create("visit", DateKind{.from = 0, .until = 90 * day, .bins = DateBins::kMonth},
                           Missing{{}, "unknown"})
      .value();
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

TEST(CodesBetween, TakesWholeBinsOfIntegersWithBothEnds) {
  EXPECT_EQ(CodesBetween(Age(), "17", "21").value(), (CodeInterval{0, 0}));
  EXPECT_EQ(CodesBetween(Age(), "22", "90").value(), (CodeInterval{1, 14}));
  EXPECT_EQ(CodesBetween(Hours(), "30", "40").value(), (CodeInterval{30, 40}));
  EXPECT_EQ(CodesBetween(Hours(), "30.0", std::nullopt).value(), (CodeInterval{30, 99}));
  EXPECT_EQ(CodesBetween(Hours(), std::nullopt, std::nullopt).value(), (CodeInterval{0, 99}));
}

TEST(CodesBetween, NamesTheNearestEndsOfACutBin) {
  EXPECT_EQ(MessageOf(CodesBetween(Age(), "30", "41").status()),
            "from: 30 cuts the bin [27, 32) of age; the nearest that does not: 27 and 32");
  EXPECT_EQ(MessageOf(CodesBetween(Age(), "27", "40").status()),
            "to: 40 cuts the bin [37, 42) of age; the nearest that does not: 36 and 41");
  EXPECT_EQ(FieldViolationOf(CodesBetween(Income(), "0.4", "1").status())->field, "from");
  EXPECT_EQ(MessageOf(CodesBetween(Income(), "0.4", "1").status()),
            "from: 0.4 is no edge that an interval of income can begin at; the nearest: 0 and 0.5");
}

TEST(CodesBetween, TakesEdgesOfNumbersWithoutTheLast) {
  EXPECT_EQ(CodesBetween(Income(), "0", "0.5").value(), (CodeInterval{0, 0}));
  EXPECT_EQ(CodesBetween(Income(), "5e-1", "10").value(), (CodeInterval{1, 2}));
  EXPECT_FALSE(CodesBetween(Income(), "10", "10").ok());
  EXPECT_FALSE(CodesBetween(Income(), "0", "0").ok());
}

TEST(CodesBetween, RefusesWhatIsOutsideOrTheWrongWayRound) {
  EXPECT_EQ(MessageOf(CodesBetween(Hours(), "-1", "3").status()),
            "from: \"-1\" is below the smallest value, 0 of hours");
  EXPECT_EQ(FieldViolationOf(CodesBetween(Hours(), "1", "100").status())->field, "to");
  EXPECT_EQ(FieldViolationOf(CodesBetween(Hours(), "5", "3").status())->field, "to");
  EXPECT_FALSE(CodesBetween(Hours(), "NaN", "3").ok());
}

TEST(CodeOfValue, ReadsValuesByName) {
  EXPECT_EQ(CodeOfValue(Sex(), "Male").value(), 1u);
  EXPECT_EQ(CodeOfValue(Sex(), "other").value(), 2u);
  EXPECT_EQ(CodeOfValue(Hours(), "40").value(), 40u);
  EXPECT_EQ(CodeOfValue(Age(), "[27, 32)").value(), 2u);
  EXPECT_EQ(CodeOfValue(Income(), "[1, 10]").value(), 2u);
}

TEST(CodeOfValue, ReadsLabelsOfNumbersWhateverTheirNotation) {
  const Attribute pay = Attribute::Create("pay", NumericKind{{0.0001, 90'000, 100'000, 500'000}}).value();
  EXPECT_EQ(pay.Label(1), "[90000, 100000)");
  for (uint32_t code = 0; code < 3; ++code) EXPECT_EQ(CodeOfValue(pay, pay.Label(code)).value(), code);
  EXPECT_EQ(CodeOfValue(pay, "[1e-04, 90000)").value(), 0u);
  EXPECT_EQ(CodeOfValue(pay, "[90000, 1e+05)").value(), 1u);
  EXPECT_EQ(CodeOfValue(pay, "[1e+05, 5e+05]").value(), 2u);
  for (const char* label : {"[90000, 500000)", "[90000, 100000]", "[100000, 500000)", "[95000, 100000)",
                            "[90000,", "[90000", "[", "[,", "[90000, x)", "[x, 100000)"})
    EXPECT_FALSE(CodeOfValue(pay, label).ok()) << label;
}

TEST(CodeOfValue, DoesNotTakeATypoForTheCatchAll) {
  EXPECT_EQ(MessageOf(CodeOfValue(Sex(), "Feamle").status()),
            "\"Feamle\" is no value of sex; there are: Female, Male, other");
  EXPECT_FALSE(CodeOfValue(Age(), "30").ok()) << "only a part of its bin";
  EXPECT_FALSE(CodeOfValue(Hours(), "x").ok());
}

TEST(CodeRuns, MergeAndIntersect) {
  EXPECT_EQ(RunsOf({5, 1, 2, 2, 7, 6}), (CodeRuns{{1, 2}, {5, 7}}));
  EXPECT_EQ(CommonTo({{0, 3}, {6, 9}}, {{2, 7}, {9, 20}}), (CodeRuns{{2, 3}, {6, 7}, {9, 9}}));
  EXPECT_EQ(CommonTo({{0, 3}}, {{4, 7}}), CodeRuns{});
}

TEST(ConditionWords, AreThoseOfTheSchema) {
  EXPECT_EQ(DescribeCondition(Sex(), {{0, 0}}), "sex = Female");
  EXPECT_EQ(DescribeCondition(Sex(), {{0, 0}, {2, 2}}), "sex in {Female, other}");
  EXPECT_EQ(DescribeCondition(Age(), {{2, 3}}), "age in [27, 37)");
}

TEST(CodesBetween, HasNoIntervalOfDatesBeforeTheRange) {
  EXPECT_EQ(MessageOf(CodesBetween(Visit(), std::nullopt, "1970-01-01T00:00:00").status()),
            "to: \"1970-01-01T00:00:00\" is where the range of visit begins: nothing is before it");
  const Attribute listed =
      Attribute::Create("visit",
                        DateKind{.from = 0, .until = 9, .bins = DateBins::kListed, .edges = {0, 5, 9}})
          .value();
  EXPECT_EQ(FieldViolationOf(CodesBetween(listed, std::nullopt, "1970-01-01T00:00:00").status())->field,
            "to");
  EXPECT_EQ(CodesBetween(listed, std::nullopt, "1970-01-01T00:00:05").value(), (CodeInterval{0, 0}));
}

TEST(CodesBetween, TakesWholeBinsOfDatesByDaysLabelsAndTimes) {
  EXPECT_EQ(CodesBetween(Visit(), "1970-02-01", "1970-03-31").value(), (CodeInterval{1, 2}));
  EXPECT_EQ(CodesBetween(Visit(), "1970-02", "1970-02").value(), (CodeInterval{1, 1}));
  EXPECT_EQ(CodesBetween(Visit(), "1970-02-01T00:00", "1970-03-01T00:00").value(), (CodeInterval{1, 1}));
  EXPECT_EQ(CodesBetween(Visit(), std::nullopt, "1970-01-31").value(), (CodeInterval{0, 0}));
  EXPECT_EQ(
      MessageOf(CodesBetween(Visit(), "1970-02-02", std::nullopt).status()),
      "from: \"1970-02-02\" cuts the bin 1970-02 of visit, which holds 1970-02-01 up to before 1970-03-01");
  EXPECT_EQ(MessageOf(CodesBetween(Visit(), "1969-02-02", std::nullopt).status()),
            "from: \"1969-02-02\" is before the range, which begins at 1970-01-01 of visit");
}

TEST(CodesBetween, LeavesMissingValuesOut) {
  EXPECT_EQ(CodesBetween(Visit(), std::nullopt, std::nullopt).value(), (CodeInterval{0, 2}));
  EXPECT_EQ(MessageOf(CodesBetween(Visit(), "1970-01", "unknown").status()),
            "to: \"unknown\" is no end of an interval of visit: it lies in no order");
  const Attribute age = Attribute::Create("age", IntegerKind{0, 9, 5}, Missing{{}, "unknown"}).value();
  EXPECT_FALSE(CodesBetween(age, "unknown", std::nullopt).ok());
  const Attribute pain =
      Attribute::Create("pain", CategoricalKind{{"none", "low", "high"}, "other", true}).value();
  EXPECT_EQ(CodesBetween(pain, "low", std::nullopt).value(), (CodeInterval{1, 2}));
  EXPECT_FALSE(CodesBetween(pain, "low", "other").ok());
}

TEST(CodeOfValue, NamesAPeriodOrTheBinOfMissingValues) {
  EXPECT_EQ(CodeOfValue(Visit(), "1970-03").value(), 2u);
  EXPECT_EQ(CodeOfValue(Visit(), "unknown").value(), 3u);
  EXPECT_EQ(MessageOf(CodeOfValue(Visit(), "1970-03-05").status()),
            "\"1970-03-05\" is only a part of the bin 1970-03 of visit; ask for the whole bin");
}

}  // namespace
}  // namespace curator::dp
