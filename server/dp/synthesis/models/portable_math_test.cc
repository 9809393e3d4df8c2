#include "dp/synthesis/models/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace curator::dp {
namespace {

TEST(PortableExp, AgreesWithTheLibraryToTheLastPlaces) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> anywhere(-690, 690);
  std::uniform_real_distribution<double> near_zero(-1, 1);
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 == 0 ? anywhere(random) : near_zero(random);
    EXPECT_NEAR(PortableExp(x) / std::exp(x), 1, 1e-15) << x;
  }
}

TEST(PortableExp, IsExactAtZeroAndBoundedBeyondItsRange) {
  EXPECT_EQ(PortableExp(0), 1);
  EXPECT_EQ(PortableExp(1e9), PortableExp(kLargestExponent));
  EXPECT_EQ(PortableExp(-1e9), PortableExp(-kLargestExponent));
  EXPECT_GT(PortableExp(-1e9), 0);
}

TEST(PortableLog, IsTheLogarithm) {
  for (const double x : {1e-300, 1e-9, 0.3, 0.70710678, 0.9999, 1.0, 1.5, 2.0, 12345.678, 1e300})
    EXPECT_NEAR(PortableLog(x), std::log(x), 1e-12 * (1 + std::abs(std::log(x)))) << x;
}

}  // namespace
}  // namespace curator::dp
