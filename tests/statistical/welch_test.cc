#include "tests/statistical/welch.h"

#include <gtest/gtest.h>

namespace curator::statistics {
namespace {

TEST(WelchT, IsTheDifferenceOfTheMeansInStandardErrors) {
  // Means 2 and 5, sample variances 1 and 4, three values each: t = -3 / sqrt(1/3 + 4/3).
  EXPECT_NEAR(WelchT({1, 2, 3}, {3, 5, 7}), -2.3237900077244502, 1e-12);
  EXPECT_EQ(WelchT({1, 2, 3}, {1, 2, 3}), 0);
}

TEST(Cropped, DropsWhatLiesAboveTheQuantileOfBoth) {
  const TwoSamples cropped = Cropped({{1, 2, 3, 1000}, {3, 5, 7, 2000}}, 0.8);
  EXPECT_EQ(cropped.one, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(cropped.other, (std::vector<double>{3, 5, 7}));
}

}  // namespace
}  // namespace curator::statistics
