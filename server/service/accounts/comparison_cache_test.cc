#include "service/accounts/comparison_cache.h"

#include <gtest/gtest.h>

namespace curator::service {
namespace {

TEST(ComparisonCache, KeepsTheLatestUsedWithinItsBound) {
  ComparisonCache cache(2);
  EXPECT_FALSE(cache.Find("a"));
  cache.Keep("a", {});
  cache.Keep("b", {});
  EXPECT_TRUE(cache.Find("a"));
  cache.Keep("c", {});
  EXPECT_TRUE(cache.Find("a"));
  EXPECT_TRUE(cache.Find("c"));
  EXPECT_FALSE(cache.Find("b")) << "it was used longest ago";
}

TEST(ComparisonCache, KeepsWhatWasComputedFirst) {
  ComparisonCache cache;
  cache.Keep("a", {{.calculator = "basic", .epsilon = 1.0}});
  cache.Keep("a", {});
  ASSERT_EQ(cache.Find("a")->size(), 1U);
  EXPECT_EQ(*cache.Find("a")->front().epsilon, 1.0);
}

}  // namespace
}  // namespace curator::service
