// Repairs are decided by two persons: the owner's proposal is a document that the server has signed, and is
// approved for what it said.
#include "service/charges/repairs.h"

#include <gmock/gmock.h>

#include <filesystem>
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
      const absl::Status granted = GrantAccess({*ledger_},
                                               {.principal = TestPrincipal("owner"),
                                                .dataset = DatasetName(name),
                                                .grantee = "vera",
                                                .roles = ledger::kGrantedApprover},
                                               Intent::kDo);
      ASSERT_TRUE(granted.ok()) << granted;
    }
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

}  // namespace
}  // namespace curator::service
