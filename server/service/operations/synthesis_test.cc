// Requests for a synthesis: their names, checks without a run, and how their ids distinguish them.
#include "service/operations/synthesis.h"

#include <atomic>

#include "absl/synchronization/notification.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "codec/accounting_codec.h"
#include "codec/draw_identity.h"
#include "codec/fingerprint.h"
#include "dp/workload/memory_forecast.h"
#include "service/charges/accountant.h"
#include "service/releases/releases.h"
#include "service/testing/fixture.h"
#include "service/testing/table_reads.h"
#include "service/testing/wrapped_ledger.h"

namespace curator::service {
namespace {

class SynthesisTest : public ServiceTest {
 protected:
  explicit SynthesisTest(LedgerOpener open_ledger = &OpenSqliteLedger) : ServiceTest(open_ledger) {}

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

TEST_F(SynthesisTest, ARequestWhoseClientHasGoneIsNotPlannedAndHoldsNothing) {
  const DatasetView census = MakeSealed(People("census"));
  std::stop_source client;
  client.request_stop();
  SynthesisRequest request = Mwem("census");
  request.client_left = client.get_token();
  EXPECT_EQ(EstimateSynthesis(services_, request).status().code(), absl::StatusCode::kCancelled);
  const std::string id = host::NewUuid();
  EXPECT_EQ(Create(request, id, Intent::kValidateOnly).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Create(request, id).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(ledger_->FindCharge(TestPrincipal("owner"), id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Spent(census), 0);
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
  RunInBackground([this] { absl::SleepFor(services_.synthesis_timeout * 1.1); });
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
    const DatasetView open = MakeSealed(adult, csv);
    EXPECT_TRUE(
        ledger_->PublishDataset(open.record.id, TestPrincipal("vera"), ledger::Approval::kByAnother).ok());
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
  EXPECT_NE(few->identity.drawn_from, many->identity.drawn_from) << "without this the test shows nothing";
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
  EXPECT_NE(few.identity.drawn_from, many.identity.drawn_from) << "another draw";
}

TEST_F(SynthesisTest, AnotherPrincipalsStartsBeforeTheSecondOfOne) {
  const DatasetView census = MakeSealed(People("census"));
  ASSERT_TRUE(ledger_->SetGrant(census.record.id, {.grantee = "ana"}, TestPrincipal("owner")).ok());
  SynthesisRequest of_ana = Mwem("census");
  of_ana.principal = TestPrincipal("ana");
  const auto may_end = OccupyWorker();
  const auto first = Create(Mwem("census"), host::NewUuid());
  const auto second = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(first->queue_position, 0) << "positions are published at fixed times";
  const auto anas = Create(of_ana, host::NewUuid());
  ASSERT_TRUE(anas.ok()) << anas.status();
  work_.PublishPositions();
  EXPECT_EQ(GetOperation(services_, TestPrincipal("owner"), first->id)->queue_position, 1);
  EXPECT_EQ(GetOperation(services_, TestPrincipal("ana"), anas->id)->queue_position, 2);
  EXPECT_EQ(GetOperation(services_, TestPrincipal("owner"), second->id)->queue_position, 3);
  const int64_t held = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0).held;
  const auto third = Create(Mwem("census"), host::NewUuid());
  EXPECT_TRUE(QuotaRetryOf(third.status()).has_value()) << third.status();
  EXPECT_EQ(ledger_->ListAccounts(census.record.id)->at(0).counters.at(0).held, held);
  may_end->Notify();
  const OperationView done = Ended(second->id);
  EXPECT_EQ(done.state, OperationState::kDone) << done.error;
  EXPECT_EQ(done.queue_position, 0);
  EXPECT_EQ(GetOperation(services_, TestPrincipal("ana"), anas->id)->state, OperationState::kDone);
}

TEST_F(SynthesisTest, AQueuedSynthesisIsCancelledForNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const auto may_end = OccupyWorker();
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  EXPECT_EQ(queued->state, OperationState::kQueued);
  const auto cancelled = CancelOperation(services_, TestPrincipal("owner"), queued->id);
  may_end->Notify();
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state, OperationState::kFailed);
  EXPECT_EQ(Ended(queued->id).state, OperationState::kFailed);
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  EXPECT_EQ(balance.spent, 0);
  EXPECT_EQ(balance.held, 0);
}

TEST_F(SynthesisTest, AnOperatorSeesAQueuedSynthesisWithoutItsSummaryAndStopsItForNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const auto may_end = OccupyWorker();
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  const auto all = ListAllOperations(services_, "", 100);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().principal, "owner");
  EXPECT_EQ(all->front().view.dataset, "census");
  EXPECT_EQ(all->front().view.state, OperationState::kQueued);
  EXPECT_EQ(all->front().view.label, "");
  EXPECT_EQ(all->front().view.request_id, "");
  EXPECT_TRUE(ListAllOperations(services_, queued->id, 100)->empty()) << "the next page";
  const auto stopped = StopOperation(services_, TestPrincipal("pol"), queued->id, "the host is moved");
  may_end->Notify();
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_EQ(stopped->view.state, OperationState::kFailed);
  EXPECT_THAT(Ended(queued->id).error,
              ::testing::HasSubstr("stopped by the operator pol: the host is moved"));
  EXPECT_EQ(ledger_->ListAccounts(census.record.id)->at(0).counters.at(0).held, 0);
}

TEST_F(SynthesisTest, ASynthesisThatIsStoppedBeforeItsTurnReadsNoTable) {
  NewDataset divided = DividedPeople("census");
  Make(divided);
  FillAndSeal("census", PeopleCsv(2), "north");
  FillAndSeal("census", "sex,age,region\nMale,3,2\n", "south");
  const auto create_behind = [&](const std::function<void(const std::string&)>& stop) {
    absl::Notification has_passed;
    const auto may_end = OccupyWorker();
    const auto queued = Create(Mwem("census"), host::NewUuid());
    EXPECT_TRUE(queued.ok()) << queued.status();
    stop(queued->id);
    RunInBackground([&] { has_passed.Notify(); });
    may_end->Notify();
    has_passed.WaitForNotification();
  };
  const int64_t before = TableReads();
  create_behind([&](const std::string& id) {
    EXPECT_TRUE(CancelOperation(services_, TestPrincipal("owner"), id).ok());
  });
  EXPECT_EQ(TableReads(), before) << "it was cancelled";
  create_behind([](const std::string&) {});
  EXPECT_GT(TableReads(), before) << "without this the test shows nothing";
  const int64_t after = TableReads();
  create_behind([&](const std::string& id) {
    EXPECT_TRUE(ledger_->CancelReserved(id, "cancelled by another server", TestPrincipal("owner")).ok());
  });
  EXPECT_EQ(TableReads(), after) << "another server cancelled it";
}

TEST_F(SynthesisTest, AQueuedSynthesisOfADatasetThatIsArchivedMeanwhileGivesItsCostBack) {
  const DatasetView census = MakeSealed(People("census"));
  const auto may_end = OccupyWorker();
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  may_end->Notify();
  const OperationView ended = Ended(queued->id);
  EXPECT_EQ(ended.state, OperationState::kFailed);
  EXPECT_THAT(ended.error, ::testing::HasSubstr("ARCHIVED"));
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(ledger_->ListAccounts(census.record.id)->at(0).counters.at(0).held, 0);
}

TEST_F(SynthesisTest, AQueuedSynthesisIsLeftQueuedWhenTheServerStops) {
  const DatasetView census = MakeSealed(People("census"));
  const auto may_end = OccupyWorker();
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  work_.Close();
  may_end->Notify();
  EXPECT_EQ(Ended(queued->id).state, OperationState::kInterrupted);
  EXPECT_EQ(ledger_->GetCharge(queued->id)->state, ledger::ChargeState::kReserved);
  EXPECT_EQ(Spent(census), 0);
}

// As after a restart: it is in the ledger and in no queue.
TEST_F(SynthesisTest, AQueuedSynthesisThatNoProcessKnowsIsInterruptedAndQueuedAgainByItsRequestId) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string id = host::NewUuid();
  const auto may_end = OccupyWorker();
  const std::string charge = Create(Mwem("census"), id)->id;
  operations_.Dismiss(charge);
  EXPECT_EQ(GetOperation(services_, TestPrincipal("owner"), charge)->state, OperationState::kInterrupted);
  const auto again = Create(Mwem("census"), id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->id, charge);
  EXPECT_EQ(again->state, OperationState::kQueued);
  may_end->Notify();
  EXPECT_EQ(Ended(charge).state, OperationState::kDone);
}

// What an earlier program charged and stored, whose planner had no such bound.
class StoredByAnEarlierProgram : public SynthesisTest {
 protected:
  StoredByAnEarlierProgram() {
    refused_.settings = {{"rounds", "1000000000"}};
    ledger::ChargeRequest charge = DrawOf(census_, "synthesis", id_);
    charge.fingerprint = FingerprintNow();
    charge.event = codec::EncodeEvent(EstimateSynthesis(services_, Mwem("census"))->plan.event);
    release_ = ledger_->Store(ledger_->Begin(charge).value(), "a model")->id;
  }

  std::string FingerprintNow() const {
    return codec::FingerprintOf(codec::AskedSynthesis{.dataset_id = census_.record.id,
                                                      .parts = {},
                                                      .method = refused_.method,
                                                      .spend = refused_.spend,
                                                      .settings = refused_.settings,
                                                      .workload = {},
                                                      .assume_records = refused_.assume_records});
  }

  const DatasetView census_ = MakeSealed(People("census"));
  const std::string id_ = host::NewUuid();
  SynthesisRequest refused_ = Mwem("census");
  std::string release_;
};

TEST_F(StoredByAnEarlierProgram, AModelIsFoundThoughItsRequestIsNotPlannedAnyMore) {
  ASSERT_EQ(FieldOf(Create(refused_, host::NewUuid()).status()), "settings.rounds") << "it is not planned";
  const int64_t spent = Spent(census_);
  const auto found = Create(refused_, id_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->state, OperationState::kDone);
  EXPECT_EQ(found->release_id, release_);
  EXPECT_EQ(Spent(census_), spent);
}

TEST_F(StoredByAnEarlierProgram, AnotherRequestAndAnotherPrincipalGetNothingOfIt) {
  SynthesisRequest other = refused_;
  other.assume_records = 7;
  EXPECT_EQ(FieldOf(Create(other, id_).status()), "settings.rounds");
  const auto planned = Create(Mwem("census"), id_);
  EXPECT_EQ(planned.status().code(), absl::StatusCode::kAlreadyExists) << planned.status();
  SynthesisRequest of_mallory = refused_;
  of_mallory.principal = TestPrincipal("mallory");
  EXPECT_EQ(Create(of_mallory, id_).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(ledger_->SetGrant(census_.record.id, {.grantee = "mallory"}, TestPrincipal("owner")).ok());
  EXPECT_EQ(FieldOf(Create(of_mallory, id_).status()), "settings.rounds");
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
  EXPECT_TRUE(ledger_->ListReleases(census.record.id)->releases.empty());
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
  EXPECT_TRUE(ledger_->ListReleases(visits.record.id)->releases.empty());
}

class SynthesisMemoryTest : public SynthesisTest {
 protected:
  // Its one attribute has more values than a fit of as many rows as may be asked for can hold.
  static NewDataset Wide() {
    NewDataset wide = People("wide");
    wide.schema = dp::CreateSchema(
                      dp::Domain::Create({dp::Attribute::Create("a", dp::CodedKind{3000}).value()}).value(),
                      dp::RecordUnit())
                      .value();
    return wide;
  }

  static SynthesisRequest WithManyRows() {
    SynthesisRequest request = Mwem("wide");
    request.method = "rap";
    request.settings = {{"rows", "20000"}};
    return request;
  }

  ledger::CounterBalance Balance(const DatasetView& dataset) {
    return ledger_->ListAccounts(dataset.record.id)->at(0).counters.at(0);
  }

  // The thread that draws waits until its memory is there.
  absl::StatusOr<OperationView> CreateAndAwaitItsWait() {
    absl::StatusOr<OperationView> created;
    const auto may_begin = OccupyWorker();
    created = Create(Mwem("census"), host::NewUuid());
    EXPECT_EQ(memory_.taken(), 0) << "a queued synthesis holds none";
    others_ = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
    may_begin->Notify();
    AwaitWaiting(memory_, 1);
    return created;
  }

  MemoryBudget::Lease others_;
};

TEST_F(SynthesisMemoryTest, OneThatWouldTakeTooMuchIsRefusedBeforeItsChargeWhateverIsStored) {
  const DatasetView wide = Make(Wide());
  const std::string id = host::NewUuid();
  const absl::Status empty = EstimateSynthesis(services_, WithManyRows()).status();
  EXPECT_EQ(FieldOf(empty), "workload") << empty;
  EXPECT_THAT(std::string(empty.message()),
              ::testing::ContainsRegex("up to [0-9]+ MB of memory to fit; at most 1000 MB are given"));
  FillAndSeal("wide", "a\n1\n2\n");
  EXPECT_EQ(EstimateSynthesis(services_, WithManyRows()).status(), empty);
  EXPECT_EQ(Create(WithManyRows(), id).status(), empty);
  EXPECT_EQ(ledger_->FindCharge(TestPrincipal("owner"), id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Balance(wide).held, 0);
  SynthesisRequest fewer = WithManyRows();
  fewer.settings = {{"rows", "1000"}};
  EXPECT_TRUE(EstimateSynthesis(services_, fewer).ok());
}

TEST_F(SynthesisMemoryTest, OneThatDoesNotFitTheBudgetIsRefusedBeforeItsCharge) {
  MakeSealed(People("census"));
  MemoryBudget small(14'000'000, absl::ZeroDuration());
  Services services{*ledger_,         *store_,   sealer_, signer_,      operations_,      work_,
                    OnlyThisThread(), requests_, late_,   datasets_,    recent_,          stored_,
                    repetitions_,     daily_,    small,   comparisons_, absl::Minutes(10)};
  const std::string id = host::NewUuid();
  const absl::Status refused =
      CreateSynthesis(services, Mwem("census"), TestRequestId(id), Intent::kDo).status();
  EXPECT_EQ(FieldOf(refused), "workload") << refused;
  EXPECT_EQ(ledger_->FindCharge(TestPrincipal("owner"), id).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SynthesisMemoryTest, OneThatWouldHoldMoreThanHalfOfTheBudgetIsRefusedBeforeItsCharge) {
  MakeSealed(People("census"));
  const SynthesisEstimate estimate = EstimateSynthesis(services_, Mwem("census")).value();
  MemoryBudget small(2 * estimate.bytes - 1, absl::ZeroDuration());
  Services services{*ledger_,         *store_,   sealer_, signer_,      operations_,      work_,
                    OnlyThisThread(), requests_, late_,   datasets_,    recent_,          stored_,
                    repetitions_,     daily_,    small,   comparisons_, absl::Minutes(10)};
  EXPECT_EQ(FieldOf(EstimateSynthesis(services, Mwem("census")).status()), "workload");
}

TEST_F(SynthesisMemoryTest, WhoseMemoryOthersHoldIsPlannedByNoThread) {
  const DatasetView census = MakeSealed(People("census"));
  const MemoryBudget::Lease others = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
  EXPECT_EQ(EstimateSynthesis(services_, Mwem("census")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Create(Mwem("census"), host::NewUuid()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Balance(census).held, 0);
}

TEST_F(SynthesisMemoryTest, AThreadWaitsForMemoryBeforeItCharges) {
  const DatasetView census = MakeSealed(People("census"));
  const auto created = CreateAndAwaitItsWait();
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(GetOperation(services_, TestPrincipal("owner"), created->id)->state, OperationState::kQueued);
  EXPECT_EQ(Spent(census), 0);
  others_ = {};
  EXPECT_EQ(Ended(created->id).state, OperationState::kDone);
  EXPECT_GT(Spent(census), 0);
}

TEST_F(SynthesisMemoryTest, OneThatWaitsForMemoryIsCancelledForNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const auto created = CreateAndAwaitItsWait();
  ASSERT_TRUE(created.ok()) << created.status();
  const auto cancelled = CancelOperation(services_, TestPrincipal("owner"), created->id);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state, OperationState::kFailed);
  while (memory_.waiting() > 0) std::this_thread::yield();  // its thread is free for others
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(Balance(census).held, 0);
}

TEST_F(SynthesisMemoryTest, OneThatWaitsForMemoryIsLeftQueuedWhenTheServerStops) {
  const DatasetView census = MakeSealed(People("census"));
  const auto created = CreateAndAwaitItsWait();
  ASSERT_TRUE(created.ok()) << created.status();
  operations_.Abandon();
  EXPECT_EQ(Ended(created->id).state, OperationState::kInterrupted);
  EXPECT_EQ(ledger_->GetCharge(created->id)->state, ledger::ChargeState::kReserved);
  EXPECT_EQ(Spent(census), 0);
}

// A draw that another process started, whose memory is not there: a cancel must still end it.
TEST_F(SynthesisMemoryTest, AStartedOneThatWaitsForMemoryIsForfeitedByACancel) {
  const DatasetView census = MakeSealed(People("census"));
  const auto may_begin = OccupyWorker();
  const std::string id = host::NewUuid();
  const std::string charge = Create(Mwem("census"), id)->id;
  operations_.Dismiss(charge);
  const std::string identity = ledger_->GetCharge(charge)->draw_identity;
  ASSERT_TRUE(ledger_->StartQueued(charge, sealer_.Seal(host::NewDrawKey(), identity), "attempt").ok());
  ASSERT_EQ(Create(Mwem("census"), id)->id, charge);
  others_ = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
  may_begin->Notify();
  AwaitWaiting(memory_, 1);
  const auto cancelled = CancelOperation(services_, TestPrincipal("owner"), charge);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(ledger_->GetCharge(charge)->state, ledger::ChargeState::kForfeited);
}

// A charge under the same id that was made for something else buys no larger plan.
TEST_F(SynthesisMemoryTest, AnEarlierChargeOfAnotherRequestLiftsNoBound) {
  MakeSealed(Wide(), "a\n1\n2\n");
  const auto may_end = OccupyWorker();
  const std::string id = host::NewUuid();
  SynthesisRequest fewer = WithManyRows();
  fewer.settings = {{"rows", "1000"}};
  const auto queued = Create(fewer, id);
  ASSERT_TRUE(queued.ok()) << queued.status();
  for (const bool is_cancelled : {false, true}) {
    if (is_cancelled) {
      ASSERT_TRUE(CancelOperation(services_, TestPrincipal("owner"), queued->id).ok());
    }
    EXPECT_EQ(FieldOf(Create(WithManyRows(), id, Intent::kValidateOnly).status()), "workload");
    EXPECT_EQ(FieldOf(Create(WithManyRows(), id).status()), "workload");
  }
  may_end->Notify();
}

TEST_F(SynthesisMemoryTest, ARequestThatIsRepeatedIsNoNewOneOfTheDay) {
  MakeSealed(People("census"));
  daily_.Add(TestPrincipal("owner"), kMostChargesADay - 2);
  const auto may_end = OccupyWorker();
  const std::string id = host::NewUuid();
  const std::string charge = Create(Mwem("census"), id)->id;
  for (int i = 0; i < 3; ++i) {
    operations_.Dismiss(charge);
    EXPECT_TRUE(Create(Mwem("census"), id).ok());
  }
  EXPECT_TRUE(Create(Mwem("census"), host::NewUuid()).ok());
  EXPECT_EQ(Create(Mwem("census"), host::NewUuid()).status().code(), absl::StatusCode::kResourceExhausted);
  may_end->Notify();
}

// The release and its model are read by one request, which holds both.
TEST_F(SynthesisMemoryTest, AModelThatASmallServerChargesIsReadByIt) {
  MakeSealed(People("census"));
  const SynthesisEstimate estimate = EstimateSynthesis(services_, Mwem("census")).value();
  const int64_t reading = dp::StoredModelBytes(estimate.plan.memory.stored) + estimate.plan.memory.reading;
  MemoryBudget small(std::max(2 * estimate.bytes, reading), absl::ZeroDuration());
  Services services{*ledger_,         *store_,   sealer_, signer_,      operations_,      work_,
                    OnlyThisThread(), requests_, late_,   datasets_,    recent_,          stored_,
                    repetitions_,     daily_,    small,   comparisons_, absl::Minutes(10)};
  const auto created = CreateSynthesis(services, Mwem("census"), NewRequestId(), Intent::kDo);
  ASSERT_TRUE(created.ok()) << created.status();
  auto release =
      GetRelease(services, Method::kSampleModel, TestPrincipal("owner"), Ended(created->id).release_id);
  ASSERT_TRUE(release.ok()) << release.status();
  EXPECT_TRUE(RestoreModel(*release).ok());
}

// Holds up the next reading transaction of any thread.
class HeldUpRead final : public ledger::sql::Database {
 public:
  struct Gate {
    absl::Notification reached;
    absl::Notification may_go_on;
    absl::Status error;  // instead of what would be read
  };

  explicit HeldUpRead(std::unique_ptr<ledger::sql::Database> real) : real_(std::move(real)) {}
  const ledger::sql::Dialect& dialect() const override { return real_->dialect(); }
  ledger::sql::Outcome Write(const ledger::sql::Body& body) override { return real_->Write(body); }
  ledger::sql::Outcome Read(const ledger::sql::Body& body) override {
    if (Gate* const gate = next.exchange(nullptr)) {
      gate->reached.Notify();
      gate->may_go_on.WaitForNotification();
      if (!gate->error.ok()) return {ledger::sql::Ending::kFailed, gate->error};
    }
    return real_->Read(body);
  }

  static inline std::atomic<Gate*> next = nullptr;

 private:
  const std::unique_ptr<ledger::sql::Database> real_;
};

// The thread of the background is held up where it reads what it plans again.
class PlannedAgainTest : public SynthesisTest {
 protected:
  PlannedAgainTest() : SynthesisTest(&OpenLedgerThrough<HeldUpRead>) { MakeSealed(People("census")); }

  void BeginAndAwaitPlanning() {
    HeldUpRead::next = &gate_;
    may_begin_->Notify();
    gate_.reached.WaitForNotification();
  }

  HeldUpRead::Gate gate_;
  const std::shared_ptr<absl::Notification> may_begin_ = OccupyWorker();
};

TEST_F(PlannedAgainTest, AQueuedOneIsLeftQueuedWhenTheServerStops) {
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  BeginAndAwaitPlanning();
  operations_.Abandon();
  gate_.may_go_on.Notify();
  EXPECT_EQ(Ended(queued->id).state, OperationState::kInterrupted);
  EXPECT_EQ(ledger_->GetCharge(queued->id)->state, ledger::ChargeState::kReserved);
}

TEST_F(PlannedAgainTest, AQueuedOneThatMeetsADefectOfTheStoreIsLeftQueued) {
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  gate_.error = absl::InternalError("no such table");
  BeginAndAwaitPlanning();
  gate_.may_go_on.Notify();
  EXPECT_EQ(Ended(queued->id).state, OperationState::kInterrupted);
  EXPECT_EQ(ledger_->GetCharge(queued->id)->state, ledger::ChargeState::kReserved);
}

TEST_F(PlannedAgainTest, OneThatIsCancelledStatesInTheHistoryWhatClientsMayRead) {
  const auto queued = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  gate_.error = ForOperators(absl::FailedPreconditionError("no rights at host db.example"),
                             {.message = "the store refuses this server", .reason = ""});
  BeginAndAwaitPlanning();
  gate_.may_go_on.Notify();
  EXPECT_EQ(Ended(queued->id).state, OperationState::kFailed);
  EXPECT_EQ(ledger_->GetCharge(queued->id)->reason, "the store refuses this server");
}

// What another process started is planned again here.
TEST_F(PlannedAgainTest, AStartedOneIsForfeitedByAStop) {
  const std::string id = host::NewUuid();
  const std::string charge = Create(Mwem("census"), id)->id;
  operations_.Dismiss(charge);
  const std::string identity = ledger_->GetCharge(charge)->draw_identity;
  ASSERT_TRUE(ledger_->StartQueued(charge, sealer_.Seal(host::NewDrawKey(), identity), "attempt").ok());
  ASSERT_EQ(Create(Mwem("census"), id)->id, charge);
  BeginAndAwaitPlanning();
  EXPECT_TRUE(operations_.RequestStop(charge));
  gate_.may_go_on.Notify();
  EXPECT_EQ(Ended(charge).state, OperationState::kFailed);
  EXPECT_EQ(ledger_->GetCharge(charge)->state, ledger::ChargeState::kForfeited);
}

// The thread that draws holds all that reading the prior takes, too.
TEST_F(GuessedRecords, APriorIsReadInTheMemoryOfTheDraw) {
  const auto started = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(started.ok()) << started.status();
  SynthesisRequest from_release = Guess(100);
  from_release.settings["prior"] = Ended(started->id).release_id;
  for (const SynthesisRequest& request : {Guess(100), from_release}) {
    const int64_t bytes = EstimateSynthesis(services_, request)->bytes;
    const auto may_begin = OccupyWorker();
    const auto queued = Create(request, host::NewUuid());
    ASSERT_TRUE(queued.ok()) << queued.status();
    const MemoryBudget::Lease others = memory_.Take(TestPrincipal("ana"), memory_.total() - bytes).value();
    may_begin->Notify();
    operations_.AwaitEnd(queued->id, absl::Now() + absl::Minutes(1));
    const OperationView ended = GetOperation(services_, TestPrincipal("owner"), queued->id).value();
    EXPECT_EQ(ended.state, OperationState::kDone) << ended.error;
  }
}

TEST_F(GuessedRecords, OnlyTheColumnsOfAPriorStayInMemory) {
  const auto started = Create(Mwem("census"), host::NewUuid());
  ASSERT_TRUE(started.ok()) << started.status();
  SynthesisRequest from_release = Guess(100);
  from_release.settings["prior"] = Ended(started->id).release_id;
  const auto estimate = EstimateSynthesis(services_, from_release);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_EQ(memory_.taken(), estimate->memory.bytes());
  constexpr int64_t kSampled = 100'000;
  constexpr int64_t kAttributes = 3;
  EXPECT_EQ(estimate->memory.bytes() - estimate->synthesizer->PlanningBytes(estimate->input),
            2 * kSampled * kAttributes);
}

TEST_F(GuessedRecords, AStoredModelIsFoundWithoutReadingItsPrior) {
  const std::string id = host::NewUuid();
  const auto started = Create(Guess(100), id);
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_EQ(Ended(started->id).state, OperationState::kDone);
  const MemoryBudget::Lease others = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
  const auto again = Create(Guess(100), id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->state, OperationState::kDone);
  EXPECT_EQ(Create(Guess(200), id).status().code(), absl::StatusCode::kUnavailable) << "another request";
}

TEST_F(GuessedRecords, APriorIsReadWhenItsMemoryIsThere) {
  const MemoryBudget::Lease others = memory_.Take(TestPrincipal("ana"), memory_.total()).value();
  const absl::Status refused = EstimateSynthesis(services_, Guess(100)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable) << refused;
}

// The public data that it starts from is another one when its turn comes.
TEST_F(GuessedRecords, OfAPriorThatIsGoneWhenATurnComesGiveTheCostBack) {
  const auto may_begin = OccupyWorker();
  const auto queued = Create(Guess(100), host::NewUuid());
  ASSERT_TRUE(queued.ok()) << queued.status();
  Corrupt("UPDATE datasets SET name = 'gone' WHERE name = 'adult'");
  may_begin->Notify();
  const OperationView ended = Ended(queued->id);
  EXPECT_EQ(ended.state, OperationState::kFailed);
  EXPECT_THAT(ended.error, ::testing::HasSubstr("there is no public dataset"));
  const ledger::Charge charge = ledger_->GetCharge(queued->id).value();
  EXPECT_EQ(charge.state, ledger::ChargeState::kCancelled);
}

}  // namespace
}  // namespace curator::service
