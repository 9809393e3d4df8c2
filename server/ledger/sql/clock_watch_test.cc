#include "ledger/sql/clock_watch.h"

#include <gtest/gtest.h>

namespace curator::ledger::sql {
namespace {

using Verdict = ClockWatch::Verdict;

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kNow = 1'700'000'000 * kSecond;

TEST(ClockWatch, TrustsTheFirstReadingAndAClockThatGoesOn) {
  ClockWatch watch;
  EXPECT_EQ(watch.Judge(kNow, 0), Verdict::kTrusted);
  EXPECT_EQ(watch.Judge(kNow + 10 * kSecond, 10 * kSecond), Verdict::kTrusted);
  EXPECT_EQ(watch.Judge(kNow + 5 * kHour, 5 * kHour), Verdict::kTrusted) << "it was not read for hours";
  EXPECT_EQ(watch.Judge(kNow + 6 * kHour, 5 * kHour), Verdict::kTrusted) << "an hour is no jump";
}

TEST(ClockWatch, AJumpIsTrustedOnceALaterReadingConfirmsIt) {
  ClockWatch watch;
  watch.Judge(kNow, 0);
  EXPECT_EQ(watch.Judge(kNow + 2 * kHour, kSecond), Verdict::kJumped);
  EXPECT_EQ(watch.Judge(kNow + 2 * kHour + 59 * kSecond, 60 * kSecond), Verdict::kUnconfirmed);
  EXPECT_EQ(watch.Judge(kNow + 2 * kHour + 60 * kSecond, 61 * kSecond), Verdict::kTrusted);
  EXPECT_EQ(watch.Judge(kNow + 2 * kHour + 70 * kSecond, 71 * kSecond), Verdict::kTrusted);
}

TEST(ClockWatch, AJumpThatIsTakenBackExpiresNothing) {
  ClockWatch watch;
  watch.Judge(kNow, 0);
  EXPECT_EQ(watch.Judge(kNow + 2 * kHour, kSecond), Verdict::kJumped);
  EXPECT_EQ(watch.Judge(kNow + 90 * kSecond, 90 * kSecond), Verdict::kTrusted);
  EXPECT_EQ(watch.Judge(kNow + 2 * kHour, 100 * kSecond), Verdict::kJumped) << "it has to be confirmed again";
}

TEST(ClockWatch, ASecondJumpDoesNotConfirmTheFirst) {
  ClockWatch watch;
  watch.Judge(kNow, 0);
  EXPECT_EQ(watch.Judge(kNow + 2 * kHour, 0), Verdict::kJumped);
  EXPECT_EQ(watch.Judge(kNow + 9 * kHour, 100 * kSecond), Verdict::kJumped);
  EXPECT_EQ(watch.Judge(kNow + 9 * kHour, 120 * kSecond), Verdict::kUnconfirmed);
  EXPECT_EQ(watch.Judge(kNow + 9 * kHour + 60 * kSecond, 160 * kSecond), Verdict::kTrusted);
}

TEST(ClockWatch, AClockThatGoesBackIsTrusted) {
  ClockWatch watch;
  watch.Judge(kNow, 0);
  EXPECT_EQ(watch.Judge(kNow - 5 * kHour, kSecond), Verdict::kTrusted);
}

}  // namespace
}  // namespace curator::ledger::sql
