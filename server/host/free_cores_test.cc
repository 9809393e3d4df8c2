#include "host/free_cores.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
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

}  // namespace
}  // namespace curator::host
