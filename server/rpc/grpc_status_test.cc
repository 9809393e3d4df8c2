#include "rpc/grpc_status.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace curator::rpc {
namespace {

template <typename Detail>
std::optional<Detail> DetailOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  for (const auto& any : details.details()) {
    Detail detail;
    if (any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

TEST(GrpcStatus, AFullBudgetTravelsAsQuotaFailureWithExactDecimals) {
  const grpc::Status status =
      ToGrpcStatus(BudgetFull({{"dataset/census", "ZCDP", "rho", 250'000'000'000, 1}}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto quota = DetailOf<google::rpc::QuotaFailure>(status);
  ASSERT_TRUE(quota.has_value());
  ASSERT_EQ(quota->violations_size(), 1);
  EXPECT_EQ(quota->violations(0).subject(), "dataset/census");
  EXPECT_EQ(quota->violations(0).quota_metric(), "rho");
  EXPECT_EQ(quota->violations(0).quota_dimensions().at("rule"), "ZCDP");
  EXPECT_EQ(quota->violations(0).quota_dimensions().at("asked"), "0.25");
  EXPECT_EQ(quota->violations(0).quota_dimensions().at("remaining"), "1e-12");
  EXPECT_EQ(status.error_message(),
            "the budget is full: account dataset/census (ZCDP) was asked for rho 0.25 and has 1e-12 left. "
            "Nothing was charged.");
}

TEST(GrpcStatus, ABadFieldTravelsAsBadRequest) {
  const grpc::Status status = ToGrpcStatus(InvalidField("spend.epsilon", "must be positive"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status)->field_violations(0).field(), "spend.epsilon");
  EXPECT_FALSE(DetailOf<google::rpc::QuotaFailure>(status).has_value());
}

TEST(GrpcStatus, OnlyWhatMayBeTriedAgainCarriesRetryInfo) {
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(ToGrpcStatus(absl::UnavailableError("x"))).has_value());
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(ToGrpcStatus(absl::AbortedError("x"))).has_value());
  EXPECT_FALSE(DetailOf<google::rpc::RetryInfo>(ToGrpcStatus(absl::InternalError("x"))).has_value());
}

TEST(GrpcStatus, AContradictoryLedgerIsNoFaultOfTheRequestAndSaysWhy) {
  const grpc::Status status = ToGrpcStatus(absl::DataLossError("the database is behind its anchor"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "LEDGER_CONTRADICTS_ITSELF");
}

TEST(GrpcStatus, OkIsOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace curator::rpc
