#include "client/gate/workers.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace curator::gate {
namespace {

TEST(WorkersTest, WorkThatWasPutOffRunsAfterWorkThatWasNot) {
  Workers workers(1, 10);
  absl::Notification later;
  absl::Notification now;
  bool was_first = false;
  ASSERT_TRUE(workers.Run([&] { later.Notify(); }, absl::Milliseconds(50)));
  ASSERT_TRUE(workers.Run([&] {
    was_first = !later.HasBeenNotified();
    now.Notify();
  }));
  now.WaitForNotification();
  EXPECT_TRUE(was_first);
  later.WaitForNotification();
}

TEST(WorkersTest, MoreThanMayWaitIsRefused) {
  Workers workers(1, 2);
  absl::Notification is_running;
  absl::Notification go_on;
  ASSERT_TRUE(workers.Run([&] {
    is_running.Notify();
    go_on.WaitForNotification();
  }));
  is_running.WaitForNotification();
  EXPECT_TRUE(workers.Run([] {}));
  EXPECT_TRUE(workers.Run([] {}));
  EXPECT_FALSE(workers.Run([] {}));
  go_on.Notify();
}

TEST(WorkersTest, TheEndWaitsForWhatRunsAndDropsTheRest) {
  Workers workers(1, 10);
  absl::Notification is_running;
  bool has_ended = false;
  bool has_dropped = true;
  ASSERT_TRUE(workers.Run([&] {
    is_running.Notify();
    absl::SleepFor(absl::Milliseconds(20));
    has_ended = true;
  }));
  ASSERT_TRUE(workers.Run([&] { has_dropped = false; }, absl::Hours(1)));
  is_running.WaitForNotification();
  workers.Stop();
  EXPECT_TRUE(has_ended);
  EXPECT_TRUE(has_dropped);
  EXPECT_FALSE(workers.Run([] {}));
}

TEST(IssuerWorkersTest, WhatWaitsForOneIssuerKeepsNobodyFromAnother) {
  IssuerWorkers workers({"slow", "fast"}, 1, 10);
  absl::Notification go_on;
  absl::Notification is_done;
  ASSERT_TRUE(workers.Run(
      "slow", [&] { go_on.WaitForNotification(); }, [] {}));
  ASSERT_TRUE(workers.Run(
      "fast", [&] { is_done.Notify(); }, [] {}));
  EXPECT_TRUE(is_done.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_FALSE(workers.Run(
      "another", [] {}, [] {}));
  go_on.Notify();
}

TEST(IssuerWorkersTest, WorkThatWaitedTooLongIsNotBegun) {
  IssuerWorkers workers({"one"}, 1, 10, /*longest_wait=*/absl::ZeroDuration());
  absl::Notification is_late;
  bool has_begun = false;
  ASSERT_TRUE(workers.Run(
      "one", [&] { has_begun = true; }, [&] { is_late.Notify(); }));
  is_late.WaitForNotification();
  EXPECT_FALSE(has_begun);
}

}  // namespace
}  // namespace curator::gate
