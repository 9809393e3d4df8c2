// What a request on a dataset that was used before reads, and that nothing outdated decides about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "service/accounts/accounts.h"
#include "service/charges/accountant.h"
#include "service/charges/receipts.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"
#include "service/workloads/free_answers.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

class KnownDatasetTest : public ServiceTest {
 protected:
  KnownDatasetTest() : ServiceTest(&OpenLedgerThrough<CountedReads>) {}

  WorkloadRequest Question(const std::string& principal) const {
    return {.principal = TestPrincipal(principal),
            .dataset = DatasetName("census"),
            .queries = {{MarginalsQuery{.sets = {{"sex"}}}}},
            .spend = {.epsilon = EpsilonOf(spend_)}};
  }
  absl::StatusOr<WorkloadAnswer> Ask(const RequestId& request_id = NewRequestId(),
                                     std::vector<std::string> parts = {}, Intent intent = Intent::kDo) {
    WorkloadRequest request = Question("owner");
    request.parts = std::move(parts);
    return AnswerWorkload(services_, request, {}, request_id, intent);
  }
  absl::StatusOr<WorkloadAnswer> AskForFree(const std::string& principal) {
    WorkloadRequest request = Question(principal);
    request.spend = {};
    request.prefer_free = true;
    return AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo);
  }
  absl::StatusOr<ChargeView> Reserve(const RequestId& request_id = NewRequestId()) {
    const ReservationRequest request{.request_id = request_id,
                                     .dataset = DatasetName("census"),
                                     .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
                                     .summary = "one count",
                                     .lifetime = absl::Hours(1)};
    auto views = ReserveBudget(services_, TestPrincipal("owner"), {request}, Intent::kDo);
    if (!views.ok()) return views.status();
    return std::move(views->front());
  }
  // Until nothing has to be read any more.
  void Warm() {
    for (int i = 0; i < 2; ++i) {
      const auto answer = Ask();
      ASSERT_TRUE(answer.ok()) << answer.status();
    }
  }
  ledger::Account OpenAccountOf(const DatasetView& dataset, const std::string& analyst) {
    ledger::AccountSpec spec = AccountUnder({.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(1000)},
                                            ledger::ScopeType::kAnalyst, analyst)
                                   .value();
    return ledger_
        ->CreateAccount({.request_id = host::NewUuid(),
                         .dataset_id = dataset.record.id,
                         .account = std::move(spec),
                         .actor = TestPrincipal("owner")})
        .value();
  }

  int64_t spend_ = 100;
};

TEST_F(KnownDatasetTest, ANewRequestReadsNothing) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const int64_t before = CountedReads::count;
  const auto answer = Ask();
  EXPECT_EQ(CountedReads::count - before, 0);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->replayed);
  EXPECT_TRUE(answer->could_be_free_from.has_value());
}

TEST_F(KnownDatasetTest, ThePriceAndTheReceiptThatWereNotReadAreThoseOfTheLedger) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const auto answer = Ask();
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->price.counters.size(), 1U);
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  const PricedCounter& priced = answer->price.counters.front();
  EXPECT_EQ(priced.remaining_before, balance.limit - balance.spent + priced.cost);
  ASSERT_TRUE(answer->receipt.has_value());
  const Receipt read = ReceiptOf({*ledger_}, signer_, answer->release.charge_id).value();
  EXPECT_EQ(answer->receipt->statement, read.statement);
  EXPECT_EQ(answer->receipt->signature, read.signature);
  const ledger::Release stored = ledger_->GetRelease(answer->release.id).value();
  EXPECT_EQ(answer->release.payload_hash, stored.payload_hash);
  EXPECT_EQ(answer->release.number, stored.number);
}

TEST_F(KnownDatasetTest, ARepeatedRequestGetsItsReleaseAndIsNotChargedAgain) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const RequestId request_id = NewRequestId();
  const auto first = Ask(request_id);
  ASSERT_TRUE(first.ok()) << first.status();
  const int64_t spent = Spent(census);
  for (int i = 0; i < 2; ++i) {
    const auto again = Ask(request_id);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->replayed);
    EXPECT_EQ(again->release.id, first->release.id);
    EXPECT_EQ(again->receipt->statement, first->receipt->statement);
  }
  EXPECT_EQ(Spent(census), spent);
}

TEST_F(KnownDatasetTest, ARepeatedRequestReadsOnce) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const RequestId request_id = NewRequestId();
  ASSERT_TRUE(Ask(request_id).ok());
  ASSERT_TRUE(Ask(request_id).ok());  // from now on its principal is known to repeat requests
  ASSERT_TRUE(Ask().ok());
  const int64_t before = CountedReads::count;
  const auto answer = Ask(request_id);
  EXPECT_EQ(CountedReads::count - before, 1);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->replayed);
  ASSERT_EQ(answer->price.counters.size(), 1U);
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  const PricedCounter& priced = answer->price.counters.front();
  EXPECT_EQ(priced.remaining_before, balance.limit - balance.spent + priced.cost);
}

TEST_F(KnownDatasetTest, AQuestionThatIsOnlyValidatedReadsOnceAndShowsThePresentBalance) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const int64_t before = CountedReads::count;
  const auto answer = Ask(NewRequestId(), {}, Intent::kValidateOnly);
  EXPECT_EQ(CountedReads::count - before, 1);
  ASSERT_TRUE(answer.ok()) << answer.status();
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  EXPECT_EQ(answer->price.counters.at(0).remaining_before, balance.limit - balance.spent);
}

TEST_F(KnownDatasetTest, ARepeatedRequestReadsADatasetThatWasChangedSince) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const RequestId request_id = NewRequestId();
  ASSERT_TRUE(Ask(request_id).ok());
  ASSERT_TRUE(Ask(request_id).ok());
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  const int64_t before = CountedReads::count;
  EXPECT_TRUE(Ask(request_id).ok()) << "what is stored is answered";
  EXPECT_GT(CountedReads::count - before, 1) << "and the changed dataset is read again";
}

TEST_F(KnownDatasetTest, ANewReservationReadsNothingAndIsShownAsTheLedgerHasIt) {
  const DatasetView census = MakeSealed(People("census"));
  ASSERT_TRUE(Reserve().ok());
  const int64_t before = CountedReads::count;
  const absl::StatusOr<ChargeView> view = Reserve();
  EXPECT_EQ(CountedReads::count - before, 0);
  ASSERT_TRUE(view.ok()) << view.status();
  const ChargeView read = GetCharge(services_, TestPrincipal("owner"), view->charge.id).value();
  EXPECT_EQ(view->charge.state, ledger::ChargeState::kReserved);
  EXPECT_EQ(view->charge.deadline_us, read.charge.deadline_us);
  EXPECT_EQ(view->charge.postings, read.charge.postings);
  EXPECT_EQ(view->event, read.event);
  ASSERT_EQ(view->price.counters.size(), 1U);
  EXPECT_EQ(view->price.counters.front().cost, read.price.counters.front().cost);
  EXPECT_EQ(view->price.counters.front().remaining_before, read.price.counters.front().remaining_before);
  EXPECT_EQ(view->receipt.value().statement, ReceiptOf({*ledger_}, signer_, view->charge.id)->statement);
}

TEST_F(KnownDatasetTest, AReservationThatWasMadeIsFoundAndCountsOnceForTheDay) {
  const DatasetView census = MakeSealed(People("census"));
  ASSERT_TRUE(Reserve().ok());
  const RequestId request_id = NewRequestId();
  const absl::StatusOr<ChargeView> first = Reserve(request_id);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(Ask().ok());  // which changes the balance
  const int64_t left = kMostChargesADay - 3;
  EXPECT_TRUE(daily_.CheckRoomFor(TestPrincipal("owner"), left).ok());
  const absl::StatusOr<ChargeView> again = Reserve(request_id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->charge.id, first->charge.id);
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  const PricedCounter& held = again->price.counters.at(0);
  EXPECT_EQ(held.remaining_before - held.cost, balance.limit - balance.spent - balance.held);
  EXPECT_EQ(again->receipt.value().statement, first->receipt.value().statement);
  EXPECT_TRUE(daily_.CheckRoomFor(TestPrincipal("owner"), left).ok());
  EXPECT_FALSE(daily_.CheckRoomFor(TestPrincipal("owner"), left + 1).ok());
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  EXPECT_EQ(Reserve(request_id)->charge.id, first->charge.id) << "it is found whatever became of the dataset";
  EXPECT_EQ(Reserve().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(KnownDatasetTest, AnAccountThatWasOpenedSincePaysForTheNextReservation) {
  const DatasetView census = MakeSealed(People("census"));
  ASSERT_TRUE(Reserve().ok());
  const ledger::Account opened = OpenAccountOf(census, "owner");
  const absl::StatusOr<ChargeView> view = Reserve();
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->price.counters.size(), 2U);
  EXPECT_GT(ledger_->GetAccounts({opened.id})->front().counters.front().held, 0);
}

TEST_F(KnownDatasetTest, EachStepOfAReservationIsShownAsTheLedgerHasIt) {
  const DatasetView census = MakeSealed(People("census"));
  ASSERT_TRUE(Reserve().ok());
  const Principal owner = TestPrincipal("owner");
  const std::string id = Reserve()->charge.id;
  const auto expect_present = [&](const absl::StatusOr<ChargeView>& view, ledger::ChargeState state) {
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(view->charge.state, state);
    const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
    ASSERT_EQ(view->price.counters.size(), 1U);
    const PricedCounter& paid = view->price.counters.front();
    EXPECT_EQ(paid.remaining_before - paid.cost, balance.limit - balance.spent - balance.held);
    EXPECT_EQ(view->receipt.value().statement, ReceiptOf({*ledger_}, signer_, id)->statement);
  };
  expect_present(GetCharge(services_, owner, id), ledger::ChargeState::kReserved);
  const dp::AskedEvent less = dp::Event{dp::PureEvent{EpsilonOf(40)}};
  expect_present(StartCharge(services_, owner, id, less), ledger::ChargeState::kStarted);
  const int64_t before = CountedReads::count;
  expect_present(CommitBudget(services_, owner, id), ledger::ChargeState::kCommitted);
  EXPECT_LE(CountedReads::count - before, 3 + 3) << "three of its own, and those of this test";
}

TEST_F(KnownDatasetTest, AFreeAnswerReadsOnce) {
  MakeSealed(People("census"));
  ASSERT_TRUE(Ask().ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(AskForFree("owner").ok());
  const int64_t before = CountedReads::count;
  const auto answer = AskForFree("owner");
  EXPECT_EQ(CountedReads::count - before, 1);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->free_from.has_value());
}

TEST_F(KnownDatasetTest, AReleaseThatWasMadeSinceAnswersForNothingWhenItIsTheBest) {
  MakeSealed(People("census"));
  const auto first = Ask();
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(AskForFree("owner")->free_from, first->release.id);
  spend_ = 400;
  const auto better = Ask();
  ASSERT_TRUE(better.ok()) << better.status();
  EXPECT_EQ(AskForFree("owner")->free_from, better->release.id);
}

TEST_F(KnownDatasetTest, AReleaseThatWasSharedSinceAnswersItsReaderForNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const Principal owner = TestPrincipal("owner");
  ASSERT_TRUE(ledger_->SetGrant(census.record.id, {.grantee = "ana"}, owner).ok());
  const auto of_owner = Ask();
  ASSERT_TRUE(of_owner.ok()) << of_owner.status();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(AskForFree("ana").status().code(), absl::StatusCode::kInvalidArgument) << "it has to pay";
  }
  const std::vector<ledger::Measure> measures = MeasuresOf({}, of_owner->answer);
  ASSERT_TRUE(ledger_->ShareRelease(of_owner->release.id, "ana", measures, owner).ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AskForFree("ana")->free_from, of_owner->release.id);
}

TEST_F(KnownDatasetTest, AnEstimateReadsOnceAndShowsThePresentBalance) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  ASSERT_TRUE(EstimateWorkload(services_, Question("owner")).ok());
  const int64_t before = CountedReads::count;
  const auto estimate = EstimateWorkload(services_, Question("owner"));
  EXPECT_EQ(CountedReads::count - before, 1);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_TRUE(estimate->free_from.has_value());
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  EXPECT_EQ(estimate->price.counters.at(0).remaining_before, balance.limit - balance.spent);
}

TEST_F(KnownDatasetTest, AnAccountThatWasOpenedSincePaysForTheNextRequest) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const ledger::Account opened = OpenAccountOf(census, "owner");
  const auto answer = Ask();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->price.counters.size(), 2U);
  EXPECT_GT(ledger_->GetAccounts({opened.id})->front().counters.front().spent, 0);
}

TEST_F(KnownDatasetTest, ADatasetThatWasArchivedSinceRefusesTheNextRequest) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const int64_t spent = Spent(census);
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  const auto answer = Ask();
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(answer.status().message()), ::testing::HasSubstr("is archived"));
  EXPECT_EQ(Spent(census), spent);
}

TEST_F(KnownDatasetTest, ADatasetThatIsChangedAllTheTimeStillAnswers) {
  const DatasetView census = MakeSealed(People("census"));
  int grants = 0;
  CountedReads::then = [&] {
    const std::string grantee = absl::StrCat("grantee", ++grants);
    ASSERT_TRUE(ledger_->SetGrant(census.record.id, {.grantee = grantee}, TestPrincipal("owner")).ok());
  };
  const auto answer = Ask();
  CountedReads::then = nullptr;
  EXPECT_TRUE(answer.ok()) << answer.status();
  EXPECT_GE(grants, 3);
}

TEST_F(KnownDatasetTest, ADatasetThatWasSealedSinceAnswers) {
  Make(People("census"));
  EXPECT_EQ(Ask().status().code(), absl::StatusCode::kFailedPrecondition);
  FillAndSeal("census", PeopleCsv());
  EXPECT_TRUE(Ask().ok()) << "what was known of it was that it is not sealed";
}

TEST_F(KnownDatasetTest, APartThatWasAddedSinceIsAskedToo) {
  Make(DividedPeople("census"));
  FillAndSeal("census", PeopleCsv(2), "north");
  Warm();
  EXPECT_FALSE(Ask(NewRequestId(), {"south"}).ok());
  std::string south = "sex,age,region\n";
  FillAndSeal("census", south + "Female,3,2\n", "south");
  const auto answer = Ask(NewRequestId(), {"south"});
  EXPECT_TRUE(answer.ok()) << answer.status();
}

}  // namespace
}  // namespace curator::service
