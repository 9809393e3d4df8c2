#include "host/entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace curator::host {
namespace {

TEST(Entropy, FillsEveryByteOfALongSpan) {
  // A byte that stays zero in 16 fills is one that is not filled: probability 2^-128 for each otherwise.
  std::vector<uint8_t> seen(1'000'000);
  for (int round = 0; round < 16; ++round) {
    std::vector<uint8_t> bytes(seen.size());
    FillWithEntropy(bytes);
    for (size_t i = 0; i < seen.size(); ++i) seen[i] |= bytes[i];
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 0);
}

TEST(Entropy, NoTwoDrawKeysAreEqual) {
  EXPECT_NE(NewDrawKey().bytes(), NewDrawKey().bytes());
}

}  // namespace
}  // namespace curator::host
