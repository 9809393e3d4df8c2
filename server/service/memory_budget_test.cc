#include "service/memory_budget.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/testing/names.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

const Principal kAna = TestPrincipal("ana");
const Principal kBob = TestPrincipal("bob");
const Principal kEve = TestPrincipal("eve");

TEST(MemoryBudget, GivesBackWhatALeaseHeld) {
  MemoryBudget budget(100);
  {
    const MemoryBudget::Lease lease = budget.Take(kAna, 40).value();
    EXPECT_EQ(budget.taken(), 40);
  }
  EXPECT_EQ(budget.taken(), 0);
}

TEST(MemoryBudget, ALeaseOfNothingIsGivenBackAfterAnotherOfItsHolder) {
  MemoryBudget budget(100);
  const MemoryBudget::Lease nothing = budget.Take(kAna, 0).value();
  { const MemoryBudget::Lease lease = budget.Take(kAna, 40).value(); }
  EXPECT_EQ(budget.taken(), 0);
}

TEST(MemoryBudget, ARequestThatNeedsMoreThanAllIsRefusedWithTheNumbers) {
  MemoryBudget budget(100'000'000);
  const absl::Status refused = budget.Take(kAna, 200'000'001).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "the request would take up to 201 MB of memory; this server gives its requests 100 MB together: "
            "ask for less at once");
}

TEST(MemoryBudget, OnePrincipalHoldsAtMostHalfOrOneRequest) {
  MemoryBudget budget(100, absl::ZeroDuration());
  {
    const MemoryBudget::Lease first = budget.Take(kAna, 30).value();
    EXPECT_EQ(budget.Take(kAna, 30).status().code(), absl::StatusCode::kUnavailable);
    EXPECT_TRUE(budget.Take(kAna, 20).ok());
    EXPECT_TRUE(budget.Take(kBob, 50).ok()) << "the other half is there";
  }
  EXPECT_TRUE(budget.Take(kAna, 90).ok()) << "a single request may be larger";
  EXPECT_EQ(budget.taken(), 0);
}

TEST(MemoryBudget, ARefusedRequestLeavesNothingBehind) {
  MemoryBudget budget(100, absl::ZeroDuration());
  const MemoryBudget::Lease all = budget.Take(kAna, 100).value();
  EXPECT_EQ(budget.Take(kBob, 1).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(budget.waiting(), 0);
  EXPECT_EQ(budget.taken(), 100);
}

TEST(MemoryBudget, ALargeRequestIsNotOvertakenBySmallOnes) {
  MemoryBudget budget(100, absl::Minutes(5));
  std::optional<MemoryBudget::Lease> first = budget.Take(kAna, 60).value();
  bool is_large_admitted = false;
  std::thread large([&] {
    const MemoryBudget::Lease lease = budget.Take(kBob, 90).value();
    is_large_admitted = true;
  });
  AwaitWaiting(budget, 1);
  std::thread small([&] {
    const MemoryBudget::Lease lease = budget.Take(kEve, 30).value();
    EXPECT_TRUE(is_large_admitted) << "it would have fitted beside the first";
  });
  AwaitWaiting(budget, 2);
  first.reset();
  large.join();
  small.join();
  EXPECT_EQ(budget.taken(), 0);
}

TEST(MemoryBudget, APrincipalWithinItsShareIsNotHeldUpByOneThatIsNot) {
  MemoryBudget budget(100, absl::Minutes(5));
  std::optional<MemoryBudget::Lease> held = budget.Take(kAna, 40).value();
  std::thread more([&] { EXPECT_TRUE(budget.Take(kAna, 40).ok()); });
  AwaitWaiting(budget, 1);
  EXPECT_TRUE(budget.Take(kBob, 40).ok());
  held.reset();
  more.join();
}

TEST(MemoryBudget, WorkInTheBackgroundTogetherHoldsAtMostHalfAndRequestsDoNotWaitForItsEnd) {
  MemoryBudget budget(100, absl::ZeroDuration());
  std::optional<MemoryBudget::Lease> first = budget.AwaitForWork(30, {}).value();
  std::thread second([&] { EXPECT_TRUE(budget.AwaitForWork(30, {}).ok()); });
  AwaitWaiting(budget, 1);
  EXPECT_TRUE(budget.Take(kAna, 50).ok()) << "beside the first, and before the second";
  first.reset();
  second.join();
  EXPECT_EQ(budget.taken(), 0);
}

TEST(MemoryBudget, WorkThatDoesNotFitYetHoldsUpNoRequestThatFits) {
  MemoryBudget budget(100, absl::ZeroDuration());
  std::optional<MemoryBudget::Lease> held = budget.Take(kAna, 60).value();
  std::thread work([&] { EXPECT_TRUE(budget.AwaitForWork(50, {}).ok()); });
  AwaitWaiting(budget, 1);
  EXPECT_TRUE(budget.Take(kBob, 40).ok());
  held.reset();
  work.join();
  EXPECT_EQ(budget.taken(), 0);
}

TEST(MemoryBudget, WorkThatIsStoppedWhileItWaitsLeavesNothingBehind) {
  MemoryBudget budget(100);
  const MemoryBudget::Lease all = budget.Take(kAna, 100).value();
  std::stop_source stop;
  std::thread work([&] {
    EXPECT_EQ(budget.AwaitForWork(30, stop.get_token()).status().code(), absl::StatusCode::kCancelled);
  });
  AwaitWaiting(budget, 1);
  stop.request_stop();
  work.join();
  EXPECT_EQ(budget.waiting(), 0);
  EXPECT_EQ(budget.taken(), 100);
}

TEST(MemoryBudget, ARequestThatWaitsForMemoryEndsWhenItsClientHasGone) {
  MemoryBudget budget(100, absl::Minutes(5));
  const MemoryBudget::Lease all = budget.Take(kAna, 100).value();
  std::stop_source client;
  std::thread request([&] {
    EXPECT_EQ(budget.Take(kBob, 30, client.get_token()).status().code(), absl::StatusCode::kCancelled);
  });
  AwaitWaiting(budget, 1);
  client.request_stop();
  request.join();
  EXPECT_EQ(budget.waiting(), 0);
}

TEST(MemoryBudget, OneRequestMayGrowBeyondItsPrincipalsShare) {
  MemoryBudget budget(100, absl::ZeroDuration());
  MemoryBudget::Lease lease = budget.Take(kAna, 40).value();
  EXPECT_EQ(budget.Take(kAna, 30).status().code(), absl::StatusCode::kUnavailable) << "another request";
  EXPECT_TRUE(budget.Grow(lease, 30).ok());
  EXPECT_EQ(budget.taken(), 70);
  EXPECT_EQ(budget.Grow(lease, 31).code(), absl::StatusCode::kInvalidArgument) << "more than all";
  EXPECT_EQ(budget.taken(), 70);
  lease = {};
  EXPECT_EQ(budget.taken(), 0);
}

TEST(MemoryBudget, ARequestThatGrowsDoesNotWaitBehindOneThatWaitsForIt) {
  MemoryBudget budget(100, absl::Minutes(5));
  MemoryBudget::Lease first = budget.Take(kAna, 40).value();
  std::thread large([&] { EXPECT_TRUE(budget.Take(kBob, 90).ok()); });
  AwaitWaiting(budget, 1);
  EXPECT_TRUE(budget.Grow(first, 30).ok());
  first = {};
  large.join();
}

TEST(MemoryBudget, OfTwoRequestsOfOnePrincipalThatGrowOneGoesFirst) {
  MemoryBudget budget(100, absl::Minutes(5));
  MemoryBudget::Lease first = budget.Take(kAna, 25).value();
  MemoryBudget::Lease second = budget.Take(kAna, 25).value();
  const MemoryBudget::Lease others = budget.Take(kBob, 45).value();
  const auto grow = [&](MemoryBudget::Lease& lease) {
    EXPECT_TRUE(budget.Grow(lease, 5).ok());
    lease = {};
  };
  std::thread one(grow, std::ref(first));
  AwaitWaiting(budget, 1);
  grow(second);
  one.join();
  EXPECT_EQ(budget.taken(), 45);
}

TEST(MemoryBudget, RequestsThatGrowBeyondWhatIsThereHoldUpNoSmallOne) {
  MemoryBudget budget(100, absl::Minutes(5));
  MemoryBudget::Lease of_ana = budget.Take(kAna, 40).value();
  MemoryBudget::Lease of_bob = budget.Take(kBob, 40).value();
  std::stop_source clients;
  const auto grow = [&](MemoryBudget::Lease& lease) {
    EXPECT_EQ(budget.Grow(lease, 30, clients.get_token()).code(), absl::StatusCode::kCancelled);
  };
  std::thread one(grow, std::ref(of_ana));
  std::thread two(grow, std::ref(of_bob));
  AwaitWaiting(budget, 2);
  EXPECT_TRUE(budget.Take(kEve, 10).ok());
  clients.request_stop();
  one.join();
  two.join();
}

TEST(RequestMemory, GivesBackWhatIsNotNeededAnyMoreAndKnowsTheMostThatItHeld) {
  MemoryBudget budget(100, absl::ZeroDuration());
  RequestMemory memory(budget, kAna, {});
  EXPECT_TRUE(memory.Add(60).ok());
  memory.ShrinkTo(20);
  memory.ShrinkTo(30);
  EXPECT_EQ(budget.taken(), 20);
  EXPECT_TRUE(memory.Add(10).ok());
  EXPECT_EQ(memory.bytes(), 30);
  EXPECT_EQ(memory.most_bytes(), 60);
  EXPECT_EQ(budget.taken(), 30);
}

TEST(RequestMemory, IsOneLeaseThatGrows) {
  MemoryBudget budget(100, absl::ZeroDuration());
  {
    RequestMemory memory(budget, kAna, {});
    EXPECT_TRUE(memory.Add(40).ok());
    EXPECT_TRUE(memory.Add(50).ok());
    EXPECT_EQ(memory.bytes(), 90);
    EXPECT_EQ(memory.Add(20).code(), absl::StatusCode::kInvalidArgument);
    const RequestMemory moved = std::move(memory);
    EXPECT_EQ(budget.taken(), 90);
  }
  EXPECT_EQ(budget.taken(), 0);
}

TEST(RequestMemory, OfAnAnswerThatWasPaidForIsAtMostTheWholeBudget) {
  MemoryBudget budget(100);
  RequestMemory memory(budget, kAna, {});
  ASSERT_TRUE(memory.AddUpToAll(60).ok());
  EXPECT_EQ(memory.bytes(), 60);
  ASSERT_TRUE(memory.AddUpToAll(60).ok());
  EXPECT_EQ(memory.bytes(), 100);
  ASSERT_TRUE(memory.AddUpToAll(1).ok());
  EXPECT_EQ(budget.taken(), 100);
  RequestMemory counted;
  ASSERT_TRUE(counted.AddUpToAll(600).ok());
  EXPECT_EQ(counted.bytes(), 600);
}

TEST(RequestMemory, WithoutABudgetOnlyCounts) {
  RequestMemory memory;
  EXPECT_TRUE(memory.Add(int64_t{1} << 40).ok());
  EXPECT_EQ(memory.bytes(), int64_t{1} << 40);
}

}  // namespace
}  // namespace curator::service
