#include <thread>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kHour = int64_t{3600} * 1'000'000;

class ReservationConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Open();
    dataset_ = MakeDataset(*ledger_, "census", 10);
    account_ = FirstAccount(*ledger_, dataset_);
  }
  void TearDown() override { EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings, ElementsAre()); }

  ChargeRequest Request(const std::string& request_id, int64_t cost) const {
    ChargeRequest request = RequestOf(dataset_, request_id, account_, cost);
    request.sealed_key.clear();
    return request;
  }
  Charge Reserve(const std::string& request_id, int64_t cost) {
    return Must(ledger_->Reserve({Request(request_id, cost)}, kHour)).at(0);
  }
  std::vector<Posting> Cost(int64_t cost) const { return {{account_, "rho", cost}}; }
  void ExpectBalance(int64_t spent, int64_t held) {
    EXPECT_EQ(BalanceOf(*ledger_, dataset_), (CounterBalance{"rho", 10, spent, held}));
  }
  void MakeOverdue(const Charge& charge) {
    ASSERT_TRUE(TryInStore(absl::StrCat("UPDATE open_charges SET deadline_us = 1 WHERE charge_id = '",
                                        charge.id, "'"))
                    .ok());
  }

  std::unique_ptr<Ledger> ledger_;
  Dataset dataset_;
  int64_t account_ = 0;
};

TEST_P(ReservationConformance, AReservationHoldsStartsAtALowerCostAndCommits) {
  const Charge reserved = Reserve("r1", 6);
  EXPECT_EQ(reserved.state, ChargeState::kReserved);
  EXPECT_GT(reserved.deadline_us, reserved.created_at_us);
  ExpectBalance(0, 6);
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, ledger_->Begin(Request("r2", 5)).status());

  const Charge started = Must(ledger_->StartReserved(reserved.id, Cost(4), TestPrincipal("ana")));
  EXPECT_EQ(started.state, ChargeState::kStarted);
  EXPECT_EQ(started.postings, Cost(4));
  ExpectBalance(4, 0);
  EXPECT_EQ(Must(ledger_->StartReserved(reserved.id, Cost(4), TestPrincipal("ana"))).state,
            ChargeState::kStarted);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartReserved(reserved.id, Cost(3), TestPrincipal("ana")).status());

  EXPECT_EQ(Must(ledger_->CommitReserved(reserved.id, TestPrincipal("ana"))).state, ChargeState::kCommitted);
  EXPECT_EQ(Must(ledger_->CommitReserved(reserved.id, TestPrincipal("ana"))).state, ChargeState::kCommitted);
  ExpectBalance(4, 0);
}

TEST_P(ReservationConformance, WhatWasNotStartedIsNotCommitted) {
  const Charge reserved = Reserve("r1", 6);
  const absl::Status refused = ledger_->CommitReserved(reserved.id, TestPrincipal("ana")).status();
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, refused);
  EXPECT_NE(refused.message().find("start it first"), std::string::npos);
  EXPECT_EQ(Must(ledger_->GetCharge(reserved.id)).state, ChargeState::kReserved);
  ExpectBalance(0, 6);
}

TEST_P(ReservationConformance, AStartNeverCostsMoreThanWasHeld) {
  const Charge reserved = Reserve("r1", 6);
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->StartReserved(reserved.id, Cost(7), TestPrincipal("ana")).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->StartReserved(reserved.id, Cost(-1), TestPrincipal("ana")).status());
  EXPECT_STATUS_IS(
      absl::StatusCode::kInvalidArgument,
      ledger_->StartReserved(reserved.id, {{account_, "epsilon", 1}}, TestPrincipal("ana")).status());
  ExpectBalance(0, 6);
  EXPECT_EQ(Must(ledger_->StartReserved(reserved.id, {}, TestPrincipal("ana"))).postings, Cost(0));
  ExpectBalance(0, 0);
}

TEST_P(ReservationConformance, OnlyWhatHasNotStartedIsCancelled) {
  const Charge cancelled = Reserve("r1", 6);
  const Charge ended = Must(ledger_->CancelReserved(cancelled.id, "not needed", TestPrincipal("ana")));
  EXPECT_EQ(ended.state, ChargeState::kCancelled);
  EXPECT_EQ(ended.reason, "not needed");
  ExpectBalance(0, 0);
  EXPECT_EQ(Must(ledger_->CancelReserved(cancelled.id, "not needed", TestPrincipal("ana"))).state,
            ChargeState::kCancelled);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartReserved(cancelled.id, Cost(1), TestPrincipal("ana")).status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->CommitReserved(cancelled.id, TestPrincipal("ana")).status());

  const Charge started = Reserve("r2", 6);
  Must(ledger_->StartReserved(started.id, Cost(6), TestPrincipal("ana")));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->CancelReserved(started.id, "regret", TestPrincipal("ana")).status());
  ExpectBalance(6, 0);
}

TEST_P(ReservationConformance, AnExpiredReservationIsSpentAndNotFreed) {
  const Charge reserved = Reserve("r1", 6);
  MakeOverdue(reserved);
  const Charge expired = Must(ledger_->GetCharge(reserved.id));
  EXPECT_EQ(expired.state, ChargeState::kCommitted);
  EXPECT_EQ(expired.reason, "EXPIRED");
  ExpectBalance(6, 0);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartReserved(reserved.id, Cost(1), TestPrincipal("ana")).status());
}

TEST_P(ReservationConformance, EveryLateStepExpiresAndIsRefused) {
  const Charge to_start = Reserve("r1", 1);
  const Charge to_cancel = Reserve("r2", 2);
  const Charge to_extend = Reserve("r3", 3);
  for (const Charge& charge : {to_start, to_cancel, to_extend}) MakeOverdue(charge);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartReserved(to_start.id, Cost(1), TestPrincipal("ana")).status());
  ExpectBalance(1, 5);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->CancelReserved(to_cancel.id, "late", TestPrincipal("ana")).status());
  ExpectBalance(3, 3);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->ExtendReserved(to_extend.id, kHour, TestPrincipal("ana")).status());
  ExpectBalance(6, 0);
}

TEST_P(ReservationConformance, TheSweepSpendsWhatIsOverdueAndNothingElse) {
  MakeOverdue(Reserve("r1", 1));
  MakeOverdue(Reserve("r2", 2));
  Reserve("r3", 3);
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 2);
  ExpectBalance(3, 3);
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 0);
}

TEST_P(ReservationConformance, AReservationThatCannotBeExpiredHoldsNoOtherUp) {
  const Charge damaged = Reserve("r1", 1);
  MakeOverdue(damaged);
  MakeOverdue(Reserve("r2", 2));
  const std::string of_damaged = absl::StrCat(" WHERE charge_id = '", damaged.id, "'");
  ASSERT_TRUE(
      TryInStore(absl::StrCat("UPDATE open_charges SET postings = '[[999,\"rho\",1]]'", of_damaged)).ok());
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 1);
  ExpectBalance(2, 1);
  ASSERT_TRUE(TryInStore(absl::StrCat("UPDATE open_charges SET postings = '[[", account_, ",\"rho\",1]]'",
                                      of_damaged))
                  .ok());
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 1);
  ExpectBalance(3, 0);
}

TEST_P(ReservationConformance, AnExtensionMovesTheDeadlineForwardOnly) {
  const Charge reserved = Reserve("r1", 6);
  const Charge extended = Must(ledger_->ExtendReserved(reserved.id, 2 * kHour, TestPrincipal("ana")));
  EXPECT_GT(extended.deadline_us, reserved.deadline_us);
  EXPECT_EQ(Must(ledger_->ExtendReserved(reserved.id, 1, TestPrincipal("ana"))).deadline_us,
            extended.deadline_us);
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->ExtendReserved(reserved.id, 0, TestPrincipal("ana")).status());
}

TEST_P(ReservationConformance, ABatchIsReservedWholeOrNotAtAll) {
  const absl::Status refused =
      ledger_->Reserve({Request("r1", 6), Request("r2", 3), Request("r3", 2)}, kHour).status();
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, refused);
  EXPECT_THAT(FullAccountsOf(refused), ElementsAre(FullAccount{"dataset/census", "ZCDP", "rho", 2, 1}));
  ExpectBalance(0, 0);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM charges"), 0);
  const std::vector<Charge> reserved =
      Must(ledger_->Reserve({Request("r1", 6), Request("r2", 3), Request("r3", 1)}, kHour));
  EXPECT_EQ(reserved.size(), 3U);
  EXPECT_EQ(reserved[2].request_id, "r3");
  ExpectBalance(0, 10);
}

TEST_P(ReservationConformance, ARepeatedReservationIsTheSameOneAsItIsNow) {
  const Charge reserved = Reserve("r1", 6);
  EXPECT_EQ(Reserve("r1", 6).id, reserved.id);
  Must(ledger_->StartReserved(reserved.id, Cost(2), TestPrincipal("ana")));
  EXPECT_EQ(Reserve("r1", 6).state, ChargeState::kStarted);
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger_->Reserve({Request("r1", 5)}, kHour).status());
  // Together with a new one: what is held already is not held again.
  Must(ledger_->Reserve({Request("r1", 6), Request("r2", 3)}, kHour));
  ExpectBalance(2, 3);
}

TEST_P(ReservationConformance, ReservationsAndImmediateChargesDoNotMix) {
  const Charge reserved = Reserve("r1", 2);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->Begin(Request("r1", 2)).status());
  const Attempt attempt = Must(ledger_->Begin(Request("r2", 2)));
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger_->Reserve({Request("r2", 2)}, kHour).status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->CommitReserved(attempt.charge.id, TestPrincipal("ana")).status());
  Attempt forged = attempt;
  forged.charge = reserved;
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->Store(forged, "answer").status());
  ExpectBalance(2, 2);
}

TEST_P(ReservationConformance, MalformedReservationsAreRefused) {
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->Reserve({}, kHour).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->Reserve({Request("r1", 1)}, 0).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->Reserve({Request("r1", 1)}, INT64_MAX).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->Reserve({Request("r1", 1), Request("r1", 1)}, kHour).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger_->CommitReserved("nothing", TestPrincipal("ana")).status());
}

TEST_P(ReservationConformance, RacingStepsLeaveOneOutcome) {
  for (int round = 0; round < 4; ++round) {
    const Charge reserved = Reserve(absl::StrCat("round ", round), 2);
    std::thread start(
        [&] { ledger_->StartReserved(reserved.id, Cost(1), TestPrincipal("ana")).status().IgnoreError(); });
    std::thread cancel(
        [&] { ledger_->CancelReserved(reserved.id, "race", TestPrincipal("ana")).status().IgnoreError(); });
    start.join();
    cancel.join();
    const ChargeState state = Must(ledger_->GetCharge(reserved.id)).state;
    EXPECT_TRUE(state == ChargeState::kStarted || state == ChargeState::kCancelled);
  }
  EXPECT_EQ(BalanceOf(*ledger_, dataset_).held, 0);
}

class LimitConformance : public ReservationConformance {
 protected:
  LimitProposalSpec Proposal(int64_t new_limit) const {
    return {.request_id = absl::StrCat("to ", new_limit),
            .account_id = account_,
            .counter = "rho",
            .new_limit = new_limit,
            .reason = "second wave of the survey",
            .proposed_by = TestPrincipal("olga")};
  }
};

TEST_P(LimitConformance, ALimitChangesWhenAnotherPrincipalApproves) {
  const LimitProposal proposal = Must(ledger_->ProposeLimit(Proposal(20)));
  EXPECT_EQ(proposal.old_limit, 10);
  EXPECT_EQ(Must(ledger_->ProposeLimit(Proposal(20))).id, proposal.id);
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, ledger_->Begin(Request("r1", 15)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->ApproveLimit(proposal.id, TestPrincipal("olga")).status());
  EXPECT_EQ(Must(ledger_->ApproveLimit(proposal.id, TestPrincipal("paul"))).approved_by, "paul");
  EXPECT_EQ(Must(ledger_->ApproveLimit(proposal.id, TestPrincipal("paul"))).approved_by, "paul");
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->ApproveLimit(proposal.id, TestPrincipal("zoe")).status());
  Must(ledger_->Begin(Request("r1", 15)));
  EXPECT_EQ(BalanceOf(*ledger_, dataset_), (CounterBalance{"rho", 20, 15, 0}));
  const std::vector<Entry> entries = Must(ledger_->ListEntries(dataset_.id, {.after_seq = 2}));
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].kind, "LIMIT_PROPOSED");
  EXPECT_EQ(entries[0].actor, "olga");
  EXPECT_EQ(entries[1].kind, "LIMIT_CHANGED");
  EXPECT_EQ(entries[1].actor, "paul");
}

TEST_P(LimitConformance, ALimitIsNeverBelowWhatIsSpentAndHeld) {
  Must(ledger_->Begin(Request("r1", 3)));
  Reserve("r2", 4);
  const LimitProposal too_low = Must(ledger_->ProposeLimit(Proposal(6)));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->ApproveLimit(too_low.id, TestPrincipal("paul")).status());
  const LimitProposal exact = Must(ledger_->ProposeLimit(Proposal(7)));
  Must(ledger_->ApproveLimit(exact.id, TestPrincipal("paul")));
  EXPECT_EQ(BalanceOf(*ledger_, dataset_), (CounterBalance{"rho", 7, 3, 4}));
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, ledger_->Begin(Request("r3", 1)).status());
}

TEST_P(LimitConformance, AProposalIsForTheLimitItSaw) {
  const LimitProposal first = Must(ledger_->ProposeLimit(Proposal(20)));
  const LimitProposal second = Must(ledger_->ProposeLimit(Proposal(30)));
  Must(ledger_->ApproveLimit(first.id, TestPrincipal("paul")));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->ApproveLimit(second.id, TestPrincipal("paul")).status());
  EXPECT_EQ(Must(ledger_->ListLimitProposals(dataset_.id)).size(), 2U);
  EXPECT_EQ(BalanceOf(*ledger_, dataset_).limit, 20);
}

TEST_P(LimitConformance, MalformedProposalsAreRefused) {
  LimitProposalSpec spec = Proposal(20);
  spec.reason.clear();
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->ProposeLimit(spec).status());
  spec = Proposal(-1);
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->ProposeLimit(spec).status());
  spec = Proposal(20);
  spec.counter = "epsilon";
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->ProposeLimit(spec).status());
  spec = Proposal(20);
  spec.account_id = 999;
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->ProposeLimit(spec).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger_->ApproveLimit("nothing", TestPrincipal("paul")).status());
  Must(ledger_->ProposeLimit(Proposal(20)));
  spec = Proposal(20);
  spec.new_limit = 21;
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger_->ProposeLimit(spec).status());
}

TEST_P(LimitConformance, TheLimitOfASharedAccountChangesInOneHistory) {
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = dataset_.id;
  const Dataset second =
      Must(ledger_->SealDataset(Must(ledger_->CreateDataset(spec)).id, "newer", TestPrincipal("olga")));
  Must(ledger_->ApproveLimit(Must(ledger_->ProposeLimit(Proposal(20))).id, TestPrincipal("paul")));
  Must(ledger_->Begin(RequestOf(second, "r1", account_, 12)));
  Must(ledger_->ApproveLimit(Must(ledger_->ProposeLimit(Proposal(30))).id, TestPrincipal("paul")));
  EXPECT_EQ(Must(ledger_->ListEntries(dataset_.id, {})).size(), 6U);
  EXPECT_THAT(Must(ledger_->Verify(second.id)).findings, ElementsAre());
}

TEST_P(ReservationConformance, MoreBytesAtOnceThanAStatementTakesAreRefusedAndNothingIsHeld) {
  std::vector<ChargeRequest> requests;
  for (int i = 0; i < 5; ++i) {
    requests.push_back(Request(absl::StrCat("large ", i), 1));
    requests.back().event = std::string(size_t{14} << 20, 'e');
  }
  const absl::Status refused = ledger_->Reserve(requests, kHour).status();
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, refused);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("at most 67108864"));
  requests.pop_back();
  EXPECT_EQ(Must(ledger_->Reserve(requests, kHour)).size(), 4U);
  EXPECT_EQ(BalanceOf(*ledger_, dataset_).held, 4);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, ReservationConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });
INSTANTIATE_TEST_SUITE_P(EveryBackend, LimitConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
