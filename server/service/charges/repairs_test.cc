// Repairs are decided by two persons: the owner's proposal is a document that the server has signed, and is
// approved for what it said.
#include "service/charges/repairs.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "service/datasets/grants.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;

class RepairsTest : public ServiceTest {
 protected:
  // "census" with the approver vera, and "visits" of the same owner.
  void SetUp() override {
    for (const char* const name : {"census", "visits"}) {
      Make(People(name));
      GrantTo("vera", name, ledger::kGrantedApprover);
    }
  }
  void GrantTo(const std::string& grantee, const std::string& dataset, int64_t roles) const {
    const absl::Status granted = GrantAccess({*ledger_},
                                             {.principal = TestPrincipal("owner"),
                                              .dataset = DatasetName(dataset),
                                              .grantee = grantee,
                                              .roles = roles},
                                             Intent::kDo);
    ASSERT_TRUE(granted.ok()) << granted;
  }
  DatasetView SealedCensus() const {
    FillAndSeal("census", PeopleCsv());
    return FindDataset({*ledger_}, Method::kGetDataset, TestPrincipal("owner"), DatasetName("census"))
        .value();
  }
  absl::StatusOr<ProposedRepair> Propose(const std::string& who, const std::string& reason = "lost") const {
    return ProposeRepair({*ledger_}, signer_,
                         {.principal = TestPrincipal(who),
                          .dataset = DatasetName("census"),
                          .reason = reason,
                          .receipts = {}});
  }
  absl::Status Approve(const std::string& who, const RepairProposal& proposal,
                       const std::string& dataset = "census") const {
    return ApproveRepair({*ledger_}, signer_, TestPrincipal(who), DatasetName(dataset), proposal, Intent::kDo)
        .status();
  }
  RepairProposal Proposal() const { return Propose("owner")->proposal; }
  // The same statement with one member changed, signed by this server.
  RepairProposal WithMember(const std::string& key, const nlohmann::json& value) const {
    RepairProposal proposal = Proposal();
    nlohmann::json statement = nlohmann::json::parse(proposal.statement);
    statement[key] = value;
    proposal.statement = statement.dump();
    proposal.signature = signer_.Sign(proposal.statement);
    return proposal;
  }
};

TEST_F(RepairsTest, TheOwnerProposesAndAnApproverApproves) {
  EXPECT_EQ(Propose("vera").status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(FieldOf(Propose("owner", "").status()), "reason");
  const RepairProposal proposal = Proposal();
  EXPECT_TRUE(host::IsSignedBy(signer_.public_key(), proposal.statement, proposal.signature));
  EXPECT_TRUE(Approve("vera", proposal).ok()) << "nothing is lost, and nothing is done";
  EXPECT_EQ(Approve("owner", proposal).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Approve("stranger", proposal).code(), absl::StatusCode::kNotFound);
}

TEST_F(RepairsTest, AnApproverDoesNotApproveWhatTheyProposedUnderAnotherRole) {
  EXPECT_THAT(std::string(Approve("vera", WithMember("proposed_by", "vera")).message()),
              HasSubstr("does not own the dataset any more"));
}

TEST_F(RepairsTest, OnlyADocumentOfThisServerForThisDatasetIsApproved) {
  RepairProposal forged = Proposal();
  forged.statement[forged.statement.size() / 2] ^= 1;
  EXPECT_EQ(FieldOf(Approve("vera", forged)), "proposal");
  EXPECT_EQ(FieldOf(Approve("vera", RepairProposal())), "proposal");
  EXPECT_EQ(FieldOf(Approve("vera", Proposal(), "visits")), "proposal");
  EXPECT_EQ(FieldOf(Approve("vera", WithMember("document", "curator.receipt.v1"))), "proposal")
      << "the same key signs receipts";
  RepairProposal with_receipt = Proposal();
  with_receipt.receipts.push_back({"{}", "", ""});
  EXPECT_EQ(FieldOf(Approve("vera", with_receipt)), "proposal") << "which nobody proposed";
}

TEST_F(RepairsTest, AProposalIsGoodForAWeek) {
  const absl::Time almost = absl::Now() - kRepairProposalLifetime + absl::Minutes(5);
  EXPECT_TRUE(Approve("vera", WithMember("time_us", absl::ToUnixMicros(almost))).ok());
  const absl::Time before = absl::Now() - kRepairProposalLifetime - absl::Seconds(1);
  EXPECT_EQ(Approve("vera", WithMember("time_us", absl::ToUnixMicros(before))).code(),
            absl::StatusCode::kFailedPrecondition);
}

// After a backup of the ledger was restored: `restored_` is the backup, under the anchor as it is, and
// `ledger_` goes on with the history that is lost.
class LostEntriesTest : public RepairsTest {
 protected:
  // A copy of the ledger as it is now.
  void BackUp() const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder_.path() + "/ledger.db").c_str(), &database), SQLITE_OK);
    const std::string script = "VACUUM INTO '" + folder_.path() + "/backup.db'";
    EXPECT_EQ(sqlite3_exec(database, script.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  void Restore() {
    auto opened = ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/backup.db",
                                      .anchor_dir = folder_.path() + "/anchor",
                                      .entropy = host::RandomBytes});
    ASSERT_TRUE(opened.ok()) << opened.status();
    restored_ = *std::move(opened);
  }
  absl::StatusOr<ProposedRepair> ProposeRestored(PrincipalQuotas* quotas = nullptr) const {
    return ProposeRepair({*restored_}, signer_,
                         {.principal = TestPrincipal("owner"),
                          .dataset = DatasetName("census"),
                          .reason = "the disk failed",
                          .receipts = {}},
                         quotas);
  }
  absl::StatusOr<RepairView> ApproveRestored(const RepairProposal& proposal, Intent intent = Intent::kDo,
                                             PrincipalQuotas* quotas = nullptr) const {
    return ApproveRepair({*restored_}, signer_, TestPrincipal("vera"), DatasetName("census"), proposal,
                         intent, quotas);
  }
  std::string IdOf(const std::string& dataset) const {
    return FindDataset({*ledger_}, Method::kGetDataset, TestPrincipal("owner"), DatasetName(dataset))
        ->record.id;
  }
  size_t RestoredEntries() const { return restored_->ListEntries(IdOf("census"), {})->size(); }

  std::unique_ptr<ledger::Ledger> restored_;
};

TEST_F(LostEntriesTest, ALossInASuccessorIsRepairedThroughItsPredecessor) {
  NewDataset second = People("census-2");
  second.limit.reset();
  second.successor_of = "census";
  Make(second);
  BackUp();
  GrantTo("ana", "census-2", ledger::kGrantedAnalyst);
  Restore();
  const absl::Status refusal = restored_->DatasetHealth(IdOf("census"));
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("curator ledger repair propose census "));

  const auto proposed = ProposeRestored();
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  EXPECT_EQ(proposed->effect.report.still_read_only, refusal) << "it was only looked at";
  const auto shown = ApproveRestored(proposed->proposal, Intent::kValidateOnly);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(shown->report.still_read_only, refusal);
  const auto repaired = ApproveRestored(proposed->proposal);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_TRUE(repaired->report.still_read_only.ok()) << repaired->report.still_read_only;
  for (const char* const name : {"census", "census-2"}) {
    EXPECT_TRUE(restored_->DatasetHealth(IdOf(name)).ok()) << restored_->DatasetHealth(IdOf(name));
  }
}

TEST_F(LostEntriesTest, ARepairThatWouldDoSomethingElseNowIsRefused) {
  const DatasetView census = SealedCensus();
  BackUp();
  Started(census, "count");
  Restore();
  const auto outdated = ProposeRestored();
  ASSERT_TRUE(outdated.ok()) << outdated.status();
  ASSERT_EQ(outdated->effect.report.raised.size(), 1u);
  Started(census, "count");  // so the anchor is farther ahead
  const size_t entries = RestoredEntries();
  for (const Intent intent : {Intent::kValidateOnly, Intent::kDo}) {
    const absl::Status refused = ApproveRestored(outdated->proposal, intent).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
    EXPECT_EQ(
        refused.message(),
        "the repair would do something else now than when it was proposed: the owner proposes it again");
  }
  EXPECT_EQ(RestoredEntries(), entries);
  EXPECT_FALSE(restored_->DatasetHealth(census.record.id).ok());

  const auto proposed = ProposeRestored();
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  const auto repaired = ApproveRestored(proposed->proposal);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->report.raised.at(0).new_spent, Spent(census)) << "as in the lost history";
  EXPECT_TRUE(restored_->DatasetHealth(census.record.id).ok());
  EXPECT_TRUE(ApproveRestored(outdated->proposal).ok()) << "nothing is left to do";
}

TEST_F(LostEntriesTest, WhatAProposalOfNothingDoesLaterIsRefused) {
  const RepairProposal nothing = Proposal();
  BackUp();
  GrantTo("ana", "census", ledger::kGrantedAnalyst);
  Restore();
  EXPECT_EQ(ApproveRestored(nothing).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(LostEntriesTest, PassesCountInTheQuotaOfWhoProposesAndOfWhoApproves) {
  PrincipalQuotas quotas(Quotas{.verifications_per_minute = 1}, [] { return absl::UnixEpoch(); });
  const auto is_over_quota = [](const absl::Status& status) { return QuotaRetryOf(status).has_value(); };
  const DatasetView census = SealedCensus();
  BackUp();
  Started(census, "count");
  Restore();
  const auto proposed = ProposeRestored(&quotas);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  EXPECT_TRUE(is_over_quota(ProposeRestored(&quotas).status())) << "the owner's pass";
  EXPECT_TRUE(ApproveRestored(proposed->proposal, Intent::kValidateOnly, &quotas).ok());
  for (const Intent intent : {Intent::kValidateOnly, Intent::kDo}) {
    EXPECT_TRUE(is_over_quota(ApproveRestored(proposed->proposal, intent, &quotas).status()))
        << "the approver's pass";
  }
  EXPECT_FALSE(restored_->DatasetHealth(census.record.id).ok()) << "nothing was done";
  ASSERT_TRUE(ApproveRestored(proposed->proposal).ok()) << "without quotas";
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(ProposeRestored(&quotas).ok()) << "no pass is made over a sound history without receipts";
    EXPECT_TRUE(ApproveRestored(proposed->proposal, Intent::kDo, &quotas).ok());
  }
}

TEST_F(RepairsTest, APassThatAReceiptCausesOverASoundHistoryCounts) {
  PrincipalQuotas quotas(Quotas{.verifications_per_minute = 1}, [] { return absl::UnixEpoch(); });
  const DatasetView census = SealedCensus();
  const auto receipt = ReceiptOf({*ledger_}, signer_, Started(census, "count").charge.id);
  ASSERT_TRUE(receipt.ok()) << receipt.status();
  const auto propose = [&] {
    return ProposeRepair({*ledger_}, signer_,
                         {.principal = TestPrincipal("owner"),
                          .dataset = DatasetName("census"),
                          .reason = "to look",
                          .receipts = {*receipt}},
                         &quotas)
        .status();
  };
  EXPECT_TRUE(propose().ok());
  EXPECT_TRUE(QuotaRetryOf(propose()).has_value());
}

}  // namespace
}  // namespace curator::service
