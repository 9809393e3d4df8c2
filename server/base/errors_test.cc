#include "base/errors.h"

#include <gtest/gtest.h>

#include <chrono>

namespace curator {
namespace {

TEST(Errors, AFieldViolationSurvivesInsideAStatus) {
  const absl::Status status = InvalidField("epsilon", "must be positive: got 3:-1");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldViolationOf(status), (FieldViolation{"epsilon", "must be positive: got 3:-1"}));
}

TEST(Errors, APathGrowsFromTheInside) {
  const absl::Status status =
      WithinField("schema", WithinField("attributes[2]", InvalidField("min", "is above max")));
  EXPECT_EQ(FieldViolationOf(status)->field, "schema.attributes[2].min");
  EXPECT_EQ(status.message(), "schema.attributes[2].min: is above max");
}

TEST(Errors, AStatusWithoutAViolationIsLeftAlone) {
  EXPECT_EQ(WithinField("schema", absl::NotFoundError("x")), absl::NotFoundError("x"));
  EXPECT_FALSE(FieldViolationOf(absl::NotFoundError("x")).has_value());
}

TEST(Errors, EveryFullAccountIsNamed) {
  const std::vector<FullAccount> full = {{"dataset/census", "PURE", "epsilon", 5, 3},
                                         {"analyst/ana", "ZCDP", "rho", INT64_MAX, 0}};
  const absl::Status status = BudgetFull(full);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(FullAccountsOf(status), full);
  EXPECT_TRUE(FullAccountsOf(absl::OkStatus()).empty());
}

TEST(OverQuota, SaysWhenToAskAgainAndIsNoFullBudget) {
  const absl::Status status = OverQuota("20 calls a second", std::chrono::milliseconds(1500));
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(QuotaRetryOf(status), std::chrono::milliseconds(1500));
  EXPECT_TRUE(FullAccountsOf(status).empty());
  EXPECT_EQ(QuotaRetryOf(BudgetFull({{"dataset/census", "PURE", "epsilon", 5, 3}})), std::nullopt);
}

TEST(Overloaded, IsUnavailableAndDistinctFromOtherUnavailability) {
  const absl::Status status = Overloaded("ask again");
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_TRUE(IsOverloaded(status));
  EXPECT_FALSE(IsOverloaded(absl::UnavailableError("ask again")));
  EXPECT_FALSE(IsOverloaded(absl::OkStatus()));
}

TEST(DatasetChanged, IsAbortedAndDistinctFromOtherAborts) {
  EXPECT_TRUE(absl::IsAborted(DatasetChanged()));
  EXPECT_TRUE(IsDatasetChanged(DatasetChanged()));
  EXPECT_FALSE(IsDatasetChanged(absl::AbortedError("ask again")));
}

TEST(ForOperators, KeepsCodeAndMessageAndSaysWhatAClientGets) {
  const PublicError instead{"the store does not answer", "STORE_AWAY"};
  const absl::Status status = ForOperators(absl::UnavailableError("no route to db.example"), instead);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "no route to db.example");
  EXPECT_EQ(PublicErrorOf(status), instead);
  EXPECT_EQ(PublicMessageOf(status), "the store does not answer");
  EXPECT_EQ(PublicMessageOf(absl::UnavailableError("ask again")), "ask again");
  EXPECT_EQ(PublicErrorOf(absl::UnavailableError("ask again")), std::nullopt);
}

}  // namespace
}  // namespace curator
