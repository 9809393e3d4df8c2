#include "service/request_locks.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "base/testing/names.h"

namespace curator::service {
namespace {

using Held = absl::StatusOr<RequestLocks::Holder>;

class RequestLocksTest : public ::testing::Test {
 protected:
  Held Hold(std::stop_token client_left = {}, const std::string& principal = "ana",
            const std::string& request_id = "id") {
    return locks_.Hold(TestPrincipal(principal), request_id, std::move(client_left));
  }

  // Returns once the call waits.
  std::future<absl::Status> Wait(std::stop_token client_left = {}) {
    const int before = locks_.waiting();
    std::future<absl::Status> waiter =
        std::async(std::launch::async, [this, client_left] { return Hold(client_left).status(); });
    while (locks_.waiting() == before) std::this_thread::yield();
    return waiter;
  }

  RequestLocks locks_;
};

TEST_F(RequestLocksTest, AWaiterIsNextWhenTheHolderEnds) {
  std::optional<Held> first = Hold();
  std::future<absl::Status> second = Wait();
  first.reset();
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(Hold().ok()) << "free again";
}

TEST_F(RequestLocksTest, OtherRequestsAndOtherPrincipalsDoNotWait) {
  const Held first = Hold();
  EXPECT_TRUE(Hold({}, "ana", "another id").ok());
  EXPECT_TRUE(Hold({}, "bea").ok());
}

TEST_F(RequestLocksTest, AWaiterGivesUpWhenItsClientHasLeft) {
  std::optional<Held> first = Hold();
  std::stop_source client_left;
  std::future<absl::Status> second = Wait(client_left.get_token());
  client_left.request_stop();
  EXPECT_EQ(second.get().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(locks_.waiting(), 0);
  first.reset();
  EXPECT_TRUE(Hold().ok());
}

TEST_F(RequestLocksTest, AClientThatHasLeftHoldsNothingEvenIfTheRequestIsFree) {
  std::stop_source client_left;
  client_left.request_stop();
  EXPECT_EQ(Hold(client_left.get_token()).status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Hold().ok());
}

TEST_F(RequestLocksTest, BeyondTheMostWaitersARepetitionIsRefusedAtOnce) {
  std::optional<Held> first = Hold();
  std::vector<std::future<absl::Status>> waiters;
  for (int i = 0; i < RequestLocks::kMostWaiters; ++i) waiters.push_back(Wait());
  const Held refused = Hold();
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsOverloaded(refused.status()));
  first.reset();
  for (std::future<absl::Status>& waiter : waiters) EXPECT_TRUE(waiter.get().ok());
  EXPECT_TRUE(Hold().ok()) << "the waiters' places are free again";
}

}  // namespace
}  // namespace curator::service
