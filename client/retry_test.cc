
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "client/testing/fake_server.h"
#include "google/rpc/error_details.pb.h"

namespace curator::client {
namespace {

using std::chrono::milliseconds;

absl::Status AbortedWithDelay(int seconds) {
  google::rpc::RetryInfo detail;
  detail.mutable_retry_delay()->set_seconds(seconds);
  return FromGrpc(testing::DetailedError(grpc::StatusCode::ABORTED, "busy", {&detail}));
}

TEST(Retry, OnlyWhatTheRequestIdMakesSafeIsRepeated) {
  EXPECT_TRUE(MayRetry(absl::UnavailableError("")));
  EXPECT_TRUE(MayRetry(AbortedWithDelay(1)));
  EXPECT_FALSE(MayRetry(absl::OkStatus()));
  EXPECT_FALSE(MayRetry(absl::AbortedError("without RetryInfo")));
  for (const absl::StatusCode code :
       {absl::StatusCode::kCancelled, absl::StatusCode::kUnknown, absl::StatusCode::kInvalidArgument,
        absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kNotFound, absl::StatusCode::kAlreadyExists,
        absl::StatusCode::kPermissionDenied, absl::StatusCode::kResourceExhausted,
        absl::StatusCode::kFailedPrecondition, absl::StatusCode::kInternal, absl::StatusCode::kDataLoss}) {
    EXPECT_FALSE(MayRetry(absl::Status(code, ""))) << absl::StatusCodeToString(code);
  }
}

TEST(Retry, DelaysDoubleUpToTheLongest) {
  const RetryPolicy policy{milliseconds(100), milliseconds(1000), milliseconds(3000)};
  const absl::Status status = absl::UnavailableError("");
  int whole = 100;
  for (int failures = 1; failures <= 40; ++failures) {
    const milliseconds delay = DelayAfter(policy, failures, status, "id");
    EXPECT_GE(delay, milliseconds(whole / 2)) << failures;
    EXPECT_LE(delay, milliseconds(whole)) << failures;
    whole = std::min(whole * 2, 1000);
  }
}

TEST(Retry, ClientsThatFailTogetherDoNotReturnTogether) {
  const RetryPolicy policy{milliseconds(1000), milliseconds(1000), milliseconds(3000)};
  const absl::Status status = absl::UnavailableError("");
  EXPECT_NE(DelayAfter(policy, 1, status, "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"),
            DelayAfter(policy, 1, status, "9d4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"));
}

TEST(Retry, TheServersDelayIsALowerBoundThatIsExceededByHalfAtMost) {
  for (int failures = 1; failures <= 40; ++failures) {
    const milliseconds delay = DelayAfter(RetryPolicy(), failures, AbortedWithDelay(5), "id");
    EXPECT_GE(delay, milliseconds(5000)) << failures;
    EXPECT_LE(delay, milliseconds(7500)) << failures;
  }
}

TEST(Retry, ClientsThatTheServerTurnsAwayTogetherDoNotReturnTogether) {
  std::set<milliseconds> delays;
  for (int client = 0; client < 100; ++client) {
    delays.insert(DelayAfter(RetryPolicy(), 1, AbortedWithDelay(5), absl::StrCat("request of ", client)));
  }
  EXPECT_GT(delays.size(), 90u);
}

}  // namespace
}  // namespace curator::client
