#include "audit/refusal_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace curator::audit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kDayUs = int64_t{86'400} * 1'000'000;
constexpr int64_t kNoon = 100 * kDayUs + kDayUs / 2;

TEST(RefusalBoundTest, RecordsSoManyOfEachPrincipalAndCountsTheRest) {
  RefusalBound bound(2);
  EXPECT_TRUE(bound.Admit("ana", kNoon));
  EXPECT_TRUE(bound.Admit("ana", kNoon + 1));
  EXPECT_FALSE(bound.Admit("ana", kNoon + 2));
  EXPECT_FALSE(bound.Admit("ana", kNoon + 3));
  EXPECT_TRUE(bound.Admit("bob", kNoon + 4));
  EXPECT_THAT(bound.TakeCounts(), ElementsAre(RefusalBound::Count{"ana", 2, kNoon + 2}));
}

TEST(RefusalBoundTest, ACountIsTakenOnce) {
  RefusalBound bound(0);
  EXPECT_FALSE(bound.Admit("ana", kNoon));
  bound.TakeCounts();
  EXPECT_THAT(bound.TakeCounts(), IsEmpty());
  EXPECT_FALSE(bound.Admit("ana", kNoon + 5));
  EXPECT_THAT(bound.TakeCounts(), ElementsAre(RefusalBound::Count{"ana", 1, kNoon + 5}));
}

TEST(RefusalBoundTest, EachDayBeginsAnewAndForgetsNoCount) {
  RefusalBound bound(1);
  EXPECT_TRUE(bound.Admit("ana", kNoon));
  EXPECT_FALSE(bound.Admit("ana", kNoon));
  EXPECT_TRUE(bound.Admit("ana", kNoon + kDayUs));
  EXPECT_THAT(bound.TakeCounts(), ElementsAre(RefusalBound::Count{"ana", 1, kNoon}));
}

TEST(RefusalBoundTest, CallsOfNobodyKnownShareOneBound) {
  RefusalBound bound(1);
  EXPECT_TRUE(bound.Admit("", kNoon));
  EXPECT_FALSE(bound.Admit("", kNoon));
}

TEST(RefusalBoundTest, AnyNumberOfNamesTakesABoundedPlace) {
  RefusalBound bound(1);
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(bound.Admit(absl::StrCat("p", i), kNoon));
  EXPECT_TRUE(bound.Admit("one more", kNoon));
  EXPECT_FALSE(bound.Admit("yet another", kNoon));
  EXPECT_THAT(bound.TakeCounts(), ElementsAre(RefusalBound::Count{"", 1, kNoon}));
}

}  // namespace
}  // namespace curator::audit
