#include "base/lru_cache.h"

#include <gtest/gtest.h>

namespace curator {
namespace {

std::shared_ptr<const int> Number(int number) {
  return std::make_shared<const int>(number);
}

TEST(LruCache, KeepsTheLatestValueOfAKey) {
  LruCache<int> cache(800);
  EXPECT_EQ(cache.Find("a"), nullptr);
  cache.Keep("a", Number(1), 10);
  cache.Keep("a", Number(2), 10);
  ASSERT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(*cache.Find("a"), 2);
}

TEST(LruCache, DropsWhatWasUsedLongestAgoBeyondItsBytes) {
  LruCache<int> cache(800);
  for (int i = 0; i < 8; ++i) cache.Keep(std::to_string(i), Number(i), 100);
  EXPECT_NE(cache.Find("0"), nullptr);
  cache.Keep("8", Number(8), 100);
  EXPECT_EQ(cache.Find("1"), nullptr);
  EXPECT_NE(cache.Find("0"), nullptr);
  EXPECT_NE(cache.Find("8"), nullptr);
}

TEST(LruCache, KeepsNoValueThatWouldPushOutAllOthers) {
  LruCache<int> cache(800);
  cache.Keep("a", Number(1), 10);
  cache.Keep("large", Number(2), 101);
  cache.Keep("a", Number(3), 101);
  EXPECT_EQ(cache.Find("large"), nullptr);
  EXPECT_EQ(cache.Find("a"), nullptr) << "the earlier value is outdated";
}

TEST(LruCache, AValueStaysWithThoseWhoHoldItWhenItIsDropped) {
  LruCache<int> cache(800);
  cache.Keep("a", Number(1), 100);
  const std::shared_ptr<const int> held = cache.Find("a");
  for (int i = 0; i < 8; ++i) cache.Keep(std::to_string(i), Number(i), 100);
  EXPECT_EQ(cache.Find("a"), nullptr);
  EXPECT_EQ(*held, 1);
}

}  // namespace
}  // namespace curator
