#include "host/uuid.h"

#include <gtest/gtest.h>

#include <set>

namespace curator::host {
namespace {

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

TEST(Uuid, RefusesOtherShapes) {
  EXPECT_TRUE(IsUuid("F81D4FAE-7dec-11d0-a765-00a0c91e6bf6"));
  EXPECT_FALSE(IsUuid(""));
  EXPECT_FALSE(IsUuid("f81d4fae7dec11d0a76500a0c91e6bf6"));
  EXPECT_FALSE(IsUuid("f81d4fae-7dec-11d0-a765-00a0c91e6bf"));
  EXPECT_FALSE(IsUuid("f81d4fae-7dec-11d0-a765-00a0c91e6bf66"));
  EXPECT_FALSE(IsUuid("f81d4fae-7dec-11d0-a765_00a0c91e6bf6"));
  EXPECT_FALSE(IsUuid("g81d4fae-7dec-11d0-a765-00a0c91e6bf6"));
}

}  // namespace
}  // namespace curator::host
