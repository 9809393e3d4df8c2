// The owner's own look over a real socket: for the owner alone, written down first, private.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;

class Owner : public ::testing::TestWithParam<Backend> {
 protected:
  Owner() : server_(GetParam()), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "30"), SmallCsv(8000));
    release_ = ReleaseAt("2");
  }

  std::string ReleaseAt(const std::string& epsilon) const {
    v1::CreateSynthesisRequest request;
    request.set_dataset("census");
    request.mutable_spec()->set_method("mwem");
    request.mutable_spec()->mutable_spend()->set_epsilon(epsilon);
    const absl::StatusOr<v1::Operation> started = owner_.CreateSynthesis(request);
    EXPECT_TRUE(started.ok()) << started.status();
    return owner_.WaitOperation(started->id(), std::chrono::minutes(2))->release_id();
  }

  v1::EvaluateRequest Evaluation(const std::vector<std::string>& by) const {
    v1::EvaluateRequest request;
    request.set_dataset("census");
    request.set_release_id(release_);
    for (const std::string& attribute : by) request.add_by(attribute);
    return request;
  }

  // "KIND: summary" of all entries of the dataset.
  std::vector<std::string> History() const {
    std::vector<std::string> entries;
    EXPECT_TRUE(owner_
                    .ListLedgerEntries("census", 0,
                                       [&](const v1::LedgerEntry& entry) {
                                         entries.push_back(entry.kind() + ": " + entry.summary());
                                         return absl::OkStatus();
                                       })
                    .ok());
    return entries;
  }

  TestServer server_;
  Client owner_;
  std::string release_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Owner, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Owner, ComparesAReleaseWithTheRecordsAndTheLookIsWrittenDown) {
  const std::string spent = owner_.GetBudget("census")->accounts(0).counters(0).spent();
  const absl::StatusOr<v1::EvaluateResponse> evaluated = owner_.Evaluate(Evaluation({"region"}));
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  ASSERT_EQ(evaluated->groups_size(), 4);
  for (const v1::EvaluateResponse::Group& group : evaluated->groups()) {
    EXPECT_EQ(group.records(), 2000) << group.label();
    EXPECT_NEAR(group.estimated_records(), 2000, 60);
    EXPECT_LT(group.distance(), 0.1);
    EXPECT_FALSE(group.biased());
  }
  EXPECT_EQ(evaluated->error(), evaluated->error_without_bias());
  EXPECT_THAT(evaluated->warning(), HasSubstr("PRIVATE"));
  EXPECT_THAT(History().back(), HasSubstr("OWNER_ACTION: evaluate release " + release_ + " by region"));
  EXPECT_EQ(owner_.GetBudget("census")->accounts(0).counters(0).spent(), spent);
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
}

TEST_P(Owner, AWrongNumberOfRecordsMakesAGroupWhollyWrong) {
  v1::EvaluateRequest request = Evaluation({"region", "sex"});
  request.set_release_id(ReleaseAt("0.00001"));  // its number of records is all but noise
  request.set_bias_penalty(1);
  const absl::StatusOr<v1::EvaluateResponse> evaluated = owner_.Evaluate(request);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_GT(evaluated->biased_groups(), 0);
  EXPECT_GT(evaluated->error(), evaluated->error_without_bias());
  EXPECT_LT(owner_.Evaluate(Evaluation({}))->error(), 0.1);
}

TEST_P(Owner, IsToldTheNumberOfRecords) {
  v1::RowCountsRequest request;
  request.set_dataset("census");
  const absl::StatusOr<v1::RowCountsResponse> counted = owner_.RowCounts(request);
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ(counted->records(), 8000);
  EXPECT_THAT(counted->warning(), HasSubstr("PRIVATE"));
  EXPECT_THAT(History().back(), HasSubstr("OWNER_ACTION: count rows"));
}

TEST_P(Owner, NobodyElseMayLookAndNothingIsWrittenDown) {
  Grant(owner_, "census", "ana");
  const size_t entries = History().size();
  const Client analyst = server_.ClientFor("ana");
  const Client stranger = server_.ClientFor("eve");
  EXPECT_EQ(analyst.Evaluate(Evaluation({})).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(stranger.Evaluate(Evaluation({})).status().code(), absl::StatusCode::kNotFound);
  v1::RowCountsRequest count;
  count.set_dataset("census");
  EXPECT_EQ(analyst.RowCounts(count).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(stranger.RowCounts(count).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(History().size(), entries);
}

TEST_P(Owner, AQuestionThatMakesNoSenseIsRefusedBeforeTheLook) {
  const size_t entries = History().size();
  v1::EvaluateRequest request = Evaluation({"height"});
  EXPECT_EQ(owner_.Evaluate(request).status().code(), absl::StatusCode::kInvalidArgument);
  request = Evaluation({"sex", "sex"});
  EXPECT_EQ(owner_.Evaluate(request).status().code(), absl::StatusCode::kInvalidArgument);
  request = Evaluation({"sex", "age", "region"});
  EXPECT_EQ(owner_.Evaluate(request).status().code(), absl::StatusCode::kInvalidArgument);
  request = Evaluation({});
  request.set_pairs(0);
  EXPECT_EQ(owner_.Evaluate(request).status().code(), absl::StatusCode::kInvalidArgument);
  request = Evaluation({});
  request.set_release_id(*client::NewRequestId());
  EXPECT_EQ(owner_.Evaluate(request).status().code(), absl::StatusCode::kNotFound);
  request = Evaluation({});
  request.set_validate_only(true);
  EXPECT_TRUE(owner_.Evaluate(request).ok());
  ASSERT_TRUE(owner_.CreateDataset(NewDataset("unsealed", v1::RULE_PURE, "1")).ok());
  v1::RowCountsRequest count;
  count.set_dataset("unsealed");
  EXPECT_EQ(owner_.RowCounts(count).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(History().size(), entries);
}

}  // namespace
}  // namespace curator::testing
