#include "service/quotas/period_use.h"

#include <gtest/gtest.h>

namespace curator::service {
namespace {

class PeriodUseTest : public ::testing::Test {
 protected:
  absl::Time now_ = absl::FromUnixSeconds(3600 * 1000);
  PeriodUse use_{absl::Hours(1), [this] { return now_; }};
};

TEST_F(PeriodUseTest, AmountsAddUpToTheMostAndComeBackWithTheNextPeriod) {
  EXPECT_TRUE(use_.Add("ana", 6, 10));
  EXPECT_FALSE(use_.Add("ana", 5, 10));
  EXPECT_EQ(use_.UsedBy("ana"), 6) << "what was refused is not counted";
  now_ += absl::Minutes(59);
  EXPECT_TRUE(use_.Add("ana", 4, 10));
  EXPECT_FALSE(use_.Add("ana", 1, 10));
  EXPECT_EQ(use_.Left(), absl::Minutes(1));
  now_ += absl::Minutes(1);
  EXPECT_EQ(use_.UsedBy("ana"), 0);
  EXPECT_TRUE(use_.Add("ana", 10, 10));
  EXPECT_EQ(use_.Left(), absl::Hours(1));
}

TEST_F(PeriodUseTest, OnePrincipalDoesNotUseUpWhatAnotherMayUse) {
  EXPECT_TRUE(use_.Add("ana", 10, 10));
  EXPECT_TRUE(use_.Add("bob", 10, 10));
}

TEST_F(PeriodUseTest, APrincipalWithALowerLimitThanItsUseAddsNothing) {
  EXPECT_TRUE(use_.Add("ana", 10, 10));
  EXPECT_FALSE(use_.Add("ana", 1, 5));
  EXPECT_FALSE(use_.Add("bob", 1, 0));
}

}  // namespace
}  // namespace curator::service
