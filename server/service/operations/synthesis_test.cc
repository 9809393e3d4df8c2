// Requests for a synthesis: their names, checks without a run, and how their ids distinguish them.
#include "service/operations/synthesis.h"

#include "absl/synchronization/notification.h"
#include "base/testing/names.h"
#include "codec/draw_identity.h"
#include "codec/fingerprint.h"
#include "service/charges/accountant.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class SynthesisTest : public ServiceTest {
 protected:
  static SynthesisRequest Mwem(const std::string& dataset) {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName(dataset),
            .method = "mwem",
            .spend = {.epsilon = EpsilonOf(1000)},
            .settings = {},
            .workload = {},
            .assume_records = std::nullopt,
            .parts = {}};
  }

  absl::StatusOr<OperationView> Create(const SynthesisRequest& request, const std::string& id,
                                       Intent intent = Intent::kDo) {
    return CreateSynthesis(services_, request, TestRequestId(id), intent);
  }

  OperationView Ended(const std::string& operation) {
    return WaitOperation(services_, TestPrincipal("owner"), operation, absl::InfiniteFuture()).value();
  }
};

TEST_F(SynthesisTest, AWorkloadOfOtherQueriesThanMarginalsIsNamedByItsGroups) {
  MakeSealed(People("census"));
  SynthesisRequest request = Mwem("census");
  request.workload = {{PrefixesQuery{"age"}}};
  const auto one = Create(request, host::NewUuid());
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->label, "mwem over 1 group of queries");
  EXPECT_EQ(Ended(one->id).state, OperationState::kDone);
  request.workload.push_back({PrefixesQuery{"region"}});
  const auto two = Create(request, host::NewUuid());
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(two->label, "mwem over 2 groups of queries");
  EXPECT_EQ(Ended(two->id).state, OperationState::kDone);
}

TEST_F(SynthesisTest, ARequestThatIsOnlyCheckedChargesNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string id = host::NewUuid();
  const auto checked = Create(Mwem("census"), id, Intent::kValidateOnly);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->dataset, "census");
  EXPECT_EQ(checked->kind, "synthesis");
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(ledger_->FindCharge(TestPrincipal("owner"), id).status().code(), absl::StatusCode::kNotFound);
  SynthesisRequest magic = Mwem("census");
  magic.method = "magic";
  EXPECT_EQ(FieldOf(Create(magic, id, Intent::kValidateOnly).status()), "method");
}

TEST_F(SynthesisTest, ItsOwnIdFindsTheSameOperation) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string id = host::NewUuid();
  const auto first = Create(Mwem("census"), id);
  ASSERT_TRUE(first.ok()) << first.status();
  const OperationView done = Ended(first->id);
  const int64_t spent = Spent(census);
  const auto again = Create(Mwem("census"), id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->release_id, done.release_id);
  EXPECT_EQ(Spent(census), spent);
}

// A process that has one thread, which a first piece of work takes for longer than a synthesis may last.
TEST_F(SynthesisTest, ASynthesisThatWaitsLongerThanItMayLastIsRunWhenItsTurnComes) {
  const DatasetView census = MakeSealed(People("census"));
  services_.synthesis_timeout = absl::Seconds(2);
  work_.Run(work_.Reserve().value(), [this] { absl::SleepFor(services_.synthesis_timeout * 1.1); });
  SynthesisRequest request = Mwem("census");
  // Enough steps to notice a stop.
  request.settings = {{"rounds", "3"}, {"sweeps", "1000"}, {"last_sweeps", "1000"}, {"settled", "1e-9"}};
  const auto second = Create(request, host::NewUuid());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Spent(census), 0) << "nothing was read yet";
  const OperationView done = Ended(second->id);
  EXPECT_EQ(done.state, OperationState::kDone) << done.error;
}

// A public guess moves what the prior-aware method measures, at the same price and in as many draws.
class GuessedRecords : public SynthesisTest {
 protected:
  GuessedRecords() {
    NewDataset adult = People("adult");
    adult.is_public = true;
    adult.limit = {};
    // Sex and age depend on each other most, then sex and region.
    std::string csv = "sex,age,region\n";
    for (int i = 0; i < 400; ++i) {
      const bool female = i % 2 == 0;
      csv += female ? "Female," : "Male,";
      csv += std::to_string((female ? i % 50 : 50 + i % 50)) + "," +
             std::to_string(female ? i % 3 : 3 - i % 3) + "\n";
    }
    MakeSealed(adult, csv);
    MakeSealed(People("census"));
  }

  static SynthesisRequest Guess(int64_t records) {
    SynthesisRequest request = Mwem("census");
    request.method = "prior";
    request.settings = {{"prior", "adult"}, {"threshold", "0"}};
    request.assume_records = records;
    return request;
  }
};

TEST_F(GuessedRecords, AreNotAnotherDrawUnderTheSameKey) {
  const auto few = EstimateSynthesis(services_, Guess(100));
  const auto many = EstimateSynthesis(services_, Guess(200));
  ASSERT_TRUE(few.ok() && many.ok()) << few.status() << many.status();
  EXPECT_NE(few->plan.drawn_from, many->plan.drawn_from) << "without this the test shows nothing";
  EXPECT_EQ(few->plan.settings, many->plan.settings);
  EXPECT_NE(codec::HashOf(few->identity), codec::HashOf(many->identity));
  const std::string id = host::NewUuid();
  const auto first = Create(Guess(100), id);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Create(Guess(200), id).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Ended(first->id).state, OperationState::kDone);
}

// What programs compared before draw identities: the mistake that the two values exclude.
using GuessedRecordsCanary = GuessedRecords;

TEST_F(GuessedRecordsCanary, AKeyThatIsBoundToTheSettingsOfThePlanIsUsedForTwoDraws) {
  const auto few = EstimateSynthesis(services_, Guess(100)).value();
  const auto many = EstimateSynthesis(services_, Guess(200)).value();
  const auto earlier = [](const SynthesisEstimate& estimate) {
    return codec::EarlierSynthesisFingerprint(estimate.dataset.record.id, estimate.scope.version, {}, "prior",
                                              estimate.plan.settings, estimate.input.workload,
                                              estimate.plan.event);
  };
  EXPECT_EQ(few.plan.draws, many.plan.draws) << "the same meter";
  EXPECT_EQ(earlier(few), earlier(many)) << "the same fingerprint";
  EXPECT_NE(few.plan.drawn_from, many.plan.drawn_from) << "another draw";
}

TEST_F(SynthesisTest, AQueuedSynthesisIsCancelledForNothing) {
  const DatasetView census = MakeSealed(People("census"));
  absl::Notification may_end;
  work_.Run(work_.Reserve().value(), [&] { may_end.WaitForNotification(); });
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  EXPECT_EQ(queued->state, OperationState::kQueued);
  const auto cancelled = CancelOperation(services_, TestPrincipal("owner"), queued->id);
  may_end.Notify();
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state, OperationState::kFailed);
  EXPECT_EQ(Ended(queued->id).state, OperationState::kFailed);
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  EXPECT_EQ(balance.spent, 0);
  EXPECT_EQ(balance.held, 0);
}

TEST_F(SynthesisTest, AQueuedSynthesisOfADatasetThatIsArchivedMeanwhileGivesItsCostBack) {
  const DatasetView census = MakeSealed(People("census"));
  absl::Notification may_end;
  work_.Run(work_.Reserve().value(), [&] { may_end.WaitForNotification(); });
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  may_end.Notify();
  const OperationView ended = Ended(queued->id);
  EXPECT_EQ(ended.state, OperationState::kFailed);
  EXPECT_THAT(ended.error, ::testing::HasSubstr("ARCHIVED"));
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(ledger_->ListAccounts(census.record.id)->at(0).counters.at(0).held, 0);
}

TEST_F(SynthesisTest, AQueuedSynthesisIsLeftQueuedWhenTheServerStops) {
  const DatasetView census = MakeSealed(People("census"));
  absl::Notification may_end;
  work_.Run(work_.Reserve().value(), [&] { may_end.WaitForNotification(); });
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  work_.Close();
  may_end.Notify();
  EXPECT_EQ(Ended(queued->id).state, OperationState::kInterrupted);
  EXPECT_EQ(ledger_->GetCharge(queued->id)->state, ledger::ChargeState::kReserved);
  EXPECT_EQ(Spent(census), 0);
}

// As after a restart: it is in the ledger and in no queue.
TEST_F(SynthesisTest, AQueuedSynthesisThatNoProcessKnowsIsInterruptedAndQueuedAgainByItsRequestId) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string id = host::NewUuid();
  absl::Notification may_end;
  work_.Run(work_.Reserve().value(), [&] { may_end.WaitForNotification(); });
  const std::string charge = Create(Mwem("census"), id)->id;
  operations_.Dismiss(charge);
  EXPECT_EQ(GetOperation(services_, TestPrincipal("owner"), charge)->state, OperationState::kInterrupted);
  const auto again = Create(Mwem("census"), id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->id, charge);
  EXPECT_EQ(again->state, OperationState::kQueued);
  may_end.Notify();
  EXPECT_EQ(Ended(charge).state, OperationState::kDone);
}

TEST_F(SynthesisTest, TheIdOfAReservationIsTakenAndTheReservationStaysAsItIs) {
  const DatasetView census = MakeSealed(People("census"));
  const ReservationRequest reservation{.request_id = NewRequestId(),
                                       .dataset = DatasetName("census"),
                                       .event = dp::Event{dp::PureEvent{EpsilonOf(1000)}},
                                       .summary = "",
                                       .lifetime = absl::Hours(1)};
  const auto reserved = ReserveBudget(services_, TestPrincipal("owner"), {reservation}, Intent::kDo);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(Create(Mwem("census"), reservation.request_id.text()).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(ledger_->GetCharge(reserved->at(0).charge.id)->state, ledger::ChargeState::kReserved);
  EXPECT_TRUE(ledger_->ListReleases(census.record.id)->empty());
}

TEST_F(SynthesisTest, TheIdOfASynthesisOfAnotherDatasetIsTaken) {
  MakeSealed(People("census"));
  const DatasetView visits = MakeSealed(People("visits"), PeopleCsv(3));
  const std::string id = host::NewUuid();
  const auto first = Create(Mwem("census"), id);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(Ended(first->id).state, OperationState::kDone);
  EXPECT_EQ(Create(Mwem("visits"), id).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Spent(visits), 0);
  EXPECT_TRUE(ledger_->ListReleases(visits.record.id)->empty());
}

}  // namespace
}  // namespace curator::service
