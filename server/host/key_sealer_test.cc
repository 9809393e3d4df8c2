#include <gtest/gtest.h>

#include <string>

#include "host/entropy.h"
#include "host/server_key.h"
#include "tests/testing/scratch_folder.h"

namespace curator::host {
namespace {

class KeySealerTest : public ::testing::Test {
 protected:
  KeySealer Open(const std::string& name) const {
    return KeySealer::OpenOrCreate(folder_.path() + "/" + name).value();
  }

  const testing::ScratchFolder folder_;
};

TEST_F(KeySealerTest, OpensWhatItSealedAfterARestart) {
  const dp::DrawKey key = NewDrawKey();
  const std::string sealed = Open("server.key").Seal(key, "fingerprint");
  const absl::StatusOr<dp::DrawKey> opened = Open("server.key").Unseal(sealed, "fingerprint");
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->bytes(), key.bytes());
}

// Computed by another implementation (HMAC of Python's standard library).
TEST(DeriveDrawKey, IsHkdfWithoutSaltOfTheSealedKeyAndTheIdentity) {
  dp::DrawKey::Bytes bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  const dp::DrawKey key(bytes);
  const dp::DrawKey::Bytes expected = {0xd2, 0xd1, 0x62, 0xa5, 0x82, 0x1a, 0x45, 0x97, 0xba, 0x86, 0xd1,
                                       0xcf, 0xde, 0xf7, 0xd7, 0x8c, 0x0a, 0x48, 0x42, 0xf2, 0xf6, 0x28,
                                       0x1d, 0xab, 0x53, 0xc3, 0xc3, 0x84, 0xd5, 0xf0, 0x56, 0xba};
  EXPECT_EQ(DeriveDrawKey(key, "what is drawn").bytes(), expected);
  EXPECT_NE(DeriveDrawKey(key, "what else is drawn").bytes(), expected);
}

TEST_F(KeySealerTest, TwoSealsOfOneKeyShareNothing) {
  const KeySealer sealer = Open("server.key");
  const dp::DrawKey key = NewDrawKey();
  const std::string first = sealer.Seal(key, "");
  const std::string second = sealer.Seal(key, "");
  EXPECT_EQ(first.size(), 81u);
  EXPECT_NE(first.substr(1, 32), second.substr(1, 32));
  EXPECT_NE(first.substr(33, 32), second.substr(33, 32));
}

TEST_F(KeySealerTest, RefusesAnotherContextAndAnotherServersSeal) {
  const KeySealer sealer = Open("server.key");
  const std::string sealed = sealer.Seal(NewDrawKey(), "charge 1");
  EXPECT_EQ(sealer.Unseal(sealed, "charge 2").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(sealer.Unseal(sealed, "").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Open("other.key").Unseal(sealed, "charge 1").status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(KeySealerTest, RefusesASealWithAnyBitFlipped) {
  const KeySealer sealer = Open("server.key");
  const std::string sealed = sealer.Seal(NewDrawKey(), "charge");
  for (size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    std::string altered = sealed;
    altered[bit / 8] = static_cast<char>(altered[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(sealer.Unseal(altered, "charge").status().code(), absl::StatusCode::kDataLoss) << bit;
  }
}

TEST_F(KeySealerTest, RefusesASealOfAnyOtherLength) {
  const KeySealer sealer = Open("server.key");
  const std::string sealed = sealer.Seal(NewDrawKey(), "charge");
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(sealer.Unseal(sealed.substr(0, size), "charge").ok()) << size;
  }
  EXPECT_FALSE(sealer.Unseal(sealed + '\0', "charge").ok());
}

}  // namespace
}  // namespace curator::host
