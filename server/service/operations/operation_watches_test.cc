#include "service/operations/operation_watches.h"

#include <gmock/gmock.h>

#include <deque>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

// What one watch was given, in order.
class Seen {
 public:
  struct State {
    absl::StatusOr<OperationView> view;
    bool is_last;
  };

  OperationWatches::OnState Recorder() {
    return [this](const absl::StatusOr<OperationView>& view, bool is_last) {
      const absl::MutexLock lock(&mutex_);
      states_.push_back({view, is_last});
    };
  }

  // The next state that has not been taken. Blocks.
  State Next() {
    const absl::MutexLock lock(&mutex_);
    const auto has_one = [this] { return !states_.empty(); };
    mutex_.Await(absl::Condition(&has_one));
    State next = std::move(states_.front());
    states_.pop_front();
    return next;
  }

 private:
  absl::Mutex mutex_;
  std::deque<State> states_;
};

class OperationWatchesTest : public ServiceTest {
 protected:
  OperationWatchesTest() : attempt_(Started(MakeSealed(People("census")), "synthesis")) {}

  uint64_t Watch(Seen& seen, const std::string& principal = "owner",
                 absl::Time deadline = absl::InfiniteFuture()) {
    return watches_.Watch(TestPrincipal(principal), attempt_.charge.id, deadline, seen.Recorder());
  }

  const ledger::Attempt attempt_;
  std::shared_ptr<RunningOperations::Ticket> ticket_ = operations_.Start(attempt_.charge.id);
  OperationWatches watches_{services_};
};

TEST_F(OperationWatchesTest, AWatchSeesTheStateItsChangesAndTheEnd) {
  Seen seen;
  Watch(seen);
  Seen::State state = seen.Next();
  EXPECT_EQ(state.view->state, OperationState::kRunning);
  EXPECT_EQ(state.view->dataset, "census");
  EXPECT_FALSE(state.is_last);
  ticket_->SetShareDone(0.5);
  state = seen.Next();
  EXPECT_EQ(state.view->share_done, 0.5);
  ASSERT_TRUE(ledger_->Store(attempt_, "release").ok());
  ticket_.reset();
  while (!state.is_last) state = seen.Next();
  EXPECT_EQ(state.view->state, OperationState::kDone);
  EXPECT_FALSE(state.view->release_id.empty());
}

// An operation that waits for a thread.
class QueuedOperationWatchesTest : public ServiceTest {
 protected:
  QueuedOperationWatchesTest() {
    ledger::ChargeRequest request = DrawOf(MakeSealed(People("census")), "synthesis");
    sealed_key_ = std::exchange(request.sealed_key, "");
    charge_id_ = ledger_->Queue(request, absl::ToInt64Microseconds(absl::Hours(1)))->id;
    ticket_ = operations_.Start(charge_id_);
    watches_.Watch(TestPrincipal("owner"), charge_id_, absl::InfiniteFuture(), seen_.Recorder());
  }

  std::string charge_id_;
  std::string sealed_key_;
  std::shared_ptr<RunningOperations::Ticket> ticket_;
  Seen seen_;
  OperationWatches watches_{services_};
};

TEST_F(QueuedOperationWatchesTest, AWatchSeesItBegin) {
  Seen::State state = seen_.Next();
  EXPECT_EQ(state.view->state, OperationState::kQueued);
  EXPECT_FALSE(state.is_last);
  ASSERT_TRUE(ledger_->StartQueued(charge_id_, sealed_key_, "attempt").ok());
  ticket_->NoteBegun();
  state = seen_.Next();
  EXPECT_EQ(state.view->state, OperationState::kRunning);
  EXPECT_FALSE(state.is_last);
}

TEST_F(QueuedOperationWatchesTest, AWatchSeesItMoveInTheQueue) {
  EXPECT_EQ(seen_.Next().view->queue_position, 0);
  const auto may_end = OccupyWorker();
  work_.Run(work_.Reserve(TestPrincipal("owner")).value(), {.id = charge_id_, .run = [] {}});
  work_.PublishPositions();
  Seen::State state = seen_.Next();
  while (state.view->queue_position != 1) state = seen_.Next();
  EXPECT_EQ(state.view->state, OperationState::kQueued);
  may_end->Notify();
}

TEST_F(QueuedOperationWatchesTest, AWatchEndsWhenItIsCancelled) {
  EXPECT_FALSE(seen_.Next().is_last);
  ASSERT_TRUE(CancelOperation(services_, TestPrincipal("owner"), charge_id_).ok());
  const Seen::State state = seen_.Next();
  EXPECT_EQ(state.view->state, OperationState::kFailed);
  EXPECT_TRUE(state.is_last);
}

TEST_F(OperationWatchesTest, ManyWatchesOfOneOperationAllSeeItsEnd) {
  std::vector<Seen> seen(300);
  for (Seen& each : seen) Watch(each);
  for (Seen& each : seen) EXPECT_FALSE(each.Next().is_last);
  ticket_.reset();
  for (Seen& each : seen) EXPECT_EQ(each.Next().view->state, OperationState::kInterrupted);
}

TEST_F(OperationWatchesTest, AWatchEndsAtItsDeadlineWithTheStateAsItIs) {
  Seen seen;
  Seen without_deadline;
  Watch(without_deadline);
  EXPECT_FALSE(without_deadline.Next().is_last);
  Watch(seen, "owner", absl::Now() + absl::Milliseconds(20));
  Seen::State state = seen.Next();
  if (!state.is_last) state = seen.Next();
  EXPECT_TRUE(state.is_last);
  EXPECT_EQ(state.view->state, OperationState::kRunning);
  ticket_.reset();
  EXPECT_TRUE(without_deadline.Next().is_last) << "another's deadline ends no watch";
}

TEST_F(OperationWatchesTest, AnOperationOfAnotherPrincipalIsNotFound) {
  Seen own;
  Watch(own);
  EXPECT_TRUE(own.Next().view.ok());
  Seen foreign;
  Watch(foreign, "eve");
  const Seen::State state = foreign.Next();
  EXPECT_EQ(state.view.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(state.is_last);
}

TEST_F(OperationWatchesTest, AForgottenWatchSeesNothingMore) {
  Seen forgotten;
  Seen kept;
  const uint64_t watch = Watch(forgotten);
  Watch(kept);
  forgotten.Next();
  kept.Next();
  watches_.Unwatch(watch);
  watches_.Unwatch(watch);
  ticket_.reset();
  EXPECT_TRUE(kept.Next().is_last);
  Seen later;
  Watch(later);
  EXPECT_TRUE(later.Next().is_last);
  forgotten.Recorder()(absl::CancelledError("marks the end"), true);
  EXPECT_EQ(forgotten.Next().view.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace curator::service
