#include "dp/domain/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/errors.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

Measure Declared(EvenSteps bounds, std::optional<Missing> missing = std::nullopt, Reading reading = {}) {
  return Measure::Create("income", bounds, std::move(missing), std::move(reading)).value();
}

std::string FieldOfMeasure(EvenSteps bounds, std::optional<Missing> missing = std::nullopt,
                           Reading reading = {}) {
  const absl::Status status =
      Measure::Create("income", bounds, std::move(missing), std::move(reading)).status();
  return status.ok() ? "" : FieldViolationOf(status)->field;
}

std::string WhyBounds(EvenSteps bounds) {
  return FieldViolationOf(Measure::Create("income", bounds).status())->description;
}

using Encoded = Measure::Encoded;
constexpr Encoded At(uint32_t code) {
  return {.code = code};
}
constexpr Encoded ClippedTo(uint32_t code) {
  return {.code = code, .is_clipped = true};
}

TEST(MeasureTest, NumbersItsPointsFromTheLowest) {
  const Measure income = Declared({0, 200'000, 100});
  EXPECT_EQ(income.low_step(), 0);
  EXPECT_EQ(income.steps(), 2000);
  EXPECT_EQ(income.size(), 2001);
  EXPECT_EQ(income.missing_code(), std::nullopt);
  EXPECT_EQ(income.column(), "income");

  const Measure balance = Declared({-500, 1000, 50}, Missing{});
  EXPECT_EQ(balance.low_step(), -10);
  EXPECT_EQ(balance.steps(), 30);
  EXPECT_EQ(balance.size(), 32);
  EXPECT_EQ(balance.missing_code(), 31u);

  const Measure above = Declared({1000, 1100, 0.5});
  EXPECT_EQ(above.low_step(), 2000);
  EXPECT_EQ(above.steps(), 200);
}

TEST(MeasureTest, RoundsToTheNearestPoint) {
  const Measure income = Declared({0, 1000, 100});
  EXPECT_EQ(income.Encode("0"), At(0));
  EXPECT_EQ(income.Encode("149.99"), At(1));
  EXPECT_EQ(income.Encode(" 151\t"), At(2));
  EXPECT_EQ(income.Encode("1e3"), At(10));
  EXPECT_EQ(income.Encode("9.5e2"), At(10));
  EXPECT_EQ(income.Encode("-0"), At(0));
}

TEST(MeasureTest, RoundsATieUpOnBothSidesOfZero) {
  const Measure change = Declared({-1000, 1000, 100});
  EXPECT_EQ(change.Encode("50"), At(11));
  EXPECT_EQ(change.Encode("-50"), At(10));
  EXPECT_EQ(change.Encode("-150"), At(9));
  EXPECT_EQ(change.Encode("49.99999999999999999999999999"), At(10));
  EXPECT_EQ(change.Encode("-50.00000000000000000000000001"), At(9));
  const Measure odd = Declared({-9, 9, 3});  // half a step is no whole number
  EXPECT_EQ(odd.Encode("1.5"), At(4));
  EXPECT_EQ(odd.Encode("1.49"), At(3));
  EXPECT_EQ(odd.Encode("-1.5"), At(3));
  EXPECT_EQ(odd.Encode("-1.51"), At(2));
}

// In doubles 0.15 / 0.1 is 1.4999999999999998, and 0.35 / 0.1 is 3.4999999999999996.
TEST(MeasureCanary, TiesOfDecimalsAreExact) {
  const Measure rate = Declared({0, 1, 0.1});
  for (int hundredths = 0; hundredths <= 100; ++hundredths) {
    const std::string text = WriteFixed(hundredths / 100.0, 2);
    EXPECT_EQ(rate.Encode(text), At(static_cast<uint32_t>((hundredths + 5) / 10))) << text;
  }
  EXPECT_LT(0.15 / 0.1, 1.5) << "by doubles it would be rounded down";
}

TEST(MeasureTest, ClipsWhatLiesOutsideBeforeItRounds) {
  const Measure income = Declared({100, 1000, 100});
  EXPECT_EQ(income.Encode("1000"), At(9));
  EXPECT_EQ(income.Encode("1000.0000000000000000000000000001"), ClippedTo(9));
  EXPECT_EQ(income.Encode("1020"), ClippedTo(9)) << "although it is nearest to a point";
  EXPECT_EQ(income.Encode("99.9999999999999999999999999999"), ClippedTo(0));
  EXPECT_EQ(income.Encode("-5"), ClippedTo(0));
  EXPECT_EQ(income.Encode("1e400"), ClippedTo(9)) << "beyond what a double holds";
  EXPECT_EQ(income.Encode("-1e400"), ClippedTo(0));
  EXPECT_EQ(income.Encode("123456789012345678901234567890"), ClippedTo(9));
  EXPECT_EQ(Declared({0, 1000, 100}).Encode("-1e-400"), ClippedTo(0)) << "a double of it would be zero";
}

TEST(MeasureTest, ReadsTheFinestAndTheLargestBounds) {
  const Measure fine = Declared({-0.000000002, 0.000000003, 0.000000001});
  EXPECT_EQ(fine.low_step(), -2);
  EXPECT_EQ(fine.steps(), 5);
  EXPECT_EQ(fine.Encode("0.0000000015"), At(4));
  EXPECT_EQ(fine.Encode("-15e-10"), At(1));
  const double most = 9e15;
  const Measure large = Declared({most - 1e15, most, 1e15});
  EXPECT_EQ(large.steps(), 1);
  EXPECT_EQ(large.Encode("8499999999999999.9"), At(0));
  EXPECT_EQ(large.Encode("8500000000000000"), At(1));
  EXPECT_EQ(large.Encode("9000000000000001"), ClippedTo(1));
}

TEST(MeasureTest, HasNoCodeForCellsThatAreNoFiniteNumbers) {
  const Measure income = Declared({0, 1000, 100});
  for (const char* cell :
       {"", " ", "abc", "12a", "nan", "inf", "-inf", "Infinity", "1e", "0x10", "1,5", "--1", "NA"})
    EXPECT_EQ(income.Encode(cell), std::nullopt) << cell;
  EXPECT_EQ(income.WhyOutside(""), "is empty");
  EXPECT_EQ(income.WhyOutside("abc"), "is not a finite number");
  EXPECT_EQ(income.WhyOutside("inf"), "is not a finite number");
  EXPECT_EQ(income.WhyOutside("1.234,5"),
            "is not a finite number; it would be a number with the decimal sign \",\" and the thousands "
            "separator \".\"");
}

TEST(MeasureTest, GivesMissingCellsACodeOfTheirOwnWhereTheyAreDeclared) {
  const Measure usual = Declared({0, 10, 1}, Missing{});
  for (const char* cell : {"", "  ", "?", "NA", "NULL", "NaN", "-"})
    EXPECT_EQ(usual.Encode(cell), At(11)) << cell;
  EXPECT_EQ(usual.Encode("na"), std::nullopt);
  EXPECT_EQ(usual.Encode("-1"), ClippedTo(0));

  const Measure own = Declared({-10, 10, 1}, Missing{.tokens = {"-9", "k.A."}, .bin = {}});
  EXPECT_EQ(own.Encode("-9"), At(21)) << "a token is missing although it is a number within the bounds";
  EXPECT_EQ(own.Encode("-9.0"), At(1)) << "tokens are texts";
  EXPECT_EQ(own.Encode("k.A."), At(21));
  EXPECT_EQ(own.Encode(""), std::nullopt);
}

TEST(MeasureTest, ReadsNumbersInTheDeclaredStyle) {
  const Measure income =
      Declared({0, 20'000, 0.5}, std::nullopt,
               Reading{.column = "Einkommen", .decimal_sign = ',', .thousands_separator = '.'});
  EXPECT_EQ(income.column(), "Einkommen");
  EXPECT_EQ(income.Encode("12.500,25"), At(25'001));
  EXPECT_EQ(income.Encode("12500,2"), At(25'000));
  EXPECT_EQ(income.Encode("12.5"), std::nullopt) << "a group has three digits";
}

TEST(MeasureTest, NeedsBoundsThatAreMultiplesOfTheResolution) {
  EXPECT_EQ(FieldOfMeasure({0, 1, 0.1}), "");
  EXPECT_EQ(FieldOfMeasure({0.05, 1, 0.1}), "low");
  EXPECT_EQ(FieldOfMeasure({0, 1.05, 0.1}), "high");
  EXPECT_EQ(FieldOfMeasure({-250, 1000, 100}), "low");
  EXPECT_EQ(WhyBounds({-250, 1000, 100}),
            "must be a multiple of the resolution, 100: the nearest are -300 and -200");
  EXPECT_EQ(WhyBounds({0, 1.05, 0.1}),
            "must be a multiple of the resolution, 0.1: the nearest are 1 and 1.1");
  EXPECT_EQ(FieldOfMeasure({5, 8, 10}), "low");
}

TEST(MeasureTest, NeedsFiniteRisingBoundsWithFewDigits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FieldOfMeasure({1, 1, 1}), "high");
  EXPECT_EQ(FieldOfMeasure({2, 1, 1}), "high");
  EXPECT_EQ(FieldOfMeasure({-kInfinity, 1, 1}), "low");
  EXPECT_EQ(FieldOfMeasure({0, kInfinity, 1}), "high");
  EXPECT_EQ(FieldOfMeasure({0, 1, std::nan("")}), "resolution");
  EXPECT_EQ(FieldOfMeasure({0, 1, 0}), "resolution");
  EXPECT_EQ(FieldOfMeasure({0, 1, -1}), "resolution");
  EXPECT_EQ(FieldOfMeasure({0, 1.0 / 3, 1}), "high");
  EXPECT_EQ(FieldOfMeasure({0, 1, 0.0000000001}), "resolution");
  EXPECT_EQ(FieldOfMeasure({0, 1e300, 1e299}), "high");
  EXPECT_EQ(WhyBounds({2, 1, 1}), "1 is not above low, 2");
}

TEST(MeasureTest, HasAtMostSoManySteps) {
  const auto most = static_cast<double>(kMostMeasureSteps);
  EXPECT_EQ(FieldOfMeasure({0, most, 1}), "");
  EXPECT_EQ(Declared({0, most, 1}, Missing{}).size(), kMostMeasureSteps + 2);
  EXPECT_EQ(FieldOfMeasure({0, most + 1, 1}), "resolution");
  EXPECT_EQ(WhyBounds({-1, most, 1}), "makes 1048577 steps from -1 to 1048576; at most 1048576 are allowed");
}

TEST(MeasureTest, HasNoZeroWithASign) {
  const Measure plain = Declared({0, 1, 1});
  const Measure negative = Declared({-0.0, 1, 1});
  EXPECT_EQ(plain, negative);
  EXPECT_FALSE(std::signbit(negative.bounds().min));
  EXPECT_FALSE(std::signbit(Declared({-1, -0.0, 1}).bounds().max));
}

TEST(MeasureTest, RefusesWhatMakesNoSenseForNumbers) {
  EXPECT_EQ(FieldOfMeasure({0, 1, 1}, Missing{.tokens = {}, .bin = "missing"}), "missing.bin");
  EXPECT_EQ(FieldOfMeasure({0, 1, 1}, Missing{.tokens = {"a", " b"}, .bin = {}}), "missing.tokens[1]");
  EXPECT_EQ(FieldOfMeasure({0, 1, 1}, std::nullopt, Reading{.column = {}, .fold_case = true}),
            "reading.fold_case");
  EXPECT_EQ(FieldOfMeasure({0, 1, 1}, std::nullopt, Reading{.synonyms = {{"a", {"b"}}}}), "reading.synonyms");
  EXPECT_EQ(FieldOfMeasure({0, 1, 1}, std::nullopt, Reading{.date_formats = {"DD.MM.YYYY"}}),
            "reading.date_formats");
  EXPECT_EQ(FieldOfMeasure({0, 1, 1}, std::nullopt, Reading{.decimal_sign = ';'}), "reading.decimal_sign");
  EXPECT_EQ(FieldOfMeasure({0, 1, 1}, std::nullopt, Reading{.column = " x"}), "reading.column");
  EXPECT_EQ(FieldViolationOf(Measure::Create("", {0, 1, 1}).status())->field, "name");
  EXPECT_EQ(FieldViolationOf(Measure::Create("a\nb", {0, 1, 1}).status())->field, "name");
}

}  // namespace
}  // namespace curator::dp
