#include "base/periodic.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "absl/synchronization/notification.h"

namespace curator {
namespace {

constexpr auto kPause = std::chrono::milliseconds(1);

TEST(Periodic, RunsAgainAfterARunThatRanOutOfMemory) {
  std::atomic<int> runs = 0;
  absl::Notification third;
  const Periodic periodic(kPause, [&] {
    if (++runs == 3) third.Notify();
    throw std::bad_alloc();
  });
  third.WaitForNotification();
}

TEST(Periodic, WaitsForARunThatHasBegunWhenItIsDestroyed) {
  absl::Notification begun;
  std::atomic<bool> has_ended = false;
  {
    const Periodic periodic(kPause, [&] {
      if (!begun.HasBeenNotified()) begun.Notify();
      has_ended = false;
      std::this_thread::yield();
      has_ended = true;
    });
    begun.WaitForNotification();
  }
  EXPECT_TRUE(has_ended);
}

TEST(Periodic, EndsAtOnceDuringAPause) {
  const auto start = std::chrono::steady_clock::now();
  {
    const Periodic periodic(std::chrono::hours(1), [] {});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

}  // namespace
}  // namespace curator
