#include "service/accounts/comparison_cache.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"

namespace curator::service {
namespace {

const Principal kAna = TestPrincipal("ana");
const Principal kBob = TestPrincipal("bob");

TEST(ComparisonCache, KeepsTheLatestUsedWithinItsBound) {
  ComparisonCache cache(2);
  EXPECT_FALSE(cache.Find(kAna, "a"));
  cache.Keep(kAna, "a", {});
  cache.Keep(kAna, "b", {});
  EXPECT_TRUE(cache.Find(kAna, "a"));
  cache.Keep(kAna, "c", {});
  EXPECT_TRUE(cache.Find(kAna, "a"));
  EXPECT_TRUE(cache.Find(kAna, "c"));
  EXPECT_FALSE(cache.Find(kAna, "b")) << "it was used longest ago";
}

TEST(ComparisonCache, KeepsWhatWasComputedFirst) {
  ComparisonCache cache;
  cache.Keep(kAna, "a", {{.calculator = "basic", .epsilon = 1.0}});
  cache.Keep(kAna, "a", {});
  ASSERT_EQ(cache.Find(kAna, "a")->size(), 1U);
  EXPECT_EQ(*cache.Find(kAna, "a")->front().epsilon, 1.0);
}

TEST(ComparisonCache, ACallerWithManyDropsNoneOfAnother) {
  ComparisonCache cache(/*most=*/3, /*most_of_one=*/2);
  cache.Keep(kBob, "first", {});
  cache.Keep(kAna, "a", {});
  cache.Keep(kAna, "b", {});
  cache.Keep(kAna, "c", {});
  EXPECT_TRUE(cache.Find(kBob, "first"));
  EXPECT_FALSE(cache.Find(kAna, "a"));
  EXPECT_TRUE(cache.Find(kAna, "b"));
  EXPECT_TRUE(cache.Find(kAna, "c"));
}

TEST(ComparisonCache, ShowsNoCallerWhatWasComputedForAnother) {
  ComparisonCache cache;
  cache.Keep(kAna, "a", {});
  EXPECT_FALSE(cache.Find(kBob, "a"));
}

}  // namespace
}  // namespace curator::service
