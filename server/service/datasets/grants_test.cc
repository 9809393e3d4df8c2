#include "service/datasets/grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/clock.h"
#include "service/accounts/budgets.h"
#include "service/charges/accountant.h"
#include "service/releases/releases.h"
#include "service/testing/fixture.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GrantsTest : public ServiceTest {
 protected:
  void SetUp() override { census_ = MakeSealed(People("census")).record.id; }

  GrantOrder Order(int64_t roles, int64_t expires_at_us = 0) const {
    return {.principal = owner_,
            .dataset = DatasetName("census"),
            .grantee = "ana",
            .roles = roles,
            .expires_at_us = expires_at_us};
  }
  absl::Status Grant(int64_t roles, int64_t expires_at_us = 0) {
    return GrantAccess({*ledger_}, Order(roles, expires_at_us), Intent::kDo);
  }
  absl::Status Revoke(bool with_releases = false, const std::string& grantee = "ana") {
    return RevokeAccess({*ledger_},
                        {.principal = owner_,
                         .dataset = DatasetName("census"),
                         .grantee = grantee,
                         .with_releases = with_releases},
                        Intent::kDo);
  }
  absl::StatusOr<WorkloadAnswer> Ask() {
    return AnswerWorkload(services_,
                          {.principal = ana_,
                           .dataset = DatasetName("census"),
                           .queries = {{MarginalsQuery{.sets = {{"sex"}}}}},
                           .spend = {.epsilon = EpsilonOf(1)}},
                          {}, NewRequestId(), Intent::kDo);
  }
  absl::StatusOr<std::vector<ChargeView>> Reserve() {
    return ReserveBudget(services_, ana_,
                         {{.request_id = NewRequestId(),
                           .dataset = DatasetName("census"),
                           .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
                           .summary = "",
                           .lifetime = absl::Hours(1)}},
                         Intent::kDo);
  }
  absl::Status MayCall(Method method) const {
    return FindDataset({*ledger_}, method, ana_, DatasetName("census")).status();
  }

  const Principal owner_ = TestPrincipal("owner");
  const Principal ana_ = TestPrincipal("ana");
  std::string census_;
};

TEST_F(GrantsTest, AnAnalystAsksAndAServiceCharges) {
  EXPECT_TRUE(absl::IsNotFound(Ask().status()));
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst).ok());
  EXPECT_TRUE(Ask().ok());
  const absl::Status as_analyst = Reserve().status();
  EXPECT_TRUE(absl::IsPermissionDenied(as_analyst)) << as_analyst;
  EXPECT_THAT(std::string(as_analyst.message()), HasSubstr("only a service of dataset \"census\""));
  ASSERT_TRUE(Grant(ledger::kGrantedService).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Ask().status())) << "a grant replaces the one before";
  EXPECT_TRUE(Reserve().ok());
}

TEST_F(GrantsTest, AnAuditorSeesAllBudgetsAndTheHistoryAndAsksNothing) {
  ASSERT_TRUE(Grant(ledger::kGrantedAuditor).ok());
  EXPECT_TRUE(GetBudget(services_, ana_, DatasetName("census"), BudgetDetail::kBalances).ok());
  const auto read = ListLedgerEntries({*ledger_}, ana_, DatasetName("census"), {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->entries.front().payload.empty());
  EXPECT_TRUE(absl::IsPermissionDenied(Ask().status()));
  EXPECT_TRUE(absl::IsPermissionDenied(Reserve().status()));
}

TEST_F(GrantsTest, AnAnalystSeesTheEntriesOfItsOwnChargesAlone) {
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst).ok());
  ASSERT_TRUE(Ask().ok());
  const auto read = ListLedgerEntries({*ledger_}, ana_, DatasetName("census"), {.limit = 1000});
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_FALSE(read->entries.empty());
  for (const ledger::Entry& entry : read->entries) EXPECT_EQ(ActorName(entry), "ana") << entry.kind;
  EXPECT_GT(read->last_seq, static_cast<int64_t>(read->entries.size())) << "others are left out";
}

TEST_F(GrantsTest, WhoseAccessWasTakenAwayAsksNothingNewAndReadsWhatWasReleased) {
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst | ledger::kGrantedService).ok());
  const auto answer = Ask();
  ASSERT_TRUE(answer.ok()) << answer.status();
  const auto reserved = Reserve();
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string& charge = reserved->front().charge.id;
  ASSERT_TRUE(Revoke().ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Ask().status())) << "also where the dataset is cached";
  EXPECT_TRUE(absl::IsPermissionDenied(Reserve().status()));
  EXPECT_TRUE(absl::IsPermissionDenied(StartCharge(services_, ana_, charge, std::nullopt).status()));
  EXPECT_TRUE(GetCharge(services_, ana_, charge).ok());
  EXPECT_TRUE(CancelReservation(services_, ana_, charge, "not needed").ok());
  const std::string& release = answer->release.id;
  EXPECT_TRUE(GetRelease(services_, Method::kGetRelease, ana_, release).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(ShareRelease(services_, ana_, release, "bob", Intent::kDo).status()));
  ASSERT_TRUE(Revoke(/*with_releases=*/true).ok());
  EXPECT_TRUE(absl::IsNotFound(GetRelease(services_, Method::kGetRelease, ana_, release).status()));
  EXPECT_TRUE(absl::IsNotFound(MayCall(Method::kListReleases)));
}

TEST_F(GrantsTest, AnExpiredGrantLeavesWhatATakenOneDoes) {
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst).ok());
  const auto answer = Ask();
  ASSERT_TRUE(answer.ok()) << answer.status();
  // As its owner cannot order it, since it is in the past.
  ASSERT_TRUE(ledger_->SetGrant(census_, {"ana", ledger::kGrantedAnalyst, 1}, owner_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Ask().status()));
  EXPECT_TRUE(GetRelease(services_, Method::kGetRelease, ana_, answer->release.id).ok());
  EXPECT_EQ(FieldOf(Grant(ledger::kGrantedAnalyst, 1)), "expire_time");
}

TEST_F(GrantsTest, AnAuditorWhoseRoleWasReplacedSeesNoChargesOfOthersAnyMore) {
  const auto owners = ReserveBudget(services_, owner_,
                                    {{.request_id = NewRequestId(),
                                      .dataset = DatasetName("census"),
                                      .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
                                      .summary = "",
                                      .lifetime = absl::Hours(1)}},
                                    Intent::kDo);
  ASSERT_TRUE(owners.ok()) << owners.status();
  const std::string& charge = owners->front().charge.id;
  ASSERT_TRUE(Grant(ledger::kGrantedAuditor | ledger::kGrantedAnalyst).ok());
  ASSERT_TRUE(Ask().ok()) << "which caches the dataset";
  EXPECT_TRUE(GetCharge(services_, ana_, charge).ok());
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst).ok());
  EXPECT_TRUE(absl::IsNotFound(GetCharge(services_, ana_, charge).status()));
}

TEST_F(GrantsTest, ACachedDatasetDoesNotExtendAReservationAfterAccessWasTakenAway) {
  ASSERT_TRUE(Grant(ledger::kGrantedService).ok());
  const auto reserved = Reserve();
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const ledger::Charge& charge = reserved->front().charge;
  ASSERT_TRUE(Revoke().ok());
  const absl::Status extended = ExtendReservation(services_, ana_, charge.id, absl::Hours(9)).status();
  EXPECT_TRUE(absl::IsPermissionDenied(extended)) << extended;
  EXPECT_EQ(ledger_->GetCharge(charge.id)->deadline_us, charge.deadline_us);
}

TEST_F(GrantsTest, AnAuditorsExpiredGrantLeavesNothing) {
  ASSERT_TRUE(ledger_->SetGrant(census_, {"ana", ledger::kGrantedAuditor, 1}, owner_).ok());
  EXPECT_TRUE(absl::IsNotFound(MayCall(Method::kListChainLinks)));
  ASSERT_TRUE(ledger_->SetGrant(census_, {"ana", ledger::kGrantedAnalyst, 1}, owner_).ok());
  EXPECT_TRUE(MayCall(Method::kListChainLinks).ok());
}

TEST_F(GrantsTest, AGrantThatExpiresWhileTheDatasetIsCachedIsNotHonouredAnyMore) {
  const int64_t soon = absl::ToUnixMicros(absl::Now() + absl::Milliseconds(300));
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst, soon).ok());
  bool was_allowed = false;
  absl::Status status;
  do {
    status = Ask().status();
    was_allowed = was_allowed || status.ok();
  } while (status.ok());
  EXPECT_TRUE(was_allowed);
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_GE(absl::ToUnixMicros(absl::Now()), soon);
}

TEST_F(GrantsTest, OnlyTheOwnerGrantsTakesAwayAndLists) {
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst).ok());
  GrantOrder order = Order(ledger::kGrantedAnalyst);
  order.principal = ana_;
  order.grantee = "bob";
  EXPECT_TRUE(absl::IsPermissionDenied(GrantAccess({*ledger_}, order, Intent::kDo)));
  EXPECT_TRUE(absl::IsPermissionDenied(ListGrants({*ledger_}, ana_, DatasetName("census")).status()));
  order.principal = TestPrincipal("mallory");
  EXPECT_TRUE(absl::IsNotFound(GrantAccess({*ledger_}, order, Intent::kDo)));
  EXPECT_TRUE(absl::IsNotFound(RevokeAccess(
      {*ledger_}, {.principal = order.principal, .dataset = DatasetName("census"), .grantee = "ana"},
      Intent::kDo)));
  const auto grants = ListGrants({*ledger_}, owner_, DatasetName("census"));
  ASSERT_TRUE(grants.ok()) << grants.status();
  EXPECT_EQ(grants->front(), (ledger::Grant{.grantee = "ana"}));
}

TEST_F(GrantsTest, RefuseRolesThatNobodyHasByAGrant) {
  EXPECT_EQ(FieldOf(Grant(0)), "roles");
  EXPECT_EQ(FieldOf(Grant(ledger::kGrantedFormer)), "roles");
  EXPECT_EQ(FieldOf(Grant(ledger::kGrantedApprover | ledger::kGrantedAnalyst)), "roles");
  EXPECT_TRUE(Grant(ledger::kGrantedApprover).ok()) << "in development mode, which has no directory";
  EXPECT_TRUE(absl::IsNotFound(Revoke(false, "nobody")));
}

TEST_F(GrantsTest, TheHistorySaysWhoMayDoWhatUntilWhen) {
  ASSERT_TRUE(Grant(ledger::kGrantedAnalyst | ledger::kGrantedService, 4'102'444'800'000'000).ok());
  ASSERT_TRUE(Revoke().ok());
  const auto read = ListLedgerEntries({*ledger_}, owner_, DatasetName("census"), {.limit = 1000});
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<std::string> said;
  for (const ledger::Entry& entry : read->entries) said.push_back(entry.kind + " " + Summary(entry));
  EXPECT_THAT(said, ::testing::Contains("GRANTED ana: analyst, service until 2100-01-01T00:00:00+00:00"));
  EXPECT_EQ(said.back(), "REVOKED ana: former user");
}

}  // namespace
}  // namespace curator::service
