#include "rpc/pending_sends.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace curator::rpc {
namespace {

constexpr absl::Duration kShort = absl::Milliseconds(20);
constexpr Places kOfSends = kPlaces[static_cast<size_t>(CallKind::kSend)];

TEST(PendingSends, ASendThatTakesTooLongIsCancelled) {
  Admission admission;
  PendingSends sends(admission, kShort);
  absl::Notification cancelled;
  const auto send = sends.Begin("ana", [&] { cancelled.Notify(); });
  cancelled.WaitForNotification();
}

TEST(PendingSends, OneThatHasEndedIsNotCancelled) {
  Admission admission;
  PendingSends sends(admission, kShort);
  std::atomic<bool> is_first_cancelled = false;
  absl::Notification second_cancelled;
  sends.Begin("ana", [&] { is_first_cancelled = true; }).reset();
  const auto second = sends.Begin("ana", [&] { second_cancelled.Notify(); });
  second_cancelled.WaitForNotification();
  EXPECT_FALSE(is_first_cancelled);
}

TEST(PendingSends, ACancelMayEndItsSend) {
  Admission admission;
  PendingSends sends(admission, kShort);
  absl::Notification has_send;
  absl::Notification ended;
  std::unique_ptr<PendingSends::Send> send = sends.Begin("ana", [&] {
    has_send.WaitForNotification();
    send.reset();
    ended.Notify();
  });
  has_send.Notify();
  ended.WaitForNotification();
}

TEST(PendingSends, AnEndWaitsForItsCancelOnAnotherThread) {
  Admission admission;
  PendingSends sends(admission, kShort);
  absl::Notification is_cancelling;
  absl::Notification is_ending;
  std::atomic<bool> has_ended = false;
  std::atomic<bool> had_ended = false;
  std::unique_ptr<PendingSends::Send> send = sends.Begin("ana", [&] {
    is_cancelling.Notify();
    is_ending.WaitForNotification();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    had_ended = has_ended.load();
  });
  is_cancelling.WaitForNotification();
  is_ending.Notify();
  send.reset();
  has_ended = true;
  EXPECT_FALSE(had_ended);
}

TEST(PendingSends, OnePrincipalHasABoundedNumberAndTakesNoneFromOthers) {
  Admission admission;
  PendingSends sends(admission, absl::Hours(1));
  std::vector<std::unique_ptr<PendingSends::Send>> all;
  for (int i = 0; i < kOfSends.of_one; ++i) {
    all.push_back(sends.Begin("ana", [] {}));
    ASSERT_NE(all.back(), nullptr) << i;
  }
  EXPECT_EQ(sends.Begin("ana", [] {}), nullptr);
  EXPECT_NE(sends.Begin("bea", [] {}), nullptr);
  all.pop_back();
  EXPECT_NE(sends.Begin("ana", [] {}), nullptr) << "one has ended";
}

}  // namespace
}  // namespace curator::rpc
