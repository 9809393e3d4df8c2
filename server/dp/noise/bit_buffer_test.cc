#include <gtest/gtest.h>

#include <vector>

#include "dp/noise/bit_source.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr uint64_t kAllOnes = ~uint64_t{0};

TEST(BitBuffer, HandsOutTheSourcesWordsInOrder) {
  seeded::SeededBits expected(1);
  seeded::SeededBits source(1);
  BitBuffer buffer(source, 7);
  for (int i = 0; i < 1000; ++i) {
    uint64_t word = 0;
    expected.Fill(std::span(&word, 1));
    ASSERT_EQ(buffer.NextWord(), word);
  }
}

TEST(BitBuffer, TakesNoMoreThanItsBlockAndNothingUnasked) {
  seeded::ScriptedBits source({});
  BitBuffer buffer(source, 3);
  EXPECT_EQ(source.taken(), 0u);
  for (int i = 0; i < 4; ++i) buffer.NextWord();
  EXPECT_EQ(source.taken(), 6u);
}

TEST(BitBuffer, GivesEachBitOfAWordOnceLowestFirst) {
  seeded::ScriptedBits source({0x8000'0000'0000'0005, 1});
  BitBuffer buffer(source, 1);
  std::vector<uint64_t> bits;
  for (int i = 0; i < 65; ++i) bits.push_back(buffer.NextBit());
  std::vector<uint64_t> expected(65);
  expected[0] = expected[2] = expected[63] = expected[64] = 1;
  EXPECT_EQ(bits, expected);
}

TEST(BitBuffer, NextBelowSplitsTheWordsIntoEqualParts) {
  // 2^64 = 3 k + 1 with k = (2^64 - 1) / 3: word 0 is rejected, and each value has k words.
  constexpr uint64_t kThird = kAllOnes / 3;
  seeded::ScriptedBits source({0, 1, kThird, kThird + 1, 2 * kThird, 2 * kThird + 1, kAllOnes});
  BitBuffer buffer(source, 1);
  EXPECT_EQ(buffer.NextBelow(3), 0u);  // 0 rejected, then 1
  EXPECT_EQ(buffer.NextBelow(3), 0u);  // kThird
  EXPECT_EQ(buffer.NextBelow(3), 1u);  // kThird + 1
  EXPECT_EQ(buffer.NextBelow(3), 1u);  // 2 kThird
  EXPECT_EQ(buffer.NextBelow(3), 2u);  // 2 kThird + 1
  EXPECT_EQ(buffer.NextBelow(3), 2u);  // the last word
}

TEST(BitBuffer, NextBelowOneIsZeroAndBelowThePowersOfTwoRejectsNothing) {
  seeded::ScriptedBits source({0, kAllOnes, 0, kAllOnes});
  BitBuffer buffer(source, 1);
  EXPECT_EQ(buffer.NextBelow(1), 0u);
  EXPECT_EQ(buffer.NextBelow(1), 0u);
  EXPECT_EQ(buffer.NextBelow(uint64_t{1} << 63), 0u);
  EXPECT_EQ(buffer.NextBelow(uint64_t{1} << 63), (uint64_t{1} << 63) - 1);
  EXPECT_EQ(source.taken(), 4u);
}

TEST(BitBuffer, NextBelowALargeBoundStaysBelowItAndReachesBothEnds) {
  constexpr uint64_t kBound = 0x7fff'ffff'ffff'ffe7;
  seeded::SeededBits source(2);
  BitBuffer buffer(source, 512);
  uint64_t smallest = kAllOnes;
  uint64_t largest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t value = buffer.NextBelow(kBound);
    ASSERT_LT(value, kBound);
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  EXPECT_LT(smallest, kBound / 1000);  // missed with probability e^-100
  EXPECT_GT(largest, kBound - kBound / 1000);
}

}  // namespace
}  // namespace curator::dp
