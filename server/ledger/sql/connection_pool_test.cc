#include "ledger/sql/connection_pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"

namespace curator::ledger::sql {
namespace {

using Pool = ConnectionPool<int>;

Pool PoolOf(size_t most) {
  return Pool(most, [] { return absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(0)); });
}

TEST(AConnectionPool, GivesAPlaceToWhoWaitsBeforeItsHolderHasItAgain) {
  Pool pool = PoolOf(1);
  for (int round = 0; round < 100; ++round) {
    std::optional<Pool::Lease> held(*pool.Take());
    **held = 0;
    std::thread waiter([&pool] { **pool.Take() = 1; });
    while (pool.waiting() == 0) std::this_thread::yield();
    held.reset();
    const absl::StatusOr<Pool::Lease> again = pool.Take();
    EXPECT_EQ(**again, 1) << "round " << round << ": the waiter was overtaken";
    waiter.join();
  }
}

TEST(AConnectionPool, ServesThoseWhoWaitInTheOrderInWhichTheyCame) {
  Pool pool = PoolOf(1);
  std::string served;
  std::optional<Pool::Lease> held(*pool.Take());
  std::vector<std::thread> waiters;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    const size_t before = pool.waiting();
    waiters.emplace_back([&pool, &served, name] {
      const absl::StatusOr<Pool::Lease> lease = pool.Take();
      served.push_back(name);
    });
    while (pool.waiting() == before) std::this_thread::yield();
  }
  held.reset();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(served, "abcd");
}

TEST(AConnectionPool, RefusesACallerThatHasWaitedLongEnoughAndKeepsItsPlaceForTheNext) {
  Pool pool = PoolOf(1);
  std::optional<Pool::Lease> held(*pool.Take());
  EXPECT_EQ(pool.Take(std::chrono::milliseconds(1)).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(pool.waiting(), 0U);
  held.reset();
  EXPECT_TRUE(pool.Take(std::chrono::milliseconds(1)).ok());
}

TEST(AConnectionPool, PassesAPlaceOnWhenNoConnectionCanBeMade) {
  int attempts = 0;
  Pool pool(1, [&attempts]() -> absl::StatusOr<std::unique_ptr<int>> {
    if (++attempts == 2) return absl::UnavailableError("no route");
    return std::make_unique<int>(0);
  });
  std::optional<Pool::Lease> held(*pool.Take());
  absl::Status first;
  absl::Status second;
  std::thread one([&] { first = pool.Take().status(); });
  while (pool.waiting() != 1) std::this_thread::yield();
  std::thread other([&] { second = pool.Take().status(); });
  while (pool.waiting() != 2) std::this_thread::yield();
  held->Drop();
  held.reset();
  one.join();
  other.join();
  EXPECT_EQ(first.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(second.ok()) << second;
}

}  // namespace
}  // namespace curator::ledger::sql
