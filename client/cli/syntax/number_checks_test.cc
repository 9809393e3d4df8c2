#include "client/cli/syntax/number_checks.h"

#include <gtest/gtest.h>

namespace curator::cli {
namespace {

TEST(NumberChecks, PositiveNumbersAreAboveZeroAndFinite) {
  for (const char* const right : {"1", "0.25", "1e-9", "2000000000"}) EXPECT_EQ(PositiveNumber(right), "");
  EXPECT_EQ(PositiveNumber("sex"), "'sex' is not a number above 0");
  for (const char* const wrong : {"0", "-1", "nan", "inf", "1x", ""}) EXPECT_NE(PositiveNumber(wrong), "");
}

TEST(NumberChecks, NonNegativeNumbersMayBeZero) {
  for (const char* const right : {"0", "3"}) EXPECT_EQ(NonNegativeNumber(right), "");
  EXPECT_EQ(NonNegativeNumber("-1"), "'-1' is not 0 or a number above it");
  for (const char* const wrong : {"few", "nan", "inf", ""}) EXPECT_NE(NonNegativeNumber(wrong), "");
}

}  // namespace
}  // namespace curator::cli
