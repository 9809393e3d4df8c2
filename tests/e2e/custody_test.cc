// How many persons it takes to raise a limit, to publish a dataset and to repair a history, as the server's
// configuration says: two, or one who has custody of the server. Budgets, receipts and histories say which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/request_id.h"
#include "tests/e2e/identity_server.h"
#include "tests/testing/shell.h"
#include "tests/testing/small_table.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Custody : public Identities {
 protected:
  void SetUp() override {
    Identities::SetUp();
    EnrolAdministrator("ada");
    ASSERT_EQ(Registered("olga"), "corp.olga");
    Bind(As("ada"), v1::RoleBinding::CREATOR, "corp.olga");
    MakeSealed(As("olga"), NewDataset("census", v1::RULE_PURE, "3"), SmallCsv(100));
  }
  void RestartWith(config::Custody custody) {
    first_.reset();
    config_.custody = custody;
    first_ = Start("first");
  }

  absl::StatusOr<v1::LimitProposal> ProposeAndApprove(const std::string& epsilon) const {
    v1::ProposeLimitChangeRequest propose;
    propose.set_dataset("census");
    propose.set_epsilon(epsilon);
    propose.set_reason("a second study");
    const absl::StatusOr<v1::LimitProposal> proposal = As("olga").ProposeLimitChange(propose);
    if (!proposal.ok()) return proposal.status();
    v1::ApproveLimitChangeRequest approve;
    approve.set_dataset("census");
    approve.set_proposal_id(proposal->id());
    return As("olga").ApproveLimitChange(approve);
  }
  absl::StatusOr<v1::Dataset> Publish(const std::string& dataset) const {
    v1::PublishDatasetRequest publish;
    publish.set_dataset(dataset);
    return As("olga").PublishDataset(publish);
  }
  // Of the request, made by the owner; again when it has the same id.
  v1::Receipt SignedReceiptOf(const std::string& request_id) const {
    v1::AnswerWorkloadRequest request;
    request.set_request_id(request_id);
    request.set_dataset("census");
    *request.mutable_workload() = AllMarginals(1);
    request.mutable_spend()->set_epsilon("0.1");
    const absl::StatusOr<Answer> answer = As("olga").AnswerWorkload(request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->header.receipt() : v1::Receipt();
  }
  nlohmann::json ReceiptOf(const std::string& request_id) const {
    return nlohmann::json::parse(SignedReceiptOf(request_id).statement(), nullptr,
                                 /*allow_exceptions=*/false);
  }
  std::string HistoryOf(const std::string& dataset) const {
    std::string text;
    EXPECT_TRUE(As("olga")
                    .ListLedgerEntries(dataset, 0,
                                       [&](const v1::LedgerEntry& entry) {
                                         absl::StrAppend(&text, entry.kind(), " ", entry.summary(), "\n");
                                         return absl::OkStatus();
                                       })
                    .ok());
    return text;
  }
  static v1::CreateDatasetRequest OpenData() {
    v1::CreateDatasetRequest request;
    request.set_name("open");
    *request.mutable_schema() = SmallSchema();
    request.set_public_(true);
    return request;
  }
  std::pair<int, std::string> CheckLedger() const {
    return Shell(absl::StrCat(CURATORD_PATH " --ledger ", options_.ledger, " --data-dir ",
                              options_.data_directory, " check-ledger"));
  }
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Custody, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Custody, TheOwnerAloneNeitherRaisesNorPublishes) {
  MakeSealed(As("olga"), OpenData(), SmallCsv(77));
  EXPECT_EQ(ProposeAndApprove("5").status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Publish("open").status().code(), absl::StatusCode::kPermissionDenied);
  const absl::StatusOr<v1::GetBudgetResponse> budget = As("olga").GetBudget("census");
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->custody(), v1::CUSTODY_TWO_PERSONS);
  EXPECT_EQ(budget->accounts(0).promise().epsilon(), "3");
  EXPECT_FALSE(ReceiptOf(*client::NewRequestId()).contains("custody"));
}

TEST_P(Custody, OnePersonWithCustodyDoesAndBudgetsReceiptsAndHistoriesSaySo) {
  RestartWith(config::Custody::kSingle);
  MakeSealed(As("olga"), OpenData(), SmallCsv(77));
  const absl::StatusOr<v1::LimitProposal> approved = ProposeAndApprove("5");
  ASSERT_TRUE(approved.ok()) << approved.status();
  EXPECT_EQ(approved->approved_by(), "corp.olga");
  ASSERT_TRUE(Publish("open").ok());
  EXPECT_EQ(As("olga").GetBudget("census")->custody(), v1::CUSTODY_SINGLE);
  EXPECT_EQ(As("olga").GetBudget("census")->accounts(0).promise().epsilon(), "5");
  EXPECT_EQ(ReceiptOf(*client::NewRequestId()).value("custody", ""), "single");
  EXPECT_THAT(HistoryOf("census"), HasSubstr("3 to 5 (single custody): a second study"));
  EXPECT_THAT(HistoryOf("open"), HasSubstr("PUBLISHED without any guarantee (single custody)"));
  EXPECT_TRUE(As("olga").VerifyLedger("census")->ok());
  EXPECT_TRUE(As("olga").VerifyLedger("open")->ok());
  first_.reset();
  const auto [status, output] = CheckLedger();
  EXPECT_EQ(status, 0) << output;
}

TEST_P(Custody, AReceiptSaysHowItWasWhenTheChargeWasMade) {
  const std::string by_two = *client::NewRequestId();
  const nlohmann::json before = ReceiptOf(by_two);
  RestartWith(config::Custody::kSingle);
  const std::string alone = *client::NewRequestId();
  const nlohmann::json single = ReceiptOf(alone);
  EXPECT_EQ(ReceiptOf(by_two), before);
  RestartWith(config::Custody::kTwoPersons);
  EXPECT_EQ(ReceiptOf(alone), single);
  EXPECT_EQ(ProposeAndApprove("5").status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_P(Custody, WhoApprovesForTheOwnerIsNotTheOwnersAnalystEither) {
  RestartWith(config::Custody::kSingle);
  ASSERT_EQ(Registered("ana"), "corp.ana");
  Grant(As("olga"), "census", "corp.ana", {v1::ANALYST});
  v1::ApproveLimitChangeRequest approve;
  approve.set_dataset("census");
  approve.set_proposal_id(*client::NewRequestId());
  EXPECT_EQ(As("ana").ApproveLimitChange(approve).status().code(), absl::StatusCode::kPermissionDenied)
      << "custody is the owner's";
}

TEST_P(Custody, PassesForARepairCountInTheQuotaOfVerifications) {
  config_.quotas.verifications_per_minute = 1;
  RestartWith(config::Custody::kSingle);
  v1::ProposeRepairRequest propose;
  propose.set_dataset("census");
  propose.set_reason("the receipt is looked for");
  *propose.add_receipts() = SignedReceiptOf(*client::NewRequestId());
  const absl::StatusOr<v1::ProposeRepairResponse> proposed = As("olga").ProposeRepair(propose);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  const auto expect_over_quota = [](const absl::Status& refused) {
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_EQ(ReasonOf(refused), "QUOTA");
  };
  // A period of the quota may end between two calls; none is ever free.
  config_.quotas.verifications_per_minute = 0;
  RestartWith(config::Custody::kSingle);
  expect_over_quota(As("olga").ProposeRepair(propose).status());
  v1::ApproveRepairRequest approve;
  approve.set_dataset("census");
  *approve.mutable_proposal() = proposed->proposal();
  expect_over_quota(As("olga").ApproveRepair(approve).status());
  approve.set_validate_only(true);
  expect_over_quota(As("olga").ApproveRepair(approve).status());
  propose.clear_receipts();
  EXPECT_TRUE(As("olga").ProposeRepair(propose).ok()) << "no pass is made";
}

}  // namespace
}  // namespace curator::testing
