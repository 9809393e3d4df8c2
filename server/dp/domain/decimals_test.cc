#include "dp/domain/decimals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace curator::dp {
namespace {

TEST(Decimals, AreTheFewestDigitsOfADouble) {
  EXPECT_EQ(DecimalOf(0.1), (Decimal{1, 1}));
  EXPECT_EQ(DecimalOf(-0.25), (Decimal{-25, 2}));
  EXPECT_EQ(DecimalOf(100), (Decimal{100, 0}));
  EXPECT_EQ(DecimalOf(-0.0), (Decimal{0, 0}));
  EXPECT_EQ(DecimalOf(0.000000001), (Decimal{1, 9}));
}

TEST(Decimals, AreNoneOfNumbersWithManyDigits) {
  EXPECT_EQ(DecimalOf(1.0 / 3), std::nullopt);
  EXPECT_EQ(DecimalOf(0.0000000001), std::nullopt);
  EXPECT_EQ(DecimalOf(1e300), std::nullopt);
  EXPECT_EQ(DecimalOf(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(DecimalOf(std::nan("")), std::nullopt);
}

HalfUnits Read(const std::string& text, int digits = 0) {
  return ReadHalfUnits(text, digits).value();
}

TEST(HalfUnits, AreTheTextsDigits) {
  EXPECT_EQ(Read("3"), (HalfUnits{6, true}));
  EXPECT_EQ(Read("+3."), (HalfUnits{6, true}));
  EXPECT_EQ(Read("0.5"), (HalfUnits{1, true}));
  EXPECT_EQ(Read(".5"), (HalfUnits{1, true}));
  EXPECT_EQ(Read("-0"), (HalfUnits{0, true}));
  EXPECT_EQ(Read("-0.5"), (HalfUnits{-1, true}));
  EXPECT_EQ(Read("0.05", 2), (HalfUnits{10, true}));
  EXPECT_EQ(Read("12.345", 2), (HalfUnits{2469, true}));
  EXPECT_EQ(Read("007.250", 1), (HalfUnits{145, true}));
}

TEST(HalfUnits, AreRoundedDownOnBothSidesOfZero) {
  EXPECT_EQ(Read("0.4"), (HalfUnits{0, false}));
  EXPECT_EQ(Read("0.9"), (HalfUnits{1, false}));
  EXPECT_EQ(Read("-0.4"), (HalfUnits{-1, false}));
  EXPECT_EQ(Read("-0.9"), (HalfUnits{-2, false}));
  EXPECT_EQ(Read("-0.50000000000000000000000000000001"), (HalfUnits{-2, false}));
}

TEST(HalfUnits, KnowExponents) {
  EXPECT_EQ(Read("1e2"), (HalfUnits{200, true}));
  EXPECT_EQ(Read("1.25E+1"), (HalfUnits{25, true}));
  EXPECT_EQ(Read("125e-1"), (HalfUnits{25, true}));
  EXPECT_EQ(Read("5e-10", 9), (HalfUnits{1, true}));
  EXPECT_EQ(Read("0e999999999999999999999"), (HalfUnits{0, true}));
  EXPECT_EQ(Read("1e-999999999999999999999"), (HalfUnits{0, false}));
  EXPECT_EQ(Read("-1e-400"), (HalfUnits{-1, false})) << "a double of it would be zero";
  const std::string long_one = "0." + std::string(60'000, '0') + "15e60001";
  EXPECT_EQ(Read(long_one), (HalfUnits{3, true}));
}

TEST(HalfUnits, OfHugeNumbersEndAtTheLargest) {
  EXPECT_EQ(Read("1e18"), (HalfUnits{kMostHalfUnits, false}));
  EXPECT_EQ(Read("-1e400"), (HalfUnits{-kMostHalfUnits, false}));
  EXPECT_EQ(Read("999999999999999999.9"), (HalfUnits{kMostHalfUnits - 1, false}));
  EXPECT_EQ(Read("1" + std::string(5000, '0')), (HalfUnits{kMostHalfUnits, false}));
  EXPECT_EQ(Read("1e9999999999999999999"), (HalfUnits{kMostHalfUnits, false}));
}

TEST(HalfUnits, AreNoneOfOtherTexts) {
  for (const char* text :
       {"", ".", "-", "+-1", "1e", "1e+", "e5", "nan", "inf", "-inf", "0x10", "1 2", "1,5", "1.2.3", "--1"})
    EXPECT_EQ(ReadHalfUnits(text, 0), std::nullopt) << text;
}

}  // namespace
}  // namespace curator::dp
