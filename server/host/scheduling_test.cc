#include "host/scheduling.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <thread>

namespace curator::host {
namespace {

TEST(FreeCores, WorkRunsOnTheCallingThreadAndOnOthersAtTheSameTime) {
  FreeCores cores(3);
  std::barrier all_run(3);  // passed only when three calls run at once
  const std::thread::id self = std::this_thread::get_id();
  std::atomic<bool> first_is_caller = false;
  std::atomic<int> calls = 0;
  cores.RunOnFreeCores(8, [&](int call) {
    all_run.arrive_and_wait();
    if (call == 0) first_is_caller = std::this_thread::get_id() == self;
    ++calls;
  });
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(first_is_caller);
}

TEST(FreeCores, NoMoreCallsAreMadeThanWanted) {
  FreeCores cores(8);
  std::atomic<int> calls = 0;
  cores.RunOnFreeCores(2, [&](int) { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(FreeCores, WhoFindsAllCoresLentWorksAlone) {
  FreeCores cores(2);
  std::atomic<int> inner_calls = 0;
  cores.RunOnFreeCores(2, [&](int call) {
    if (call == 0) cores.RunOnFreeCores(2, [&](int) { ++inner_calls; });
  });
  EXPECT_EQ(inner_calls, 1);
  std::atomic<int> later_calls = 0;
  cores.RunOnFreeCores(2, [&](int) { ++later_calls; });
  EXPECT_EQ(later_calls, 2) << "lent cores come back";
}

TEST(FreeCores, OneCoreIsTheCallersOwn) {
  FreeCores cores(1);
  int calls = 0;
  cores.RunOnFreeCores(4, [&](int) { ++calls; });
  EXPECT_EQ(calls, 1);
}

constexpr uint64_t kShortNs = 100'000;

// This thread's time slice as the kernel has it; 0 where it has none.
uint64_t TimeSliceNs() {
  std::array<uint8_t, 48> attributes = {};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0), 0);
  uint64_t runtime = 0;
  std::memcpy(&runtime, attributes.data() + 24, sizeof(runtime));
  return runtime;
}

TEST(Turns, ShortOnesAreInheritedAndOrdinaryOnesComeBack) {
  std::thread([] {
    const uint64_t ordinary = TimeSliceNs();
    RequestShortTimeSlice();
    const uint64_t here = TimeSliceNs();
    uint64_t in_a_thread_of_it = 0;
    std::thread([&in_a_thread_of_it] { in_a_thread_of_it = TimeSliceNs(); }).join();
    RequestDefaultTimeSlice();
    EXPECT_EQ(TimeSliceNs(), ordinary);
    // A kernel that knows time slices reports their length.
    if (ordinary == 0) return;
    EXPECT_EQ(here, kShortNs);
    EXPECT_EQ(in_a_thread_of_it, kShortNs);
  }).join();
}

TEST(Turns, NeitherPolicyNorNicenessChanges) {
  std::thread([] {
    const int policy = sched_getscheduler(0);
    const int niceness = nice(3);
    RequestShortTimeSlice();
    EXPECT_EQ(sched_getscheduler(0), policy);
    EXPECT_EQ(nice(0), niceness);
  }).join();
}

}  // namespace
}  // namespace curator::host
