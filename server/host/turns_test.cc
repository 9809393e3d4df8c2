#include "host/turns.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

namespace curator::host {
namespace {

constexpr uint64_t kShortNs = 100'000;

// The length of this thread's turns as the kernel has it; 0 where it has none.
uint64_t TurnNs() {
  std::array<uint8_t, 48> attributes = {};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0), 0);
  uint64_t runtime = 0;
  std::memcpy(&runtime, attributes.data() + 24, sizeof(runtime));
  return runtime;
}

TEST(Turns, ShortOnesAreInheritedAndOrdinaryOnesComeBack) {
  std::thread([] {
    const uint64_t ordinary = TurnNs();
    TakeShortTurns();
    const uint64_t here = TurnNs();
    uint64_t in_a_thread_of_it = 0;
    std::thread([&in_a_thread_of_it] { in_a_thread_of_it = TurnNs(); }).join();
    TakeOrdinaryTurns();
    EXPECT_EQ(TurnNs(), ordinary);
    // A kernel that knows turns tells how long they are.
    if (ordinary == 0) return;
    EXPECT_EQ(here, kShortNs);
    EXPECT_EQ(in_a_thread_of_it, kShortNs);
  }).join();
}

TEST(Turns, NeitherPolicyNorNicenessChanges) {
  std::thread([] {
    const int policy = sched_getscheduler(0);
    const int niceness = nice(3);
    TakeShortTurns();
    EXPECT_EQ(sched_getscheduler(0), policy);
    EXPECT_EQ(nice(0), niceness);
  }).join();
}

}  // namespace
}  // namespace curator::host
