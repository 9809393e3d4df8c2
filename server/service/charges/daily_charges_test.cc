#include "service/charges/daily_charges.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/errors.h"
#include "base/testing/names.h"

namespace curator::service {
namespace {

class DailyChargesTest : public ::testing::Test {
 protected:
  absl::StatusCode RoomFor(const std::string& principal, int64_t charges) const {
    return daily_.CheckRoomFor(TestPrincipal(principal), charges).code();
  }

  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  DailyCharges daily_{10, [this] { return now_; }};
};

TEST_F(DailyChargesTest, ThatAreAllMadeLeaveNoRoomUntilTheNextDay) {
  EXPECT_EQ(RoomFor("ana", 10), absl::StatusCode::kOk);
  EXPECT_EQ(RoomFor("ana", 11), absl::StatusCode::kResourceExhausted);
  daily_.Add(TestPrincipal("ana"), 9);
  EXPECT_EQ(RoomFor("ana", 1), absl::StatusCode::kOk);
  EXPECT_EQ(RoomFor("ana", 2), absl::StatusCode::kResourceExhausted);
  daily_.Add(TestPrincipal("ana"), 1);
  EXPECT_EQ(RoomFor("ana", 1), absl::StatusCode::kResourceExhausted);
  now_ += absl::Hours(24);
  EXPECT_EQ(RoomFor("ana", 10), absl::StatusCode::kOk);
  daily_.Add(TestPrincipal("ana"), 1);
  EXPECT_EQ(RoomFor("ana", 10), absl::StatusCode::kResourceExhausted);
}

TEST_F(DailyChargesTest, ARefusalSaysThatTheBoundEndsAtMidnight) {
  now_ = absl::UnixEpoch() + 11 * absl::Hours(24) - absl::Minutes(90);
  const absl::Status refused = daily_.CheckRoomFor(TestPrincipal("ana"), 11);
  EXPECT_EQ(QuotaRetryOf(refused), std::chrono::minutes(90));
}

TEST_F(DailyChargesTest, OfOnePrincipalLeaveTheRoomOfOthersAlone) {
  daily_.Add(TestPrincipal("ana"), 10);
  EXPECT_EQ(RoomFor("bob", 10), absl::StatusCode::kOk);
}

}  // namespace
}  // namespace curator::service
