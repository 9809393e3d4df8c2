#include "service/running_operations.h"

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

}  // namespace
}  // namespace curator::service
