#include "dp/accounting/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace curator::dp {
namespace {

const Interval kThird = Quotient({1}, {3});

TEST(Intervals, TheTrueValueLiesInside) {
  EXPECT_TRUE(kThird.CertainlyAbove(Quotient({333333333333333333}, {1000000000000000000})));
  EXPECT_TRUE(Quotient({333333333333333334}, {1000000000000000000}).CertainlyAbove(kThird));
  const Interval one = kThird + kThird + kThird;
  EXPECT_FALSE(one.CertainlyAbove(Interval(1)));
  EXPECT_FALSE(Interval(1).CertainlyAbove(one));
}

TEST(Intervals, EndsRoundOutward) {
  EXPECT_EQ(*kThird.RoundedUp(), 1);
  EXPECT_EQ(*kThird.RoundedDown(), 0);
  EXPECT_EQ(*(kThird * Interval(3)).RoundedUp(), 2);    // 1 is inside, and so is a little more
  EXPECT_EQ(*(kThird * Interval(3)).RoundedDown(), 0);  // and a little less
}

TEST(Intervals, AQuotientThatIsAnIntegerIsThatInteger) {
  constexpr int64_t kBig = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(*Quotient({kBig, kBig, kBig, kBig, 7}, {kBig, kBig, kBig, kBig}).RoundedUp(), 7);
  EXPECT_EQ(*Quotient({kBig, kBig - 1}, {kBig - 1}).RoundedUp(), kBig);
  EXPECT_EQ(*Quotient({kBig - 1, kBig}, {kBig - 1, kBig - 2}).RoundedUp(), 2);
}

TEST(Intervals, TheUndefinedIsNaNAndIsRefused) {
  const Interval nan = Interval(0) / Interval(0);
  for (const Interval& value : {nan, Log(Interval(-1)), Sqrt(Interval(-2)), Interval(1) / (kThird - kThird),
                                nan + kThird, kThird * nan, nan - nan, Interval::OfDouble(std::nan(""))}) {
    EXPECT_TRUE(value.IsNan());
    EXPECT_FALSE(value.RoundedUp().ok());
    EXPECT_FALSE(value.RoundedDown().ok());
    EXPECT_FALSE(value.CertainlyAtMost(kThird));
    EXPECT_FALSE(value.CertainlyAbove(kThird));
    EXPECT_EQ(TighterUpperBound(value, kThird).Upper(), kThird.Upper());
    EXPECT_EQ(TighterUpperBound(kThird, value).Upper(), kThird.Upper());
  }
}

TEST(Intervals, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE((-kThird).RoundedDown().ok());
  EXPECT_FALSE(Exp(Interval(100)).RoundedUp().ok());
  EXPECT_FALSE(Exp(Interval(std::numeric_limits<int64_t>::max())).RoundedUp().ok());
  EXPECT_EQ(*(-kThird).RoundedUp(), 0);
  EXPECT_FALSE((Interval(std::numeric_limits<int64_t>::max()) + kThird).RoundedUp().ok());
}

TEST(Intervals, RoundingDownStopsAtTheLargestInteger) {
  EXPECT_EQ(*Exp(Interval(100)).RoundedDown(), std::numeric_limits<int64_t>::max());
}

TEST(Intervals, SignsOfProductsAreRight) {
  const Interval wide = Interval::OfDouble(-2) + (kThird - kThird);
  EXPECT_EQ(*(wide * Interval(-3)).RoundedUp(), 7);
  EXPECT_EQ(*(wide * Interval(-3)).RoundedDown(), 5);
  EXPECT_EQ(*(Interval(-7) / Interval(-2)).RoundedUp(), 4);
}

TEST(Intervals, FunctionsEncloseKnownValues) {
  EXPECT_LE(Exp(Interval(1)).Lower(), 2.718281828459045);
  EXPECT_GE(Exp(Interval(1)).Upper(), 2.718281828459045);
  EXPECT_NEAR(Erfc(Interval(1)).Upper(), 0.15729920705028513, 1e-16);
  EXPECT_NEAR(Interval::Pi().Lower(), 3.141592653589793, 1e-15);
  EXPECT_NEAR((Sinh(Interval(1)) - Tanh(Interval(1))).Upper(), std::sinh(1.0) - std::tanh(1.0), 1e-15);
  EXPECT_NEAR((Log1p(Expm1(kThird))).Upper(), 1.0 / 3, 1e-16);
}

TEST(Intervals, LargeArgumentsNeedNoLongArithmetic) {
  for (const int64_t large :
       {int64_t{2}, int64_t{300}, int64_t{9'000'000}, std::numeric_limits<int64_t>::max()}) {
    const Interval x(large);
    EXPECT_LE(Tanh(x).Upper(), 1);
    EXPECT_GT(Tanh(x).Lower(), 0.96);
    EXPECT_EQ(*(-Expm1(-x)).RoundedUp(), 1);
    EXPECT_GE(Log1p(Exp(-x)).Upper(), 0);
    EXPECT_LE(Erfc(x).Upper(), 0.005);
    EXPECT_LE(Erfc(-x).Upper(), 2);
    EXPECT_GE(Sinh(x).Upper(), 3);
  }
}

}  // namespace
}  // namespace curator::dp
