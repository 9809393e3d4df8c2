#include "rpc/call_rate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/errors.h"

namespace curator::rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr CallsAllowed kAllowed = {.per_second = 20, .burst = 60};

class CallRateTest : public ::testing::Test {
 protected:
  int Admitted(const std::string& principal, int calls) {
    int admitted = 0;
    for (int i = 0; i < calls; ++i) admitted += rate_.Count(principal, kAllowed).ok() ? 1 : 0;
    return admitted;
  }
  CallRate::Steady::time_point now_;
  CallRate rate_{[this] { return now_; }};
};

TEST_F(CallRateTest, AdmitsABurstAndThenAsManyAsTheRate) {
  EXPECT_EQ(Admitted("ana", 100), 60);
  now_ += seconds(1);
  EXPECT_EQ(Admitted("ana", 100), 20);
  now_ += milliseconds(49);
  EXPECT_EQ(Admitted("ana", 100), 0);
  now_ += milliseconds(1);
  EXPECT_EQ(Admitted("ana", 100), 1);
  now_ += seconds(3600);
  EXPECT_EQ(Admitted("ana", 100), 60) << "no more is saved up";
}

TEST_F(CallRateTest, OnePrincipalDoesNotUseUpTheRateOfAnother) {
  Admitted("ana", 100);
  EXPECT_EQ(Admitted("bob", 100), 60);
}

TEST_F(CallRateTest, ARefusalSaysWhenACallIsDueAndDoesNotCount) {
  Admitted("ana", 60);
  for (int i = 0; i < 1000; ++i) {
    const absl::Status refused = rate_.Count("ana", kAllowed);
    ASSERT_TRUE(QuotaRetryOf(refused).has_value()) << refused;
    ASSERT_EQ(QuotaRetryOf(refused), milliseconds(50));
  }
  now_ += milliseconds(50);
  EXPECT_EQ(Admitted("ana", 1), 1);
}

TEST_F(CallRateTest, APrincipalWithAnotherRateHasThat) {
  const CallsAllowed more = {.per_second = 50, .burst = 100};
  int admitted = 0;
  for (int i = 0; i < 200; ++i) admitted += rate_.Count("ana", more).ok() ? 1 : 0;
  EXPECT_EQ(admitted, 100);
  EXPECT_EQ(Admitted("bob", 100), 60);
}

TEST_F(CallRateTest, WhatIsUsedOfABurstComesBackWithTime) {
  EXPECT_EQ(rate_.Used("ana", kAllowed), 0);
  Admitted("ana", 10);
  EXPECT_EQ(rate_.Used("ana", kAllowed), 10);
  now_ += milliseconds(120);
  EXPECT_EQ(rate_.Used("ana", kAllowed), 8) << "two calls of 50 ms are over, and a part of the third";
  Admitted("ana", 100);
  EXPECT_EQ(rate_.Used("ana", kAllowed), 60);
  now_ += seconds(10);
  EXPECT_EQ(rate_.Used("ana", kAllowed), 0);
}

TEST_F(CallRateTest, WhoHasNotCalledLatelyIsForgotten) {
  for (int i = 0; i < 5000; ++i) {
    Admitted("principal " + std::to_string(i), 1);
    now_ += milliseconds(10);
  }
  EXPECT_LE(rate_.principals(), 1024U);
}

}  // namespace
}  // namespace curator::rpc
