#include "rpc/handle.h"

#include <grpcpp/test/server_context_test_spouse.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "curator/v1/budget.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "service/testing/fixture.h"

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

TEST(GrpcStatus, AContradictoryHistoryIsNoFaultOfTheRequestAndSaysWhy) {
  const grpc::Status status = ToGrpcStatus(DatasetReadOnly("dataset \"census\" is read-only"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "LEDGER_CONTRADICTS_ITSELF");
}

TEST(GrpcStatus, ADamagedRecordFileIsNotBlamedOnTheLedger) {
  const grpc::Status status = ToGrpcStatus(absl::DataLossError("the sealed table is damaged"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "DATA_LOSS");
}

TEST(GrpcStatus, OkIsOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

// Handles a call of the principals that its metadata names, and returns what the handler was given.
class HandleTest : public service::ServiceTest {
 protected:
  grpc::Status HandleCallOf(const std::vector<std::string>& principals) {
    grpc::ServerContext context;
    grpc::testing::ServerContextTestSpouse metadata(&context);
    for (const std::string& principal : principals) metadata.AddClientMetadata(kPrincipalKey, principal);
    const v1::GetBudgetRequest request;
    v1::GetBudgetResponse response;
    return Handle(services_, context, request, response,
                  [&](service::Services&, const Call& call, const auto&, auto&) {
                    handled_.push_back(call.principal().name());
                    return absl::NotFoundError("handled");
                  });
  }

  std::vector<std::string> handled_;
};

TEST_F(HandleTest, RunsTheHandlerForThePrincipalThatTheCallNames) {
  EXPECT_EQ(HandleCallOf({"ana"}).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(handled_, std::vector<std::string>{"ana"});
}

TEST_F(HandleTest, RunsNoHandlerWithoutExactlyOnePossiblePrincipal) {
  EXPECT_EQ(HandleCallOf({}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(HandleCallOf({"ana", "bea"}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(HandleCallOf({"no spaces"}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(handled_.empty());
}

TEST(IntentOf, IsThatOfTheFieldValidateOnly) {
  v1::CreateAccountRequest request;
  EXPECT_EQ(IntentOf(request), service::Intent::kDo);
  request.set_validate_only(true);
  EXPECT_EQ(IntentOf(request), service::Intent::kValidateOnly);
}

}  // namespace
}  // namespace curator::rpc
