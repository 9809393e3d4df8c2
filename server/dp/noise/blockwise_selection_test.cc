#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "dp/noise/exponential_mechanism.h"
#include "tests/statistical/binomial.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr double kFalseAlarm = 1e-10;
using Blocks = std::vector<std::vector<int64_t>>;

BlockwiseSelection::Scores From(const Blocks& blocks) {
  return [&blocks](size_t block) -> absl::StatusOr<std::vector<int64_t>> { return blocks[block]; };
}

BlockwiseSelection Over(const Blocks& blocks, Rational factor) {
  return BlockwiseSelection::Create(blocks.size(), From(blocks), factor).value();
}

// Of the least likely frequency, corrected for the number of candidates.
double PValue(const Blocks& blocks, Rational drawn_factor, double claimed_factor, uint64_t seed) {
  constexpr uint64_t kTrials = 50'000;
  seeded::SeededBits bits(seed);
  const BlockwiseSelection selection = Over(blocks, drawn_factor);
  std::vector<std::vector<uint64_t>> counts(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) counts[b].resize(blocks[b].size());
  for (uint64_t i = 0; i < kTrials; ++i) {
    const BlockChoice choice = selection.Draw(bits).value();
    ++counts[choice.block][choice.index];
  }
  double total = 0;
  for (const auto& block : blocks) {
    for (const int64_t score : block) total += std::exp(claimed_factor * static_cast<double>(score));
  }
  double smallest = 1;
  size_t candidates = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (size_t i = 0; i < blocks[b].size(); ++i) {
      const double p = std::exp(claimed_factor * static_cast<double>(blocks[b][i])) / total;
      smallest = std::min(smallest, statistics::BinomialPValue(kTrials, counts[b][i], p));
      ++candidates;
    }
  }
  return std::min(1.0, smallest * static_cast<double>(candidates));
}

TEST(BlockwiseSelection, SelectsWithTheExactProbabilitiesHoweverCandidatesAreSplit) {
  for (const Blocks& blocks : std::vector<Blocks>{{{0, 1, 2, 3}},
                                                  {{0}, {1}, {2}, {3}},
                                                  {{}, {0, 3}, {}, {2, 1}, {}},
                                                  {{-40, 5}, {4, 4, 4}, {-1'000'000}}}) {
    EXPECT_GT(PValue(blocks, {1, 2}, 0.5, 1), kFalseAlarm);
  }
}

TEST(BlockwiseSelectionCanary, AnotherFactorIsCaught) {
  EXPECT_LT(PValue({{0, 3}, {2, 1}}, {11, 20}, 0.5, 2), kFalseAlarm);
}

// As if blocks were drawn in proportion to their sizes.
TEST(BlockwiseSelectionCanary, BlocksThatAreNotWeighedAreCaught) {
  EXPECT_LT(PValue({{0, 0}, {4, 4}}, {0, 1}, 0.5, 3), kFalseAlarm);
}

TEST(BlockwiseSelection, TakesAnyGapsAndSkipsBlocksWithoutCandidates) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  seeded::SeededBits bits(4);
  const Blocks blocks = {{}, {kLeast, 0}, {}, {5, kMost}, {}};
  const BlockwiseSelection selection = Over(blocks, {kMost, 1});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(selection.Draw(bits).value(), (BlockChoice{3, 1}));
}

// The sums of two equal blocks meet in the middle: 64 bits that say "just below it" leave it open.
TEST(BlockwiseSelection, DrawsMoreBitsAndAsksAgainWhereTheFirstOnesLeaveItOpen) {
  const Blocks blocks = {{7, 3}, {7, 3}};
  int asked = 0;
  const BlockwiseSelection selection =
      BlockwiseSelection::Create(2,
                                 [&](size_t block) -> absl::StatusOr<std::vector<int64_t>> {
                                   ++asked;
                                   return blocks[block];
                                 },
                                 {1, 2})
          .value();
  EXPECT_EQ(asked, 2);
  seeded::ScriptedBits bits({(uint64_t{1} << 63) - 1, 0, 0});
  EXPECT_EQ(selection.Draw(bits).value(), (BlockChoice{0, 0}));
  EXPECT_EQ(asked, 2 + 2 + 1);
  EXPECT_EQ(bits.taken(), 3U);

  asked = 0;
  seeded::ScriptedBits open_twice({(uint64_t{1} << 63) - 1, ~uint64_t{0}, 0, 0});
  EXPECT_EQ(selection.Draw(open_twice).value(), (BlockChoice{0, 0}));
  EXPECT_EQ(asked, 2 + 2 + 1);
  EXPECT_EQ(open_twice.taken(), 4U);
}

TEST(BlockwiseSelection, FollowsScoresThatHaveChanged) {
  Blocks blocks = {{0, 50}, {10}};
  BlockwiseSelection selection = Over(blocks, {1, 1});
  seeded::SeededBits bits(5);
  EXPECT_EQ(selection.Draw(bits).value(), (BlockChoice{0, 1}));
  blocks[0] = {0};
  ASSERT_TRUE(selection.Rescore(0).ok());
  int second = 0;
  for (int i = 0; i < 100; ++i) second += selection.Draw(bits).value().block == 1 ? 1 : 0;
  EXPECT_EQ(second, 100);
  blocks = {{}, {}};
  ASSERT_TRUE(selection.Rescore(0).ok());
  ASSERT_TRUE(selection.Rescore(1).ok());
  EXPECT_EQ(FieldViolationOf(selection.Draw(bits).status())->field, "scores");
}

TEST(BlockwiseSelection, RefusesBadArgumentsAndHandsOnErrors) {
  const Blocks none = {{}, {}};
  EXPECT_EQ(FieldViolationOf(BlockwiseSelection::Create(2, From(none), {1, 2}).status())->field, "scores");
  const Blocks one = {{1}};
  EXPECT_EQ(FieldViolationOf(BlockwiseSelection::Create(1, From(one), {-1, 2}).status())->field, "factor");
  EXPECT_EQ(FieldViolationOf(BlockwiseSelection::Create(1, From(one), {1, 0}).status())->field, "factor");
  const auto stopped = [](size_t) -> absl::StatusOr<std::vector<int64_t>> {
    return absl::CancelledError("");
  };
  EXPECT_EQ(BlockwiseSelection::Create(1, stopped, {1, 2}).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace curator::dp
