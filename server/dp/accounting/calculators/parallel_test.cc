#include "dp/accounting/calculators/parallel.h"

#include <gtest/gtest.h>

#include <limits>

namespace curator::dp {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(ParallelSubstitute, ARecordThatMovesTouchesTwoParts) {
  EXPECT_EQ(*ParallelSubstituteCost(std::vector<int64_t>{10, 8, 1}, std::vector<int64_t>{11, 9, 2},
                                    Growth::kLinear),
            18);
  EXPECT_EQ(*ParallelSubstituteCost(std::vector<int64_t>{8, 10, 10}, std::vector<int64_t>{8, 11, 2},
                                    Growth::kLinear),
            20);
}

TEST(ParallelSubstitute, ARecordThatStaysCostsItsPart) {
  EXPECT_EQ(
      *ParallelSubstituteCost(std::vector<int64_t>{10, 1}, std::vector<int64_t>{20, 2}, Growth::kLinear), 20);
  EXPECT_EQ(*ParallelSubstituteCost(std::vector<int64_t>{10, 9}, std::nullopt, Growth::kLinear), 20);
  EXPECT_EQ(*ParallelSubstituteCost(std::vector<int64_t>{10, 9}, std::nullopt, Growth::kQuadratic), 40);
  EXPECT_EQ(*ParallelSubstituteCost(std::vector<int64_t>{}, std::nullopt, Growth::kQuadratic), 0);
}

TEST(ParallelSubstitute, BadListsAreRefused) {
  EXPECT_FALSE(ParallelSubstituteCost(std::vector<int64_t>{-1}, std::nullopt, Growth::kLinear).ok());
  EXPECT_FALSE(
      ParallelSubstituteCost(std::vector<int64_t>{1}, std::vector<int64_t>{-1}, Growth::kLinear).ok());
  EXPECT_FALSE(
      ParallelSubstituteCost(std::vector<int64_t>{1, 2}, std::vector<int64_t>{1}, Growth::kLinear).ok());
  EXPECT_EQ(
      ParallelSubstituteCost(std::vector<int64_t>{kMax, 1}, std::nullopt, Growth::kLinear).status().code(),
      absl::StatusCode::kOutOfRange);
}

// Charging the maximum is right for add/remove only.
TEST(ParallelSubstituteCanary, ChargingTheLargestPartAloneIsCaught) {
  const std::vector<int64_t> costs = {10, 8};
  EXPECT_GT(*ParallelSubstituteCost(costs, costs, Growth::kLinear), 10);
}

}  // namespace
}  // namespace curator::dp
