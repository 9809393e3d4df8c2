#include "dp/workload/shown_interval.h"

#include <gtest/gtest.h>

namespace curator::dp {
namespace {

void ExpectShown(const ShownInterval& shown, double low, double high) {
  EXPECT_EQ(shown.low, low);
  EXPECT_EQ(shown.high, high);
}

TEST(IntervalShown, IsTheUnbiasedOneWhereThatHoldsTheAnswer) {
  ExpectShown(IntervalShown(10, 4, 9, kNoLeast), 6, 14);
  ExpectShown(IntervalShown(-10, 4, -10, kNoLeast), -14, -6);
}

TEST(IntervalShown, BeginsAtTheLeast) {
  ExpectShown(IntervalShown(1, 4, 0, 0), 0, 5);
  ExpectShown(IntervalShown(-3, 4, 0, 0), 0, 1);
}

TEST(IntervalShown, IsWidenedToTheAnswer) {
  ExpectShown(IntervalShown(10, 4, 3, 0), 3, 14);
  ExpectShown(IntervalShown(10, 4, 15, 0), 6, 15);
}

TEST(IntervalShown, OfWhatMissedTheTruthIsTheLeastAndTheAnswer) {
  ExpectShown(IntervalShown(-9, 4, 0, 0), 0, 0);
  ExpectShown(IntervalShown(-9, 4, 2, 0), 0, 2);
}

}  // namespace
}  // namespace curator::dp
