#include "dp/synthesis/models/alias_table.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

// The share of all pairs of words that lead to each cell, on a fine lattice of pairs.
std::vector<double> SharesOf(const AliasTable& table, size_t cells) {
  constexpr uint64_t kHeights = 2000;
  std::vector<double> shares(cells);
  for (uint64_t column = 0; column < cells; ++column) {
    const uint64_t first = static_cast<uint64_t>((static_cast<long double>(column) + 0.5L) /
                                                 static_cast<long double>(cells) * 18446744073709551616.0L);
    for (uint64_t height = 0; height < kHeights; ++height) {
      const uint64_t second = (UINT64_MAX / kHeights) * height + UINT64_MAX / kHeights / 2;
      shares[table.CellAt(first, second)] += 1.0 / static_cast<double>(cells * kHeights);
    }
  }
  return shares;
}

TEST(AliasTable, GivesEachCellItsShareOfTheWords) {
  std::mt19937_64 random(1);
  for (const size_t cells : {1u, 2u, 3u, 50u, 333u}) {
    std::vector<float> weights(cells);
    double total = 0;
    for (float& weight : weights) {
      weight = random() % 4 == 0 ? 0.0F : static_cast<float>(random() % 1000);
      total += static_cast<double>(weight);
    }
    if (total <= 0) weights[0] = 1, total = 1;
    const std::vector<double> shares = SharesOf(AliasTable(weights), cells);
    for (size_t cell = 0; cell < cells; ++cell) {
      EXPECT_NEAR(shares[cell], static_cast<double>(weights[cell]) / total, 1e-3);
      if (weights[cell] <= 0) {
        EXPECT_EQ(shares[cell], 0);
      }
    }
  }
}

TEST(AliasSampler, DrawsTheSameCellsFromTheSameBits) {
  const std::vector<float> weights = {1, 2, 3, 4};
  const AliasTable table(weights);
  seeded::SeededBits bits(5);
  seeded::SeededBits again(5);
  AliasSampler first(table, bits, 1000);
  AliasSampler second(table, again, 1000);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(first.Draw(), second.Draw());
}

}  // namespace
}  // namespace curator::dp
