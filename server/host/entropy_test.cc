#include "host/entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"

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

TEST(Uuid, IsOfVersionFourAndOfTheStandardVariant) {
  for (int i = 0; i < 64; ++i) {
    const std::string uuid = NewUuid();
    ASSERT_TRUE(IsUuid(uuid)) << uuid;
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
  }
}

TEST(Uuid, DoesNotRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(NewUuid());
  EXPECT_EQ(seen.size(), 10'000u);
}

}  // namespace
}  // namespace curator::host
