#include "dp/accounting/units.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/errors.h"

namespace curator::dp {
namespace {

int64_t EpsilonUnits(std::string_view text) {
  const absl::StatusOr<Epsilon> parsed = Epsilon::Parse(text, "epsilon");
  return parsed.ok() ? parsed->units() : -1;
}

absl::StatusCode Verdict(std::string_view text) {
  return Epsilon::Parse(text, "epsilon").status().code();
}

TEST(Units, DecimalsAreReadExactly) {
  EXPECT_EQ(EpsilonUnits("0.1"), 100'000'000'000);
  EXPECT_EQ(EpsilonUnits("3"), 3'000'000'000'000);
  EXPECT_EQ(EpsilonUnits("2.5e-3"), 2'500'000'000);
  EXPECT_EQ(EpsilonUnits("2.5E+3"), 2'500'000'000'000'000);
  EXPECT_EQ(EpsilonUnits(".5"), 500'000'000'000);
  EXPECT_EQ(EpsilonUnits("000.000000000001"), 1);
  EXPECT_EQ(EpsilonUnits("1000000e-18"), 1);
  EXPECT_EQ(EpsilonUnits("0"), 0);
  EXPECT_EQ(EpsilonUnits("0e999999999999"), 0);
  EXPECT_EQ(EpsilonUnits("0.100000000000000000000000000000"), 100'000'000'000);
  EXPECT_EQ(EpsilonUnits("9223372.036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Delta::Parse("1e-18", "delta")->units(), 1);
}

TEST(Units, WhatIsNoDecimalIsRefused) {
  for (const char* text :
       {"",     " ",   "-",   "+1",  " 1",  "1 ",   "e",        "1e",    "1e+",   ".",        ".e1",  "1.2.3",
        "0x10", "1,5", "NaN", "nan", "inf", "-inf", "Infinity", "1e1e1", "1e1.5", "\xc2\xbd", "1_000"}) {
    EXPECT_EQ(Verdict(text), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Units, AmountsOutsideTheRangeAreRefused) {
  for (const char* text :
       {"-1", "-0", "-1e-5", "1e-13", "0.0000000000001", "9223372.036854775808", "1e7", "1e400", "1e-400",
        "1e99999999999999999999", "1e-99999999999999999999", "0.1234567890123456789012345678901234567890",
        "1234567890123456789012345678901234567890"}) {
    EXPECT_EQ(Verdict(text), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(Verdict(std::string(1'000'000, '0')), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Verdict("1e" + std::string(60, '9')), absl::StatusCode::kInvalidArgument);
}

TEST(Units, ARefusalNamesItsField) {
  EXPECT_EQ(FieldViolationOf(Delta::Parse("-1", "plan.delta").status())->field, "plan.delta");
  EXPECT_EQ(FieldViolationOf(Epsilon::Parse("1e30", "epsilon").status())->description,
            "is too large: the largest amount is 9223372.036854775807");
}

TEST(Units, TextIsShortAndReadsBack) {
  EXPECT_EQ(Epsilon(100'000'000'000).ToString(), "0.1");
  EXPECT_EQ(Epsilon(0).ToString(), "0");
  EXPECT_EQ(Epsilon(12'000'000'000'000).ToString(), "12");
  EXPECT_EQ(Epsilon(12'500'000'000'000).ToString(), "12.5");
  EXPECT_EQ(Epsilon(100'000'000).ToString(), "0.0001");
  EXPECT_EQ(Delta(1'000'000'000'000).ToString(), "1e-6");
  EXPECT_EQ(Delta(2'500'000'000'000).ToString(), "2.5e-6");
  EXPECT_EQ(Delta(1).ToString(), "1e-18");
  EXPECT_EQ(Epsilon(-1'000'000'000'000).ToString(), "-1");
  EXPECT_EQ(Epsilon(std::numeric_limits<int64_t>::min()).ToString(), "-9223372.036854775808");
}

TEST(Units, EveryAmountSurvivesItsText) {
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 20'000; ++i) {
    const int64_t units = static_cast<int64_t>(random() >> (1 + random() % 63));
    const absl::StatusOr<Epsilon> epsilon = Epsilon::Parse(Epsilon(units).ToString(), "epsilon");
    ASSERT_TRUE(epsilon.ok()) << units << ": " << epsilon.status();
    ASSERT_EQ(epsilon->units(), units);
    ASSERT_EQ(Delta::Parse(Delta(units).ToString(), "delta")->units(), units);
  }
}

TEST(Units, HostileTextNeverCrashesAndWhatIsAcceptedReadsBack) {
  constexpr std::string_view kAlphabet = "0123456789.eE+-nNaif \0x";
  std::mt19937_64 random(7);
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n)
      text += kAlphabet[random() % (i % 2 == 0 ? 12 : kAlphabet.size())];
    const absl::StatusOr<Epsilon> epsilon = Epsilon::Parse(text, "epsilon");
    if (!epsilon.ok()) continue;
    ++accepted;
    ASSERT_GE(epsilon->units(), 0) << text;
    ASSERT_EQ(Epsilon::Parse(epsilon->ToString(), "epsilon")->units(), epsilon->units()) << text;
  }
  EXPECT_GT(accepted, 1000);
}

// Parsing through a double is the mistake: 9007.199254740993 has no double of its own.
int64_t UnitsThroughADouble(const std::string& text) {
  return static_cast<int64_t>(std::stod(text) * 1e12);
}

TEST(UnitsCanary, AParserThatGoesThroughADoubleIsCaught) {
  EXPECT_EQ(EpsilonUnits("9007.199254740993"), 9'007'199'254'740'993);
  EXPECT_NE(UnitsThroughADouble("9007.199254740993"), 9'007'199'254'740'993);
}

TEST(Rationals, AreReducedByTheirDivisor) {
  EXPECT_EQ(Reduced({6, 4}).numerator, 3);
  EXPECT_EQ(Reduced({6, 4}).denominator, 2);
  EXPECT_EQ(Reduced({0, 4}).denominator, 1);
  EXPECT_EQ(Reduced({7, 5}).denominator, 5);
  EXPECT_EQ(Reduced({std::numeric_limits<int64_t>::min(), -2}).denominator, -2);
}

TEST(Rationals, AreEqualWhenTheirValuesAre) {
  constexpr int64_t kBig = std::numeric_limits<int64_t>::max();
  EXPECT_EQ((Rational{6, 4}), (Rational{3, 2}));
  EXPECT_NE((Rational{kBig, kBig - 1}), (Rational{kBig - 1, kBig - 2}));
}

}  // namespace
}  // namespace curator::dp
