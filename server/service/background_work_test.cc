#include "service/background_work.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace curator::service {
namespace {

TEST(RunningOperations, KnowsAnOperationForAsLongAsItsTicketLives) {
  RunningOperations operations;
  EXPECT_FALSE(operations.ShareDone("a").has_value());
  {
    const auto ticket = operations.Start("a");
    EXPECT_EQ(operations.ShareDone("a"), 0.0);
    ticket->SetShareDone(0.5);
    EXPECT_EQ(operations.ShareDone("a"), 0.5);
  }
  EXPECT_FALSE(operations.ShareDone("a").has_value());
}

TEST(RunningOperations, ACancelReachesTheWork) {
  RunningOperations operations;
  const auto ticket = operations.Start("a");
  EXPECT_FALSE(operations.RequestStop("b"));
  EXPECT_FALSE(ticket->stop_token().stop_requested());
  EXPECT_TRUE(operations.RequestStop("a"));
  EXPECT_TRUE(ticket->stop_token().stop_requested());
  EXPECT_FALSE(operations.abandoning());
}

TEST(RunningOperations, AbandoningStopsEverything) {
  RunningOperations operations;
  const auto first = operations.Start("a");
  const auto second = operations.Start("b");
  operations.Abandon();
  EXPECT_TRUE(operations.abandoning());
  EXPECT_TRUE(first->stop_token().stop_requested());
  EXPECT_TRUE(second->stop_token().stop_requested());
}

TEST(RunningOperations, WhatIsRegisteredAfterAbandoningIsStoppedAtOnce) {
  RunningOperations operations;
  operations.Abandon();
  EXPECT_TRUE(operations.Start("a")->stop_token().stop_requested());
}

TEST(RunningOperations, TheListenerHearsOfChangesAndOfTheEnd) {
  RunningOperations operations;
  std::vector<std::string> heard;
  operations.SetListener([&](std::string_view id) {
    heard.push_back(std::string(id) + (operations.ShareDone(id) ? " runs" : " has ended"));
  });
  auto ticket = operations.Start("a");
  ticket->SetShareDone(0.25);
  ticket->SetShareDone(0.2500001);  // too little to be news
  ticket.reset();
  EXPECT_EQ(heard, (std::vector<std::string>{"a runs", "a has ended"}));
  operations.SetListener(nullptr);
  operations.Start("b").reset();
  EXPECT_EQ(heard.size(), 2U);
}

TEST(RunningOperations, AWaitEndsWithTheOperation) {
  RunningOperations operations;
  auto ticket = operations.Start("a");
  const std::jthread worker([&] { ticket.reset(); });
  operations.AwaitEnd("a", absl::InfiniteFuture());
  EXPECT_TRUE(operations.AwaitAllEnded(absl::InfiniteFuture()));
}

TEST(RunningOperations, AWaitEndsAtItsDeadline) {
  RunningOperations operations;
  const auto ticket = operations.Start("a");
  operations.AwaitEnd("a", absl::InfinitePast());
  EXPECT_FALSE(operations.AwaitAllEnded(absl::InfinitePast()));
}

TEST(WorkQueue, TurnsWorkAwayBeforeItIsTakenNotAfter) {
  WorkQueue queue(1, 1);
  absl::StatusOr<WorkQueue::Place> place = queue.Reserve();
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(queue.Reserve().status().code(), absl::StatusCode::kUnavailable);
  *place = WorkQueue::Place();
  EXPECT_TRUE(queue.Reserve().ok()) << "a place that is given back is free";
}

TEST(WorkQueue, RunsWhatItTookEvenWhenItIsClosing) {
  bool ran = false;
  {
    WorkQueue queue(1, 2);
    queue.Run(*queue.Reserve(), [&] { ran = true; });
    queue.Close();
    EXPECT_EQ(queue.Reserve().status().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace curator::service
