#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dp/synthesis/prior/prior_model.h"

namespace curator::dp {
namespace {

TEST(CompactWeights, AreWithinOnePartIn4096OverThirtyOctaves) {
  std::mt19937_64 random(1);
  std::vector<double> weights = {3.0};
  for (int i = 0; i < 10'000; ++i)
    weights.push_back(3 * std::exp2(-30 * std::uniform_real_distribution<double>(0, 1)(random)));
  const CompactWeights compact(weights);
  EXPECT_EQ(compact[0], 1);
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(compact[i] / (weights[i] / 3), 1, 1.0 / 4096) << weights[i];
    total += compact[i];
  }
  EXPECT_EQ(compact.total(), total);
}

TEST(CompactWeights, KeepZeroAndTheOrderOfWeights) {
  const CompactWeights compact(std::vector<double>{0, 1e-12, 1e-3, 1e-2, 0.999999, 1});
  EXPECT_EQ(compact[0], 0);
  EXPECT_EQ(compact[1], 0);
  for (size_t i = 2; i < compact.size(); ++i) EXPECT_GE(compact[i], compact[i - 1]);
}

TEST(CompactWeights, AreAllEqualWhereThereIsNone) {
  const CompactWeights compact(std::vector<double>{0, 0, 0});
  EXPECT_EQ(compact.total(), 3);
}

TEST(CompactWeights, AreTheSameWhenReadAgain) {
  const CompactWeights compact(std::vector<double>{0.2, 0, 1.7, 0.003});
  const auto again = CompactWeights::FromBytes(compact.Bytes(), 4);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->Bytes(), compact.Bytes());
  EXPECT_EQ(again->total(), compact.total());
}

TEST(CompactWeights, RefuseBytesThatTheyDidNotWrite) {
  const std::string bytes = CompactWeights(std::vector<double>{1, 0.5}).Bytes();
  EXPECT_EQ(CompactWeights::FromBytes(bytes, 3).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CompactWeights::FromBytes(std::string(4, '\0'), 2).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CompactWeights::FromBytes(std::string(4, '\xff'), 2).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::dp
