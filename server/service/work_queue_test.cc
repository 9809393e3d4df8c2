#include "service/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "base/trace.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;

class WorkQueueTest : public ::testing::Test {
 protected:
  // A queue whose threads are busy with work of "somebody" until Release().
  void Open(int threads, int places) {
    const auto note = [this](const std::vector<std::string>& ids) {
      const absl::MutexLock lock(&mutex_);
      moved_.push_back(ids);
    };
    queue_ = std::make_unique<WorkQueue>(threads, places, note, /*between_positions=*/std::chrono::hours(1));
  }
  void Occupy() {
    Queue("somebody", "first", [this] {
      began_.Notify();
      may_end_.WaitForNotification();
    });
    began_.WaitForNotification();
  }
  void Queue(const std::string& principal, const std::string& id, std::function<void()> run,
             std::stop_token stop = {}) {
    absl::StatusOr<WorkQueue::Place> place = queue_->Reserve(TestPrincipal(principal));
    ASSERT_TRUE(place.ok()) << place.status();
    queue_->Run(*std::move(place), {.id = id, .run = std::move(run), .stop = std::move(stop)});
  }
  // Work that notes when it runs.
  void QueueNoted(const std::string& principal, const std::string& id, std::stop_token stop = {}) {
    const auto note = [this, id] {
      const absl::MutexLock lock(&mutex_);
      ran_.push_back(id);
    };
    Queue(principal, id, note, std::move(stop));
  }
  // What has run once all that is queued has.
  std::vector<std::string> RanInAll() {
    if (!may_end_.HasBeenNotified()) may_end_.Notify();
    queue_.reset();
    const absl::MutexLock lock(&mutex_);
    return ran_;
  }

  absl::Notification began_;
  absl::Notification may_end_;
  absl::Mutex mutex_;
  std::vector<std::string> ran_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<std::string>> moved_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<WorkQueue> queue_;
};

TEST_F(WorkQueueTest, TurnsWorkAwayBeforeItIsTakenNotAfter) {
  Open(1, 1);
  absl::StatusOr<WorkQueue::Place> place = queue_->Reserve(TestPrincipal("ana"));
  ASSERT_TRUE(place.ok());
  EXPECT_TRUE(IsOverloaded(queue_->Reserve(TestPrincipal("bob")).status()));
  *place = WorkQueue::Place();
  EXPECT_TRUE(queue_->Reserve(TestPrincipal("bob")).ok()) << "a place that is given back is free";
}

TEST_F(WorkQueueTest, RunsWhatItTookEvenWhenItIsClosing) {
  Open(1, 2);
  QueueNoted("ana", "a");
  queue_->Close();
  EXPECT_TRUE(absl::IsUnavailable(queue_->Reserve(TestPrincipal("ana")).status()));
  EXPECT_THAT(RanInAll(), ElementsAre("a"));
}

TEST_F(WorkQueueTest, OnePrincipalHoldsAQuarterOfThePlaces) {
  Open(1, 12);
  std::vector<WorkQueue::Place> places;
  for (int i = 0; i < 3; ++i) places.push_back(queue_->Reserve(TestPrincipal("ana")).value());
  EXPECT_TRUE(QuotaRetryOf(queue_->Reserve(TestPrincipal("ana")).status()).has_value());
  EXPECT_TRUE(queue_->Reserve(TestPrincipal("bob")).ok());
  places.pop_back();
  EXPECT_TRUE(queue_->Reserve(TestPrincipal("ana")).ok());
}

TEST_F(WorkQueueTest, WorkOfAnotherStartsNextHoweverMuchOneHasQueued) {
  Open(1, 16);
  Occupy();
  for (const char* id : {"a1", "a2", "a3"}) QueueNoted("ana", id);
  QueueNoted("bob", "b1");
  QueueNoted("bob", "b2");
  EXPECT_THAT(RanInAll(), ElementsAre("a1", "b1", "a2", "b2", "a3"));
}

TEST_F(WorkQueueTest, APrincipalThatHadATurnGoesBehindOneThatHadNone) {
  Open(1, 16);
  Occupy();
  QueueNoted("somebody", "s2");
  QueueNoted("ana", "a1");
  EXPECT_THAT(RanInAll(), ElementsAre("a1", "s2"));
}

TEST_F(WorkQueueTest, APrincipalThatQueuesAgainDoesNotOvertakeOneThatWaits) {
  Open(1, 16);
  Occupy();
  absl::Notification is_back;
  Queue("bob", "b1", [&] {
    QueueNoted("bob", "b2");
    is_back.Notify();
  });
  for (const char* id : {"a1", "a2", "a3"}) QueueNoted("ana", id);
  may_end_.Notify();
  is_back.WaitForNotification();
  EXPECT_THAT(RanInAll(), ElementsAre("a1", "a2", "b2", "a3"));
}

TEST_F(WorkQueueTest, PositionsAreThoseInWhichWorkWillRunAndChangeWhenTheyArePublished) {
  Open(1, 16);
  Occupy();
  QueueNoted("ana", "a1");
  QueueNoted("ana", "a2");
  std::stop_source stop;
  QueueNoted("bob", "b1", stop.get_token());
  EXPECT_EQ(queue_->PositionOf("a1"), std::nullopt);
  queue_->PublishPositions();
  EXPECT_EQ(queue_->PositionOf("a1"), 1);
  EXPECT_EQ(queue_->PositionOf("b1"), 2);
  EXPECT_EQ(queue_->PositionOf("a2"), 3);
  EXPECT_EQ(queue_->PositionOf("first"), std::nullopt) << "it runs";
  EXPECT_EQ(queue_->PositionOf("c1"), std::nullopt);
  stop.request_stop();
  EXPECT_EQ(queue_->PositionOf("b1"), std::nullopt);
  EXPECT_EQ(queue_->PositionOf("a2"), 3) << "that another has gone shows at the next time";
  queue_->PublishPositions();
  queue_->PublishPositions();
  EXPECT_EQ(queue_->PositionOf("a2"), 2);
  {
    const absl::MutexLock lock(&mutex_);
    EXPECT_THAT(moved_, ElementsAre(ElementsAre("a1", "b1", "a2"), ElementsAre("a1", "a2")));
  }
  EXPECT_THAT(RanInAll(), ElementsAre("a1", "a2"));
}

TEST_F(WorkQueueTest, StoppedWorkTakesNoTurn) {
  Open(1, 16);
  Occupy();
  std::stop_source stop;
  for (const char* id : {"a1", "a2", "a3"}) QueueNoted("ana", id, stop.get_token());
  stop.request_stop();
  QueueNoted("ana", "a4");
  QueueNoted("bob", "b1");
  QueueNoted("bob", "b2");
  EXPECT_THAT(RanInAll(), ElementsAre("a4", "b1", "b2"));
}

TEST_F(WorkQueueTest, OnePrincipalNeverHasAllThreads) {
  Open(2, 16);
  Occupy();
  QueueNoted("somebody", "s2");
  absl::Notification ran;
  Queue("ana", "a1", [&] { ran.Notify(); });
  ran.WaitForNotification();
  queue_->PublishPositions();
  EXPECT_EQ(queue_->PositionOf("s2"), 1) << "a thread is free, and it waits all the same";
  EXPECT_THAT(RanInAll(), ElementsAre("s2"));
}

TEST(WorkQueueTraces, WorkHasTheTraceOfWhatQueuedIt) {
  std::vector<std::string> traces;
  {
    WorkQueue queue(1, 4);
    const auto run = [&](const char* id) {
      queue.Run(queue.Reserve(TestPrincipal("ana")).value(),
                {.id = id, .run = [&] { traces.push_back(CurrentTraceId()); }});
    };
    {
      const TraceScope trace("of the call");
      run("first");
    }
    run("second");
  }
  EXPECT_THAT(traces, ElementsAre("of the call", ""));
}

TEST(WorkQueuePositions, ArePublishedByThemselves) {
  absl::Notification may_end;
  absl::Notification moved;
  WorkQueue queue(
      1, 4,
      [&](const std::vector<std::string>& ids) {
        if (ids == std::vector<std::string>{"second"} && !moved.HasBeenNotified()) moved.Notify();
      },
      std::chrono::milliseconds(1));
  const auto run = [&](const char* id) {
    queue.Run(queue.Reserve(TestPrincipal("ana")).value(),
              {.id = id, .run = [&] { may_end.WaitForNotification(); }});
  };
  run("first");
  run("second");
  moved.WaitForNotification();
  may_end.Notify();
}

}  // namespace
}  // namespace curator::service
