#include "client/error.h"

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include "client/testing/fake_server.h"
#include "google/rpc/error_details.pb.h"

namespace curator::client {
namespace {

using testing::DetailedError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Error, KeepsCodeAndMessage) {
  const absl::Status status = FromGrpc(grpc::Status(grpc::StatusCode::NOT_FOUND, "dataset census"));
  EXPECT_EQ(status, absl::NotFoundError("dataset census"));
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
}

TEST(Error, ACodeThatNobodyKnowsIsUnknown) {
  EXPECT_TRUE(absl::IsUnknown(FromGrpc(grpc::Status(static_cast<grpc::StatusCode>(30), "what?"))));
}

TEST(Error, NamesEachBadField) {
  google::rpc::BadRequest detail;
  auto* violation = detail.add_field_violations();
  violation->set_field("schema.attributes[2].integer.bin_width");
  violation->set_description("must be at least 1");
  const absl::Status status = FromGrpc(DetailedError(grpc::StatusCode::INVALID_ARGUMENT, "no", {&detail}));
  EXPECT_THAT(FieldViolations(status),
              ElementsAre(FieldViolation{"schema.attributes[2].integer.bin_width", "must be at least 1"}));
  EXPECT_THAT(FullAccounts(status), IsEmpty());
}

TEST(Error, NamesEachFullAccountWithExactAmounts) {
  google::rpc::QuotaFailure detail;
  auto* violation = detail.add_violations();
  violation->set_subject("dataset/census");
  violation->set_description("asked 0.1, left 0.05");
  violation->set_quota_metric("rho");
  (*violation->mutable_quota_dimensions())["rule"] = "ZCDP";
  (*violation->mutable_quota_dimensions())["asked"] = "0.1";
  (*violation->mutable_quota_dimensions())["remaining"] = "0.05";
  const absl::Status status =
      FromGrpc(DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", {&detail}));
  EXPECT_THAT(FullAccounts(status), ElementsAre(FullAccount{"dataset/census", "ZCDP", "rho", "0.1", "0.05",
                                                            "asked 0.1, left 0.05"}));
}

TEST(Error, RoundsTheRetryDelayUp) {
  google::rpc::RetryInfo detail;
  detail.mutable_retry_delay()->set_seconds(2);
  detail.mutable_retry_delay()->set_nanos(1);
  const absl::Status status = FromGrpc(DetailedError(grpc::StatusCode::ABORTED, "later", {&detail}));
  EXPECT_EQ(RetryDelay(status), std::chrono::milliseconds(2001));
  EXPECT_EQ(RetryDelay(absl::AbortedError("")), std::nullopt);
}

TEST(Error, ReadsTheReasonBesideOtherDetails) {
  google::rpc::RetryInfo retry;
  google::rpc::ErrorInfo info;
  info.set_reason("LEDGER_CONTRADICTS_ITSELF");
  const absl::Status status =
      FromGrpc(DetailedError(grpc::StatusCode::FAILED_PRECONDITION, "", {&retry, &info}));
  EXPECT_EQ(Reason(status), "LEDGER_CONTRADICTS_ITSELF");
}

TEST(Error, ARefusalThatChangedNothingIsNoUnknownOutcome) {
  for (const char* reason : {"OVERLOADED", "STORE_FULL"}) {
    google::rpc::ErrorInfo info;
    info.set_reason(reason);
    EXPECT_TRUE(
        WasRefused(FromGrpc(testing::DetailedError(grpc::StatusCode::UNAVAILABLE, "later", {&info}))));
  }
  EXPECT_FALSE(WasRefused(absl::UnavailableError("later")));
}

TEST(Error, AQuotaIsRetriedWhenItEndsAndAFullBudgetNever) {
  google::rpc::ErrorInfo quota;
  quota.set_reason("QUOTA");
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(2);
  const absl::Status over =
      FromGrpc(testing::DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED, "later", {&quota, &retry}));
  EXPECT_TRUE(IsOverQuota(over));
  EXPECT_TRUE(WasRefused(over));
  EXPECT_TRUE(MayRetry(over));
  EXPECT_GE(DelayAfter({}, 1, over, "a"), std::chrono::seconds(2));

  google::rpc::ErrorInfo budget;
  budget.set_reason("BUDGET_FULL");
  const absl::Status full =
      FromGrpc(testing::DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", {&budget, &retry}));
  EXPECT_FALSE(IsOverQuota(full));
  EXPECT_FALSE(MayRetry(full));
}

TEST(Error, ATrailerThatCannotBeReadIsLeftOut) {
  const absl::Status status =
      FromGrpc(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", "\xff\xff not a message"));
  EXPECT_EQ(status, absl::ResourceExhaustedError("full"));
  EXPECT_THAT(FullAccounts(status), IsEmpty());
}

TEST(Error, AServersUnavailableIsNotUnreachable) {
  EXPECT_FALSE(IsUnreachable(absl::UnavailableError("the store is away")));
  EXPECT_TRUE(IsUnreachable(Unreachable("host:1", "reset")));
  EXPECT_FALSE(IsNeverReached(Unreachable("host:1", "reset")));
  EXPECT_TRUE(IsUnreachable(NeverReached("host:1")));
  EXPECT_TRUE(IsNeverReached(NeverReached("host:1")));
  EXPECT_THAT(std::string(NeverReached("host:1").message()), HasSubstr("host:1"));
}

}  // namespace
}  // namespace curator::client
