#include "dp/noise/bit_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>

namespace curator::dp {
namespace {

TEST(DrawKey, IsWipedWhenDestroyed) {
  alignas(DrawKey) std::array<unsigned char, sizeof(DrawKey)> storage{};
  DrawKey::Bytes bytes;
  bytes.fill(0xa5);
  auto* const key = new (storage.data()) DrawKey(bytes);
  ASSERT_EQ(std::count(storage.begin(), storage.end(), 0xa5), 32);
  key->~DrawKey();
  EXPECT_EQ(std::count(storage.begin(), storage.end(), 0xa5), 0);
}

}  // namespace
}  // namespace curator::dp
