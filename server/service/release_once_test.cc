// The invariants, over a real ledger: charge first, store before reply, replay, no refund after data access.
#include "service/release_once.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "host/entropy.h"
#include "host/server_key.h"
#include "ledger/open_ledger.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"
#include "tests/testing/scratch_folder.h"

namespace curator::service {
namespace {

constexpr char kRequestId[] = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
constexpr int kThreads = 1 + RequestLocks::kMostWaiters;

class ReleaseOnceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto dataset = ledger_->CreateDataset(
        {.request_id = "11111111-1111-4111-8111-111111111111",
         .name = "census",
         .owner = TestPrincipal("owner"),
         .schema = "schema",
         .schema_hash = Sha256("schema"),
         .neighbour_relation = "ADD_REMOVE",
         .privacy_unit = "RECORD",
         .accounts = {{.rule = "rule", .rule_name = "PURE", .limits = {{"epsilon", 10}}}}});
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    dataset_id_ = dataset->id;
    ASSERT_TRUE(ledger_->SealDataset(dataset_id_, std::string(32, 'c'), TestPrincipal("owner")).ok());
    account_id_ = ledger_->ListAccounts(dataset_id_)->at(0).id;
  }

  ChargeOrder Order(int64_t cost, const std::string& plan = "plan",
                    const std::string& request_id = kRequestId) const {
    return {.dataset_id = dataset_id_,
            .dataset_version = 1,
            .principal = TestPrincipal("ana"),
            .request_id = request_id,
            .fingerprint = Sha256(plan),
            .draw_identity = Sha256("what is drawn for the " + plan),
            .kind = "workload",
            .event = "event",
            .label = "label",
            .postings = {{account_id_, "epsilon", cost}}};
  }

  // On the ledger's own file.
  void RunSql(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder_.path() + "/ledger.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  int64_t Spent() const { return ledger_->ListAccounts(dataset_id_)->at(0).counters.at(0).spent; }

  // A draw that says which key it had, and counts itself.
  Draw CountedDraw() {
    return [this](const dp::DrawKey& key) -> absl::StatusOr<std::string> {
      ++draws_;
      spent_at_draw_ = Spent();
      return std::string(key.bytes().begin(), key.bytes().end());
    };
  }

  absl::StatusOr<ReleasedOnce> Release(ChargeOrder order, const Draw& draw) {
    return ReleaseOnce(locks_, *ledger_, sealer_, late_, std::move(order), draw);
  }

  // Charged, and never drawn: as a process leaves it that dies.
  ledger::Attempt Begun(const ChargeOrder& order) {
    auto begun = ledger_->Begin({.dataset_id = order.dataset_id,
                                 .dataset_version = order.dataset_version,
                                 .principal = order.principal,
                                 .request_id = order.request_id,
                                 .fingerprint = order.fingerprint,
                                 .draw_identity = order.draw_identity,
                                 .kind = order.kind,
                                 .event = order.event,
                                 .label = order.label,
                                 .sealed_key = sealer_.Seal(host::NewDrawKey(), order.draw_identity),
                                 .postings = order.postings});
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.value();
  }

  // The key that the draw of an attempt gets.
  dp::DrawKey KeyOfDraw(const ledger::Attempt& attempt) const {
    const std::string& identity = attempt.charge.draw_identity;
    return host::DeriveDrawKey(sealer_.Unseal(attempt.sealed_key, identity).value(), identity);
  }

  // Held, and never started.
  ledger::Charge Queued(ChargeOrder order) {
    std::optional<ledger::Charge> queued;
    const auto id = QueueOnce(locks_, running_, *ledger_, std::move(order),
                              {.reserve = [] { return absl::OkStatus(); },
                               .enqueue = [&](ledger::Charge charge) { queued = std::move(charge); }});
    EXPECT_TRUE(id.ok()) << id.status();
    return queued.value();
  }

  static EndPolicy Ending(Failure failure) {
    return {.on_failure = [failure] { return failure; }, .wait = [](absl::Duration) { return false; }};
  }

  const curator::testing::ScratchFolder folder_;
  const std::unique_ptr<ledger::Ledger> ledger_ =
      ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/ledger.db",
                          .anchor_dir = folder_.path() + "/anchor",
                          .entropy = host::RandomBytes})
          .value();
  const host::KeySealer sealer_{host::ServerKey::OpenOrCreate(folder_.path() + "/server.key").value()};
  RequestLocks locks_;
  LateEndings late_{*ledger_};
  RunningOperations running_;
  std::string dataset_id_;
  int64_t account_id_ = 0;
  int draws_ = 0;
  int64_t spent_at_draw_ = -1;
};

TEST_F(ReleaseOnceTest, TheChargeIsDurableBeforeTheDraw) {
  ASSERT_TRUE(Release(Order(3), CountedDraw()).ok());
  EXPECT_EQ(spent_at_draw_, 3);
}

TEST_F(ReleaseOnceTest, ReplayReturnsStoredBytesWithoutDrawing) {
  const auto first = Release(Order(3), CountedDraw());
  const auto second = Release(Order(3), CountedDraw());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(first->replayed);
  EXPECT_TRUE(second->replayed);
  EXPECT_EQ(second->release.payload, first->release.payload);
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(Spent(), 3);
}

TEST_F(ReleaseOnceTest, AnotherRequestUnderTheSameIdIsRefused) {
  ASSERT_TRUE(Release(Order(3), CountedDraw()).ok());
  const auto other = Release(Order(3, "another plan"), CountedDraw());
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(draws_, 1);
}

TEST_F(ReleaseOnceTest, ARefusedChargeIsNeverDrawn) {
  const auto refused = Release(Order(11), CountedDraw());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(FullAccountsOf(refused.status()).empty());
  EXPECT_EQ(draws_, 0);
  EXPECT_EQ(Spent(), 0);
}

TEST_F(ReleaseOnceTest, AFailureAfterTheLookForfeitsTheCostAndSaysNothingOfItsCause) {
  const auto failed = Release(Order(3), [](const dp::DrawKey&) -> absl::StatusOr<std::string> {
    return absl::OutOfRangeError("record 17 is strange");
  });
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(failed.status().message().find("17"), std::string_view::npos);
  EXPECT_EQ(Spent(), 3);
  const auto again = Release(Order(3), CountedDraw());
  EXPECT_EQ(again.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(draws_, 0) << "a forfeited draw is never repeated";
}

// Without a look-up the order may say otherwise than the charge what is drawn.
TEST_F(ReleaseOnceTest, AnOrderThatWasExpectedToBeNewRepeatsNoDrawAndLeavesTheChargeAsItIs) {
  const ledger::Attempt lost = Begun(Order(3));
  ChargeOrder other_draw = Order(3);
  other_draw.draw_identity = Sha256("what a dataset that has grown would draw");
  other_draw.is_expected_new = true;
  EXPECT_EQ(Release(other_draw, CountedDraw()).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(draws_, 0);
  EXPECT_EQ(ledger_->GetCharge(lost.charge.id)->state, ledger::ChargeState::kStarted);
  EXPECT_TRUE(Release(Order(3), CountedDraw()).ok());
}

TEST_F(ReleaseOnceTest, AnOrderForADatasetThatWasChangedSinceIsNotCharged) {
  ChargeOrder order = Order(3);
  order.dataset_revision = ledger_->GetDataset("census")->revision;
  ASSERT_TRUE(ledger_->SetGrant(dataset_id_, {.grantee = "bob"}, TestPrincipal("owner")).ok());
  const absl::Status refused = Release(order, CountedDraw()).status();
  EXPECT_TRUE(IsDatasetChanged(refused)) << refused;
  EXPECT_EQ(Spent(), 0);
  order.dataset_revision = ledger_->GetDataset("census")->revision;
  EXPECT_TRUE(Release(order, CountedDraw()).ok());
}

TEST_F(ReleaseOnceTest, ANewChargeSaysWhereItsEntryStandsAndHowItsCountersMoved) {
  const auto released = Release(Order(3), CountedDraw());
  ASSERT_TRUE(released.ok()) << released.status();
  ASSERT_TRUE(released->charged.has_value());
  const ledger::Entry entry = ledger_->ChargeEntry(released->release.charge_id).value();
  EXPECT_EQ(released->charged->entry->seq, entry.seq);
  EXPECT_EQ(released->charged->entry->hash, entry.hash);
  EXPECT_EQ(released->charged->entry->created_at_us, entry.created_at_us);
  ASSERT_EQ(released->charged->moved.size(), 1U);
  EXPECT_EQ(released->charged->moved.front().balance.spent, 3);
  EXPECT_FALSE(Release(Order(3), CountedDraw())->charged.has_value()) << "it was made before";
}

TEST_F(ReleaseOnceTest, AnAttemptThatWasLostIsRepeatedWithTheSameKey) {
  const ledger::Attempt lost = Begun(Order(3));
  const dp::DrawKey lost_key = KeyOfDraw(lost);
  const auto repeated = Release(Order(3), CountedDraw());
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ(repeated->release.payload, std::string(lost_key.bytes().begin(), lost_key.bytes().end()));
  EXPECT_EQ(Spent(), 3);
  // The lost attempt wakes up and finds what another one has stored.
  EXPECT_EQ(ledger_->Store(lost, "late")->payload, repeated->release.payload);
}

TEST_F(ReleaseOnceTest, OnlyANewChargeIsCountedAlsoWhenItsDrawFails) {
  int counted = 0;
  const auto order = [&](const std::string& request_id) {
    ChargeOrder counting = Order(3, "plan", request_id);
    counting.on_new_charge = [&] { ++counted; };
    return counting;
  };
  Begun(order(kRequestId));
  EXPECT_TRUE(Release(order(kRequestId), CountedDraw()).ok());
  EXPECT_EQ(counted, 0) << "it was charged before";
  const auto failing = [](const dp::DrawKey&) -> absl::StatusOr<std::string> {
    return absl::InternalError("x");
  };
  EXPECT_FALSE(Release(order(host::NewUuid()), failing).ok());
  EXPECT_EQ(counted, 1);
}

// The canary of the test above: a server that draws a fresh key for a repeated attempt would be seen.
TEST_F(ReleaseOnceTest, CanaryAFreshKeyForARepeatedAttemptWouldBeAnotherDraw) {
  const ledger::Attempt lost = Begun(Order(3));
  const dp::DrawKey lost_key = KeyOfDraw(lost);
  ledger::Attempt repeated = ledger_->TakeOver(lost.charge.id).value();
  repeated.sealed_key = sealer_.Seal(host::NewDrawKey(), lost.charge.draw_identity);
  const auto release = FinishOnce(*ledger_, sealer_, repeated, CountedDraw(), Ending(Failure::kForfeit));
  ASSERT_TRUE(release.ok()) << release.status();
  EXPECT_NE(release->payload, std::string(lost_key.bytes().begin(), lost_key.bytes().end()));
}

TEST_F(ReleaseOnceTest, AnAbandonedAttemptStaysStartedForTheNextProcess) {
  const ledger::Attempt attempt = Begun(Order(3));
  const auto abandoned = FinishOnce(
      *ledger_, sealer_, attempt,
      [](const dp::DrawKey&) -> absl::StatusOr<std::string> { return absl::CancelledError("stopping"); },
      Ending(Failure::kAbandon));
  EXPECT_EQ(abandoned.status().code(), absl::StatusCode::kUnavailable) << "the same id repeats it";
  EXPECT_EQ(ledger_->GetCharge(attempt.charge.id)->state, ledger::ChargeState::kStarted);
  EXPECT_TRUE(Release(Order(3), CountedDraw()).ok());
}

TEST_F(ReleaseOnceTest, ADrawThatRunsOutOfMemoryIsRepeatedByItsRequestId) {
  std::string key_of_failed;
  const auto failed = Release(Order(4), [&](const dp::DrawKey& key) -> absl::StatusOr<std::string> {
    key_of_failed.assign(key.bytes().begin(), key.bytes().end());
    throw std::bad_alloc();
  });
  EXPECT_TRUE(absl::IsUnavailable(failed.status())) << failed.status();
  EXPECT_EQ(Spent(), 4) << "the cost stands";
  const auto repeated = Release(Order(4), CountedDraw());
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ(repeated->release.payload, key_of_failed) << "the same draw";
  EXPECT_EQ(Spent(), 4);
}

TEST_F(ReleaseOnceTest, AnUnfinishedChargeCanBeForfeitedByACancel) {
  const ledger::Attempt attempt = Begun(Order(3));
  ASSERT_TRUE(ForfeitUnfinished(*ledger_, attempt.charge.id, "cancelled").ok());
  EXPECT_EQ(ledger_->GetCharge(attempt.charge.id)->state, ledger::ChargeState::kForfeited);
  EXPECT_EQ(ledger_->Store(attempt, "late").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Spent(), 3);
}

// As after a restored backup, or with a charge of another ledger.
TEST_F(ReleaseOnceTest, ForfeitingAChargeThatTheLedgerDoesNotHaveChargesNothing) {
  Begun(Order(3));
  EXPECT_EQ(ForfeitUnfinished(*ledger_, "33333333-3333-4333-8333-333333333333", "cancelled").code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Spent(), 3);
}

TEST_F(ReleaseOnceTest, AForfeitThatFailsSaysNothingOfTheStore) {
  const auto failed = Release(Order(3), [this](const dp::DrawKey&) -> absl::StatusOr<std::string> {
    RunSql("CREATE TRIGGER full BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'disk 17 is full'); END");
    return absl::OutOfRangeError("record 17 is strange");
  });
  RunSql("DROP TRIGGER full");
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  ASSERT_TRUE(late_.AwaitNone(absl::InfiniteFuture()));
  EXPECT_EQ(ledger_->FindCharge(TestPrincipal("ana"), kRequestId)->state, ledger::ChargeState::kForfeited);
  EXPECT_EQ(failed.status().message().find("17"), std::string_view::npos) << failed.status();
}

TEST_F(ReleaseOnceTest, ManyThreadsAskingTheSameQuestionShareOneDraw) {
  std::atomic<int> callers = 0;
  std::atomic<int> replays = 0;
  // The draw lasts until all threads have called, and then for some reads of the ledger.
  const Draw slow = [&](const dp::DrawKey& key) -> absl::StatusOr<Drawn> {
    while (callers < kThreads) std::this_thread::yield();
    for (int i = 0; i < 200; ++i) Spent();
    return CountedDraw()(key);
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++callers;
        const auto released = Release(Order(3), slow);
        ASSERT_TRUE(released.ok()) << released.status();
        if (released->replayed) ++replays;
      });
    }
  }
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(replays, kThreads - 1);
}

TEST_F(ReleaseOnceTest, ManyThreadsThatQueueTheSameRequestQueueOneDraw) {
  std::atomic<int> callers = 0;
  std::atomic<int> queued = 0;
  std::vector<std::string> charges(kThreads);
  std::shared_ptr<RunningOperations::Ticket> ticket;
  const QueuedDraw draw{.reserve = [] { return absl::OkStatus(); },
                        .enqueue =
                            [&](const ledger::Charge& charge) {
                              while (callers < kThreads) std::this_thread::yield();
                              for (int i = 0; i < 200; ++i) Spent();
                              if (++queued == 1) ticket = running_.Start(charge.id);
                            }};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        ++callers;
        const auto charge = QueueOnce(locks_, running_, *ledger_, Order(3), draw);
        ASSERT_TRUE(charge.ok()) << charge.status();
        charges[i] = *charge;
      });
    }
  }
  EXPECT_EQ(queued, 1);
  EXPECT_EQ(charges, std::vector<std::string>(kThreads, charges[0]));
  EXPECT_EQ(Spent(), 0);
}

TEST_F(ReleaseOnceTest, AnotherRequestUnderTheIdOfAQueuedDrawIsRefused) {
  const auto ticket = running_.Start(Queued(Order(3)).id);
  const auto other = QueueOnce(locks_, running_, *ledger_, Order(3, "another plan"), {});
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(ReleaseOnceTest, ADrawThatHasFailedIsNotRunningThoughItsThreadIsNotDone) {
  const ledger::Charge queued = Queued(Order(3));
  const auto ticket = running_.Start(queued.id);
  ASSERT_TRUE(CancelQueuedCharge(*ledger_, queued, "stopped").ok());
  const auto again = QueueOnce(locks_, running_, *ledger_, Order(3),
                               {.reserve = [] { return absl::OkStatus(); }, .enqueue = {}});
  EXPECT_EQ(again.status().code(), absl::StatusCode::kFailedPrecondition) << again.status();
}

TEST_F(ReleaseOnceTest, AQueueWithoutAPlaceHoldsNothing) {
  const auto refused = QueueOnce(locks_, running_, *ledger_, Order(3),
                                 {.reserve = [] { return absl::UnavailableError("full"); }, .enqueue = {}});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ledger_->FindCharge(TestPrincipal("ana"), kRequestId).status().code(),
            absl::StatusCode::kNotFound);
}

// ---- Two values: the request and the draw

ChargeOrder DrawnOtherwise(ChargeOrder order) {
  order.draw_identity = Sha256("what a changed program draws for it");
  return order;
}

TEST_F(ReleaseOnceTest, AStoredReleaseIsReturnedWhateverTheProgramWouldDrawNow) {
  const auto first = Release(Order(3), CountedDraw());
  ASSERT_TRUE(first.ok()) << first.status();
  const auto again = Release(DrawnOtherwise(Order(3)), CountedDraw());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->release.payload, first->release.payload);
  EXPECT_EQ(draws_, 1);
}

TEST_F(ReleaseOnceTest, AChargedDrawThatTheProgramWouldMakeOtherwiseIsForfeited) {
  const ledger::Attempt lost = Begun(Order(3));
  const auto other = Release(DrawnOtherwise(Order(3)), CountedDraw());
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ledger_->GetCharge(lost.charge.id)->state, ledger::ChargeState::kForfeited);
  EXPECT_EQ(draws_, 0);
  EXPECT_EQ(Spent(), 3);
}

// As programs before draw identities left it: its key is the generator's, sealed under the fingerprint.
class ChargedBeforeIdentities : public ReleaseOnceTest {
 protected:
  ledger::Attempt BegunBefore() {
    ChargeOrder order = Order(3, "the plan as it was");
    auto begun = ledger_->Begin({.dataset_id = order.dataset_id,
                                 .dataset_version = order.dataset_version,
                                 .principal = order.principal,
                                 .request_id = order.request_id,
                                 .fingerprint = order.fingerprint,
                                 .kind = order.kind,
                                 .event = order.event,
                                 .label = order.label,
                                 .sealed_key = sealer_.Seal(host::NewDrawKey(), order.fingerprint),
                                 .postings = order.postings});
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.value();
  }

  // The same request, as it is made now.
  ChargeOrder Again(bool draws_as_before) const {
    ChargeOrder order = Order(3);
    order.earlier_fingerprint = Sha256("the plan as it was");
    order.draws_as_before = draws_as_before;
    return order;
  }
};

TEST_F(ChargedBeforeIdentities, IsDrawnAsItWasWhereItsPlanDeterminesTheDraw) {
  const ledger::Attempt lost = BegunBefore();
  const dp::DrawKey key = sealer_.Unseal(lost.sealed_key, lost.charge.fingerprint).value();
  const auto repeated = Release(Again(true), CountedDraw());
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ(repeated->release.payload, std::string(key.bytes().begin(), key.bytes().end()));
}

TEST_F(ChargedBeforeIdentities, IsForfeitedWhereItsPlanDoesNotDetermineTheDraw) {
  const ledger::Attempt lost = BegunBefore();
  EXPECT_EQ(Release(Again(false), CountedDraw()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ledger_->GetCharge(lost.charge.id)->state, ledger::ChargeState::kForfeited);
  EXPECT_EQ(draws_, 0);
}

TEST_F(ReleaseOnceTest, AQueuedDrawThatTheProgramWouldMakeOtherwiseGivesItsCostBack) {
  const ledger::Charge queued = Queued(Order(3));
  const auto other = QueueOnce(locks_, running_, *ledger_, DrawnOtherwise(Order(3)),
                               {.reserve = [] { return absl::OkStatus(); }, .enqueue = {}});
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ledger_->GetCharge(queued.id)->state, ledger::ChargeState::kCancelled);
  EXPECT_EQ(ledger_->ListAccounts(dataset_id_)->at(0).counters.at(0).held, 0);
}

TEST_F(ReleaseOnceTest, AKeyIsOpenedForItsOwnDrawAlone) {
  const ledger::Attempt attempt = Begun(Order(3));
  EXPECT_TRUE(sealer_.Unseal(attempt.sealed_key, attempt.charge.draw_identity).ok());
  EXPECT_EQ(sealer_.Unseal(attempt.sealed_key, DrawnOtherwise(Order(3)).draw_identity).status().code(),
            absl::StatusCode::kDataLoss);
}

// ---- A store that fails for a while

TEST_F(ReleaseOnceTest, AnAnswerThatItsCallerDidNotWaitForIsStoredLater) {
  const auto not_yet = Release(Order(3), [this](const dp::DrawKey& key) {
    RunSql("CREATE TRIGGER full BEFORE INSERT ON releases BEGIN SELECT RAISE(ABORT, 'full'); END");
    return CountedDraw()(key);
  });
  EXPECT_EQ(not_yet.status().code(), absl::StatusCode::kUnavailable);
  RunSql("DROP TRIGGER full");
  ASSERT_TRUE(late_.AwaitNone(absl::InfiniteFuture()));
  const auto stored = Release(Order(3), CountedDraw());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_TRUE(stored->replayed);
  EXPECT_EQ(draws_, 1);
}

TEST_F(ReleaseOnceTest, AStoredQueuedDrawIsFoundByItsRequestIdOnAReadOnlyDataset) {
  ASSERT_TRUE(ledger_->SetGrant(dataset_id_, {.grantee = "ana"}, TestPrincipal("owner")).ok());
  const ledger::Charge queued = Queued(Order(3));
  const auto attempt = StartOnce(*ledger_, sealer_, queued, [](absl::Duration) { return false; });
  ASSERT_TRUE(attempt.ok()) << attempt.status();
  ASSERT_TRUE(FinishOnce(*ledger_, sealer_, *attempt, CountedDraw(), Ending(Failure::kForfeit)).ok());
  RunSql("UPDATE account_counters SET spent = 0");
  ASSERT_FALSE(ledger_->Verify(dataset_id_)->ok);
  const auto repeat = [&](ChargeOrder order) {
    return QueueOnce(locks_, running_, *ledger_, std::move(order),
                     {.reserve = [] { return absl::UnavailableError("the queue is full"); },
                      .enqueue = [](const ledger::Charge&) { FAIL() << "it is not drawn again"; }});
  };
  const auto found = repeat(Order(3));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, queued.id);
  EXPECT_EQ(repeat(Order(3, "another plan")).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(draws_, 1);
}

// A change is made, its answer is lost, and for one more change the store cannot be reached.
class SilentAfterAChange final : public ledger::sql::Database {
 public:
  explicit SilentAfterAChange(std::unique_ptr<ledger::sql::Database> real) : real_(std::move(real)) {}
  const ledger::sql::Dialect& dialect() const override { return real_->dialect(); }
  ledger::sql::Outcome Write(const ledger::sql::Body& body) override {
    if (std::exchange(is_silent, false)) return {ledger::sql::Ending::kFailed, Lost()};
    if (!std::exchange(is_armed, false)) return real_->Write(body);
    real_->Write(body);
    is_silent = true;
    return {ledger::sql::Ending::kUnknown, Lost()};
  }
  ledger::sql::Outcome Read(const ledger::sql::Body& body) override { return real_->Read(body); }

  static inline thread_local bool is_armed = false;
  static inline thread_local bool is_silent = false;

 private:
  static absl::Status Lost() { return absl::UnavailableError("the connection is lost"); }

  const std::unique_ptr<ledger::sql::Database> real_;
};

class StartOnceTest : public ServiceTest {
 protected:
  StartOnceTest() : ServiceTest(&OpenLedgerThrough<SilentAfterAChange>) {}
};

TEST_F(StartOnceTest, AStartWhoseAnswerIsLostIsFoundByTheSameAttempt) {
  const DatasetView census = MakeSealed(People("census"));
  ledger::ChargeRequest request = DrawOf(census, "synthesis");
  request.sealed_key.clear();
  const ledger::Charge queued = ledger_->Queue(request, 1'000'000'000).value();
  SilentAfterAChange::is_armed = true;
  int waits = 0;
  const auto attempt = StartOnce(*ledger_, sealer_, queued, [&](absl::Duration) { return ++waits < 10; });
  ASSERT_TRUE(attempt.ok()) << attempt.status();
  EXPECT_EQ(waits, 1);
  EXPECT_TRUE(ledger_->Store(*attempt, "model").ok());
  EXPECT_EQ(Spent(census), request.postings.front().cost);
}

TEST_F(ReleaseOnceTest, AFinishedDrawIsStoredAsSoonAsTheStoreCanBeWritten) {
  const ledger::Attempt attempt = Begun(Order(3));
  int waits = 0;
  const auto release = FinishOnce(
      *ledger_, sealer_, attempt,
      [&](const dp::DrawKey& key) {
        RunSql("CREATE TRIGGER full BEFORE INSERT ON releases BEGIN SELECT RAISE(ABORT, 'full'); END");
        return CountedDraw()(key);
      },
      {.on_failure = [] { return Failure::kForfeit; },
       .wait =
           [&](absl::Duration) {
             if (++waits == 5) RunSql("DROP TRIGGER full");
             return true;
           }});
  ASSERT_TRUE(release.ok()) << release.status();
  EXPECT_EQ(waits, 5);
  EXPECT_EQ(draws_, 1);
}

TEST_F(ReleaseOnceTest, ADrawThatIsNotStoredYetIsRepeatedByItsRequestId) {
  const ledger::Attempt attempt = Begun(Order(3));
  RunSql("CREATE TRIGGER full BEFORE INSERT ON releases BEGIN SELECT RAISE(ABORT, 'full'); END");
  const auto given_up = FinishOnce(*ledger_, sealer_, attempt, CountedDraw(), Ending(Failure::kForfeit));
  EXPECT_EQ(given_up.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ledger_->GetCharge(attempt.charge.id)->state, ledger::ChargeState::kStarted);
  RunSql("DROP TRIGGER full");
  const dp::DrawKey key = KeyOfDraw(attempt);
  EXPECT_EQ(Release(Order(3), CountedDraw())->release.payload,
            std::string(key.bytes().begin(), key.bytes().end()));
}

TEST_F(ReleaseOnceTest, AStaleAttemptIsNotTriedForLong) {
  const ledger::Attempt stale = Begun(Order(3));
  Begun(Order(3));
  int waits = 0;
  const auto late = FinishOnce(*ledger_, sealer_, stale, CountedDraw(),
                               {.on_failure = [] { return Failure::kForfeit; },
                                .wait = [&](absl::Duration) { return ++waits < 100; }});
  EXPECT_EQ(late.status().code(), absl::StatusCode::kAborted);
  EXPECT_LT(waits, 10);
}

}  // namespace
}  // namespace curator::service
