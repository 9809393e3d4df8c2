// A server that commits and dies before its anchor knows, beside another one on the same ledger. What the
// other one tells, and what its anchor vouches for, rests on entries that no anchor knew; so its anchor takes
// over all that they have spent.
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeadServerConformance : public LedgerConformance {
 protected:
  // A dataset whose analysts ana and bo have accounts of their own, in that order behind the dataset's.
  void SetUp() override {
    LedgerConformance::SetUp();
    survivor_ = Open();
    dataset_ = MakeDataset(*survivor_, "census", 100);
    for (const std::string analyst : {"ana", "bo"}) OpenAccountOf(analyst);
    accounts_ = Must(survivor_->ListAccounts(dataset_.id));
  }
  void OpenAccountOf(const std::string& analyst) {
    Must(survivor_->CreateAccount({.request_id = "open " + analyst,
                                   .dataset_id = dataset_.id,
                                   .account = {.scope_type = ScopeType::kAnalyst,
                                               .scope_key = analyst,
                                               .rule = "rule bytes",
                                               .rule_name = "ZCDP",
                                               .limits = {{"rho", 50}}},
                                   .actor = TestPrincipal("olga")}));
  }
  // More than are read as a whole to find those that entries have moved.
  void OpenAccountsOfManyOthers() {
    for (int i = 0; i < 70; ++i) OpenAccountOf(absl::StrCat("other ", i));
  }
  ChargeRequest Request(const std::string& analyst, const std::string& request_id, int64_t cost) const {
    const size_t account = analyst == "ana" ? 1 : 2;
    ChargeRequest request = RequestOf(dataset_, request_id, accounts_[0].id, cost);
    request.principal = TestPrincipal(analyst);
    request.postings.push_back({accounts_[account].id, "rho", cost});
    return request;
  }

  // Does `work` on a server that dies when it has committed.
  template <typename Work>
  void CommitAndDie(Work work) {
    auto store = std::make_unique<FaultyDatabase>(OpenStore());
    FaultyDatabase& faulty = *store;
    auto server = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed())));
    faulty.ArmAt(Fault::kGone, FaultyDatabase::Moment::kAfterCommit);
    EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, work(*server).status());
    EXPECT_TRUE(faulty.has_struck());
  }

  // The survivor's file alone is left.
  void StartAgainWithoutTheOthersFile() {
    survivor_.reset();
    int removed = 0;
    for (const auto& file : std::filesystem::directory_iterator(anchor_dir())) {
      if (absl::EndsWith(file.path().string(), "-1.anchor")) removed += std::filesystem::remove(file) ? 1 : 0;
    }
    ASSERT_EQ(removed, 1);
    survivor_ = Open();
  }

  // Takes from ana's account what it has spent, and leaves its history as it is.
  void ExpectLoweredBalanceOfAnaIsNoticed() {
    Tamper(absl::StrCat("UPDATE account_counters SET spent = 0 WHERE account_id = ", accounts_[1].id));
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, survivor_->Begin(Request("ana", "again", 1)).status());
    EXPECT_THAT(Must(Open()->Verify(dataset_.id)).findings,
                Contains(HasSubstr("the table says spent 0, and the anchor knows of 7")));
  }

  std::unique_ptr<Ledger> survivor_;
  Dataset dataset_;
  std::vector<Account> accounts_;
};

TEST_P(DeadServerConformance, AChargeOnAnotherAccountCoversWhatTheDeadServerCharged) {
  CommitAndDie([&](Ledger& server) { return server.Begin(Request("ana", "unanswered", 7)); });
  Must(survivor_->Begin(Request("bo", "of bo", 2)));
  EXPECT_THAT(ViolationsIn(*survivor_, *OpenStore()), ElementsAre());
  ExpectLoweredBalanceOfAnaIsNoticed();
}

TEST_P(DeadServerConformance, AChangeThatMovesNoBalanceCoversWhatTheDeadServerCharged) {
  CommitAndDie([&](Ledger& server) { return server.Begin(Request("ana", "unanswered", 7)); });
  ASSERT_TRUE(survivor_->SetGrant(dataset_.id, {.grantee = "zoe"}, TestPrincipal("olga")).ok());
  ExpectLoweredBalanceOfAnaIsNoticed();
}

TEST_P(DeadServerConformance, AReleaseOfTheSurvivorCoversWhatTheDeadServerCharged) {
  const Attempt attempt = Must(survivor_->Begin(Request("bo", "of bo", 2)));
  CommitAndDie([&](Ledger& server) { return server.Begin(Request("ana", "unanswered", 7)); });
  Must(survivor_->Store(attempt, "answer"));
  ExpectLoweredBalanceOfAnaIsNoticed();
}

TEST_P(DeadServerConformance, AChargeCoversWhatTheDeadServerChargedOnOneOfManyAccounts) {
  OpenAccountsOfManyOthers();
  CommitAndDie([&](Ledger& server) { return server.Begin(Request("ana", "unanswered", 7)); });
  Must(survivor_->Begin(Request("bo", "of bo", 2)));
  ExpectLoweredBalanceOfAnaIsNoticed();
}

TEST_P(DeadServerConformance, AChargeCoversWhatTheDeadServerRaisedInARepairOfManyAccounts) {
  OpenAccountsOfManyOthers();
  Must(survivor_->Begin(Request("ana", "answered", 3)));
  CommitAndDie([&](Ledger& server) {
    const LostCharge lost{.dataset_id = dataset_.id,
                          .charge_id = "lost",
                          .seq = 1000,
                          .postings = {{accounts_[0].id, "rho", 4}, {accounts_[1].id, "rho", 4}}};
    return server.RaiseToAnchor({.dataset_id = dataset_.id,
                                 .reason = "a restored backup",
                                 .actor = TestPrincipal("petra"),
                                 .proposed_by = "olga",
                                 .receipts = {lost}});
  });
  Must(survivor_->Begin(Request("bo", "of bo", 2)));
  ExpectLoweredBalanceOfAnaIsNoticed();
}

// Whoever hears that a charge has started may read records.
TEST_P(DeadServerConformance, AChargeIsShownAsPaidOnlyOnceTheAnchorCoversIt) {
  const std::vector<Charge> reserved =
      Must(survivor_->Reserve({Request("bo", "reserved", 3)}, int64_t{3600} * 1'000'000));
  CommitAndDie([&](Ledger& server) {
    return server.StartReserved(reserved.at(0).id, {{accounts_[0].id, "rho", 3}}, TestPrincipal("bo"));
  });
  const std::string hidden = absl::StrCat(anchor_dir(), ".hidden");
  std::filesystem::rename(anchor_dir(), hidden);
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, survivor_->GetCharge(reserved[0].id).status());
  std::filesystem::rename(hidden, anchor_dir());
  EXPECT_LT(Must(survivor_->Verify(dataset_.id)).anchored_seq, AskStore("SELECT seq FROM chain_heads"));
  EXPECT_EQ(Must(survivor_->GetCharge(reserved[0].id)).state, ChargeState::kStarted);
  EXPECT_EQ(Must(survivor_->Verify(dataset_.id)).anchored_seq, AskStore("SELECT seq FROM chain_heads"));
}

TEST_P(DeadServerConformance, AChargeThatIsLookedUpByItsKeyIsCoveredByTheAnchor) {
  CommitAndDie([&](Ledger& server) { return server.Begin(Request("ana", "unanswered", 7)); });
  EXPECT_LT(Must(survivor_->Verify(dataset_.id)).anchored_seq, AskStore("SELECT seq FROM chain_heads"));
  EXPECT_EQ(Must(survivor_->FindCharge(TestPrincipal("ana"), "unanswered")).state, ChargeState::kStarted);
  EXPECT_EQ(Must(survivor_->Verify(dataset_.id)).anchored_seq, AskStore("SELECT seq FROM chain_heads"));
  ExpectLoweredBalanceOfAnaIsNoticed();
}

// So that no server's file is needed to read another's.
TEST_P(DeadServerConformance, EachServersFileByItselfCoversAllThatItsHeadRestsOn) {
  Must(Open()->Begin(Request("ana", "answered", 7)));
  Must(survivor_->Begin(Request("bo", "of bo", 2)));
  StartAgainWithoutTheOthersFile();
  ExpectLoweredBalanceOfAnaIsNoticed();
}

TEST_P(DeadServerConformance, ALongHistoryOfAnotherServerIsTakenOverByReadingAllAccounts) {
  OpenAccountsOfManyOthers();
  {
    const std::unique_ptr<Ledger> other = Open();
    Must(other->Begin(Request("ana", "answered", 7)));
    constexpr int kManyEntries = 300;
    for (int i = 0; i < kManyEntries; ++i) {
      ASSERT_TRUE(
          other->SetGrant(dataset_.id, {.grantee = absl::StrCat("analyst ", i)}, TestPrincipal("olga")).ok());
    }
  }
  Must(survivor_->Begin(Request("bo", "of bo", 2)));
  StartAgainWithoutTheOthersFile();
  ExpectLoweredBalanceOfAnaIsNoticed();
}

TEST_P(DeadServerConformance, AReadOnlyLedgerDoesNotTellThatAChargeHasStartedThatNoAnchorCovers) {
  const Attempt covered = Must(survivor_->Begin(Request("bo", "covered", 3)));
  CommitAndDie([&](Ledger& server) { return server.Begin(Request("ana", "unanswered", 7)); });
  Tamper(absl::StrCat("UPDATE account_counters SET spent = 0 WHERE account_id = ", accounts_[2].id));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, survivor_->Begin(Request("bo", "noticed", 1)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   survivor_->FindCharge(TestPrincipal("ana"), "unanswered").status());
  EXPECT_EQ(Must(survivor_->GetCharge(covered.charge.id)).state, ChargeState::kStarted);
}

TEST_P(DeadServerConformance, ABalanceThatIsLoweredBeforeAnyAnchorKnowsItIsFoundByVerification) {
  CommitAndDie([&](Ledger& server) { return server.Begin(Request("ana", "unanswered", 7)); });
  Tamper(absl::StrCat("UPDATE account_counters SET spent = 0 WHERE account_id = ", accounts_[1].id));
  Must(survivor_->Begin(Request("bo", "of bo", 2)));
  // If the second changed since the charge, the lowered balance left a point of its own, which is found too.
  EXPECT_THAT(Must(survivor_->Verify(dataset_.id)).findings, Contains(HasSubstr("the entries say spent 7")));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, DeadServerConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
