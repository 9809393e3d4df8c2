// Changes of limits: who proposes, asks, approves, rejects and withdraws, and what a ledger that contradicts
// itself allows.
#include "service/accounts/limits.h"

#include "base/testing/names.h"
#include "codec/accounting_codec.h"
#include "codec/schema_codec.h"
#include "service/accounts/accounts.h"
#include "service/datasets/grants.h"
#include "service/datasets/inbox.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class LimitsTest : public ServiceTest {
 protected:
  static LimitOrder Order(int64_t epsilon) {
    return {.request_id = NewRequestId(),
            .principal = TestPrincipal("owner"),
            .dataset = DatasetName("census"),
            .account = "",
            .epsilon = EpsilonOf(1000 * epsilon),
            .delta = std::nullopt,
            .reason = "a second study"};
  }
  static LimitOrder OrderOf(const std::string& principal, int64_t epsilon, const std::string& account = "") {
    LimitOrder order = Order(epsilon);
    order.principal = TestPrincipal(principal);
    order.account = account;
    return order;
  }
  static LimitChoice Choice(const std::string& principal, const LimitView& view) {
    return {TestPrincipal(principal), DatasetName("census"), view.proposal.id};
  }

  void Grant(const std::string& grantee, int64_t roles) const {
    const auto granted = GrantAccess({*ledger_},
                                     {.principal = TestPrincipal("owner"),
                                      .dataset = DatasetName("census"),
                                      .grantee = grantee,
                                      .roles = roles},
                                     Intent::kDo);
    ASSERT_TRUE(granted.ok()) << granted;
  }
  // "census" with the analysts ana and bo and the approver vera.
  DatasetView MakeCensus() const {
    DatasetView census = Make(People("census"));
    Grant("ana", ledger::kGrantedAnalyst);
    Grant("bo", ledger::kGrantedAnalyst);
    Grant("vera", ledger::kGrantedApprover);
    return census;
  }

  static std::vector<std::string> IdsOf(const absl::StatusOr<std::vector<LimitView>>& views) {
    EXPECT_TRUE(views.ok()) << views.status();
    std::vector<std::string> ids;
    for (const LimitView& view : views.value_or(std::vector<LimitView>())) ids.push_back(view.proposal.id);
    return ids;
  }
  std::vector<std::string> ListedFor(const std::string& principal) const {
    return IdsOf(ListLimitProposals({*ledger_}, TestPrincipal(principal), DatasetName("census"), "", 100));
  }
  std::vector<std::string> InboxOf(const std::string& principal) const {
    const absl::StatusOr<Inbox> inbox = ReadInbox({*ledger_}, TestPrincipal(principal), "", 100);
    EXPECT_TRUE(inbox.ok()) << inbox.status();
    std::vector<std::string> ids;
    for (const InboxItem& item : inbox.value_or(Inbox()).items) ids.push_back(item.view->proposal.id);
    return ids;
  }
  // What verification of the census finds.
  std::vector<std::string> Findings(const DatasetView& dataset) const {
    return ledger_->Verify(dataset.record.id)->findings;
  }

  int64_t LimitNow(const std::string& dataset_id) const {
    return ledger_->ListAccounts(dataset_id)->at(0).counters.at(0).limit;
  }
};

TEST_F(LimitsTest, AnAnalystAsksTheOwnerProposesAndAnApproverApproves) {
  const DatasetView census = MakeCensus();
  const auto asked = RequestLimit(services_, OrderOf("ana", 12), Intent::kDo);
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_EQ(asked->state, ProposalState::kRequested);
  EXPECT_THAT(InboxOf("owner"), ElementsAre(asked->proposal.id));
  EXPECT_THAT(InboxOf("vera"), IsEmpty());

  LimitOrder takes_up{.request_id = NewRequestId(),
                      .principal = TestPrincipal("owner"),
                      .dataset = DatasetName("census"),
                      .account = "",
                      .epsilon = std::nullopt,
                      .delta = std::nullopt,
                      .reason = "",
                      .takes_up = asked->proposal.id};
  const auto proposed = ProposeLimit({*ledger_}, takes_up, Intent::kDo);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  EXPECT_EQ(proposed->proposal.new_limit, asked->proposal.new_limit);
  EXPECT_EQ(proposed->proposal.reason, asked->proposal.reason);
  EXPECT_EQ(ledger_->GetLimitProposal(asked->proposal.id)->end_reason, proposed->proposal.id);
  EXPECT_THAT(InboxOf("owner"), IsEmpty());
  EXPECT_THAT(InboxOf("vera"), ElementsAre(proposed->proposal.id));

  ASSERT_TRUE(ApproveLimit({*ledger_}, Choice("vera", *proposed), Intent::kDo).ok());
  EXPECT_EQ(LimitNow(census.record.id), EpsilonOf(12'000).units());
  EXPECT_THAT(InboxOf("vera"), IsEmpty());
  EXPECT_THAT(Findings(census), IsEmpty());
}

TEST_F(LimitsTest, ARequestIsSeenByThePrincipalWhoMadeItAndByThoseWhoSeeAllAccounts) {
  MakeCensus();
  const std::string asked = RequestLimit(services_, OrderOf("ana", 12), Intent::kDo)->proposal.id;
  const std::string proposed = ProposeLimit({*ledger_}, Order(13), Intent::kDo)->proposal.id;
  EXPECT_THAT(ListedFor("ana"), ElementsAre(proposed, asked));
  EXPECT_THAT(ListedFor("bo"), ElementsAre(proposed));
  EXPECT_THAT(ListedFor("owner"), ElementsAre(proposed, asked));
  EXPECT_THAT(ListedFor("vera"), ElementsAre(proposed, asked));
  const auto after = ListLimitProposals({*ledger_}, TestPrincipal("bo"), DatasetName("census"), asked, 100);
  EXPECT_EQ(FieldOf(after.status()), "page_token");
}

TEST_F(LimitsTest, ARequestIsForAnAccountOfOnesOwnAndForMoreThanThereIs) {
  MakeCensus();
  ASSERT_TRUE(CreateAccount({*ledger_},
                            {.request_id = NewRequestId(),
                             .principal = TestPrincipal("owner"),
                             .dataset = DatasetName("census"),
                             .holder = "ana",
                             .members = {},
                             .limit = {.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(1000)}},
                            Intent::kDo)
                  .ok());
  EXPECT_TRUE(RequestLimit(services_, OrderOf("ana", 2, "dataset/census/analyst/ana"), Intent::kDo).ok());
  const auto of_another =
      RequestLimit(services_, OrderOf("bo", 2, "dataset/census/analyst/ana"), Intent::kDo);
  EXPECT_EQ(FieldOf(of_another.status()), "account");
  EXPECT_EQ(of_another.status(),
            RequestLimit(services_, OrderOf("bo", 2, "dataset/census/analyst/cy"), Intent::kDo).status())
      << "an account of another principal looks like one that does not exist";
  EXPECT_TRUE(absl::IsFailedPrecondition(RequestLimit(services_, OrderOf("bo", 10), Intent::kDo).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(RequestLimit(services_, OrderOf("vera", 12), Intent::kDo).status()));
}

TEST_F(LimitsTest, ARequestCannotBeApproved) {
  const DatasetView census = MakeCensus();
  const LimitView asked = RequestLimit(services_, OrderOf("ana", 12), Intent::kDo).value();
  EXPECT_TRUE(
      absl::IsFailedPrecondition(ApproveLimit({*ledger_}, Choice("vera", asked), Intent::kDo).status()));
  EXPECT_EQ(LimitNow(census.record.id), EpsilonOf(10'000).units());
}

TEST_F(LimitsTest, TheOwnerRejectsRequestsAndApproversRejectProposals) {
  const DatasetView census = MakeCensus();
  const LimitView asked = RequestLimit(services_, OrderOf("ana", 12), Intent::kDo).value();
  const LimitView proposed = ProposeLimit({*ledger_}, Order(13), Intent::kDo).value();
  const auto reject = [&](const std::string& who, const LimitView& view) {
    return RejectLimit({*ledger_}, Choice(who, view), "not this year", Intent::kDo);
  };
  EXPECT_TRUE(absl::IsFailedPrecondition(reject("vera", asked).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(reject("owner", proposed).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(reject("ana", proposed).status()));
  EXPECT_EQ(reject("owner", asked)->state, ProposalState::kRejected);
  EXPECT_EQ(reject("vera", proposed)->state, ProposalState::kRejected);
  EXPECT_EQ(ledger_->GetLimitProposal(proposed.proposal.id)->end_reason, "not this year");
  EXPECT_TRUE(
      absl::IsFailedPrecondition(ApproveLimit({*ledger_}, Choice("vera", proposed), Intent::kDo).status()));
  EXPECT_THAT(InboxOf("owner"), IsEmpty());
  EXPECT_THAT(InboxOf("vera"), IsEmpty());
  EXPECT_THAT(Findings(census), IsEmpty());
}

TEST_F(LimitsTest, EachWithdrawsWhatTheyMade) {
  const DatasetView census = MakeCensus();
  const LimitView asked = RequestLimit(services_, OrderOf("ana", 12), Intent::kDo).value();
  const LimitView proposed = ProposeLimit({*ledger_}, Order(13), Intent::kDo).value();
  EXPECT_TRUE(absl::IsNotFound(WithdrawLimit({*ledger_}, Choice("bo", asked), Intent::kDo).status()));
  EXPECT_TRUE(absl::IsNotFound(WithdrawLimit({*ledger_}, Choice("ana", proposed), Intent::kDo).status()));
  EXPECT_EQ(WithdrawLimit({*ledger_}, Choice("ana", asked), Intent::kDo)->state, ProposalState::kWithdrawn);
  EXPECT_EQ(WithdrawLimit({*ledger_}, Choice("ana", asked), Intent::kDo)->state, ProposalState::kWithdrawn)
      << "repeating it changes nothing";
  EXPECT_EQ(WithdrawLimit({*ledger_}, Choice("owner", proposed), Intent::kDo)->state,
            ProposalState::kWithdrawn);
  EXPECT_TRUE(
      absl::IsFailedPrecondition(ApproveLimit({*ledger_}, Choice("vera", proposed), Intent::kDo).status()));
  EXPECT_THAT(Findings(census), IsEmpty());
}

TEST_F(LimitsTest, OneAnalystHasFewOpenRequestsAndLeavesRoomForOthers) {
  MakeCensus();
  for (int64_t i = 0; i < ledger::kMostOpenRequestsOfOne; ++i) {
    ASSERT_TRUE(RequestLimit(services_, OrderOf("ana", 11 + i), Intent::kDo).ok());
  }
  const auto one_more = RequestLimit(services_, OrderOf("ana", 30), Intent::kDo);
  EXPECT_TRUE(absl::IsFailedPrecondition(one_more.status())) << one_more.status();
  EXPECT_TRUE(RequestLimit(services_, OrderOf("bo", 12), Intent::kDo).ok());
  EXPECT_TRUE(ProposeLimit({*ledger_}, Order(12), Intent::kDo).ok());
}

TEST_F(LimitsTest, APageOfTheInboxEndsWithTheDatasetThatFillsIt) {
  MakeCensus();
  Make(People("visits"));
  for (const int64_t epsilon : {12, 13}) {
    ASSERT_TRUE(RequestLimit(services_, OrderOf("ana", epsilon), Intent::kDo).ok());
  }
  LimitOrder of_visits = Order(14);  // its owner is a service of it, too
  of_visits.dataset = DatasetName("visits");
  ASSERT_TRUE(RequestLimit(services_, of_visits, Intent::kDo).ok());
  const Inbox first = ReadInbox({*ledger_}, TestPrincipal("owner"), "", 2).value();
  EXPECT_EQ(first.items.size(), 2u);
  EXPECT_TRUE(first.has_more);
  EXPECT_EQ(first.last, "census");
  const Inbox second = ReadInbox({*ledger_}, TestPrincipal("owner"), first.last, 2).value();
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items.front().dataset, "visits");
  EXPECT_FALSE(second.has_more);
}

TEST_F(LimitsTest, WhatHasBecomeOutdatedWaitsForNobody) {
  MakeCensus();
  const LimitView first = ProposeLimit({*ledger_}, Order(12), Intent::kDo).value();
  ASSERT_TRUE(ProposeLimit({*ledger_}, Order(13), Intent::kDo).ok());
  ASSERT_TRUE(RequestLimit(services_, OrderOf("ana", 14), Intent::kDo).ok());
  ASSERT_TRUE(ApproveLimit({*ledger_}, Choice("vera", first), Intent::kDo).ok());
  EXPECT_THAT(InboxOf("vera"), IsEmpty());
  EXPECT_THAT(InboxOf("owner"), IsEmpty());
}

TEST_F(LimitsTest, AnEndThatNoEntryRecordsIsFound) {
  const DatasetView census = MakeCensus();
  const LimitView proposed = ProposeLimit({*ledger_}, Order(12), Intent::kDo).value();
  Corrupt("UPDATE limit_proposals SET ended_as = 'REJECTED', ended_by = 'vera'");
  EXPECT_THAT(Findings(census), Not(IsEmpty()));
  Corrupt("UPDATE limit_proposals SET ended_as = '', ended_by = ''");
  EXPECT_THAT(Findings(census), IsEmpty());
  ASSERT_TRUE(RejectLimit({*ledger_}, Choice("vera", proposed), "not this year", Intent::kDo).ok());
  Corrupt("UPDATE limit_proposals SET ended_as = '', ended_by = '', end_reason = ''");
  EXPECT_THAT(Findings(census), Not(IsEmpty())) << "a rejected proposal could be approved";
}

TEST_F(LimitsTest, AProposalForACounterThatNoAccountHasIsNeitherShownNorApproved) {
  const DatasetView census = Make(People("census"));
  ASSERT_TRUE(GrantAccess({*ledger_},
                          {.principal = TestPrincipal("owner"),
                           .dataset = DatasetName("census"),
                           .grantee = "ana",
                           .roles = ledger::kGrantedApprover},
                          Intent::kDo)
                  .ok());
  const auto proposed = ProposeLimit({*ledger_}, Order(12), Intent::kDo);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  Corrupt("UPDATE limit_proposals SET counter = 'rho'");
  EXPECT_EQ(ApproveLimit({*ledger_}, Choice("ana", *proposed), Intent::kDo).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(
      ListLimitProposals({*ledger_}, TestPrincipal("owner"), DatasetName("census"), "", 100).status().code(),
      absl::StatusCode::kDataLoss);
  EXPECT_EQ(LimitNow(census.record.id), EpsilonOf(10'000).units());
}

TEST_F(LimitsTest, WhoAsksASuccessorDoesNotApproveTheLimitOfTheAccountThatTheyShare) {
  Make(People("census"));
  NewDataset next = People("census-2");
  next.limit.reset();
  next.successor_of = "census";
  const DatasetView successor = Make(next);
  const Principal owner = TestPrincipal("owner");
  const auto grant = [&](const std::string& dataset, int64_t roles) {
    return GrantAccess(
        {*ledger_}, {.principal = owner, .dataset = DatasetName(dataset), .grantee = "ana", .roles = roles},
        Intent::kDo);
  };
  ASSERT_TRUE(grant("census", ledger::kGrantedApprover).ok());
  const auto proposed = ProposeLimit({*ledger_}, Order(12), Intent::kDo);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  const auto approve = [&] {
    return ApproveLimit({*ledger_}, Choice("ana", *proposed), Intent::kDo).status();
  };
  for (const int64_t roles : {ledger::kGrantedAnalyst, ledger::kGrantedService}) {
    ASSERT_TRUE(grant("census-2", roles).ok());
    EXPECT_TRUE(absl::IsPermissionDenied(approve())) << roles;
  }
  EXPECT_EQ(LimitNow(successor.record.id), EpsilonOf(10'000).units());
  ASSERT_TRUE(grant("census-2", ledger::kGrantedAuditor).ok());
  EXPECT_TRUE(approve().ok()) << approve();
}

TEST_F(LimitsTest, NoLimitIsProposedForAnAccountThatCountsOtherwiseThanItsRule) {
  const NewDataset people = People("census");
  const std::string schema = codec::EncodeSchema(people.schema);
  const ledger::AccountSpec account{
      .rule = codec::EncodeRule(*people.limit), .rule_name = "PURE", .limits = {{"rho", 10}}};
  const auto made = ledger_->CreateDataset({.request_id = host::NewUuid(),
                                            .name = "census",
                                            .owner = TestPrincipal("owner"),
                                            .schema = schema,
                                            .schema_hash = Sha256(schema),
                                            .neighbour_relation = "ADD_REMOVE",
                                            .privacy_unit = "RECORD",
                                            .partition_attribute = {},
                                            .successor_of = {},
                                            .accounts = {account}});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(ProposeLimit({*ledger_}, Order(12), Intent::kDo).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(ledger_->ListLimitProposals(made->id)->empty());
}

}  // namespace
}  // namespace curator::service
