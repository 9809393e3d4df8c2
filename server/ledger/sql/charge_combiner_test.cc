#include "ledger/sql/charge_combiner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"

namespace curator::ledger::sql {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A store that takes the first batch, tells when it has, and holds it until it may go on.
class HeldStore {
 public:
  ChargeCombiner::BatchResult Decide(const std::vector<ProposedCharge>& batch) {
    std::vector<std::string> ids;
    ChargeCombiner::Results results;
    bool is_lost = false;
    for (const ProposedCharge& proposed : batch) {
      ids.push_back(proposed.request->request_id);
      Attempt attempt;
      attempt.token = proposed.request->request_id;
      is_lost = is_lost || proposed.request->kind == "lost";
      results.emplace_back(proposed.request->kind == "refused"
                               ? absl::StatusOr<Attempt>(absl::ResourceExhaustedError(""))
                               : absl::StatusOr<Attempt>(attempt));
    }
    int64_t point = 0;
    {
      const std::scoped_lock lock(mutex_);
      batches_.push_back(ids);
      point = static_cast<int64_t>(batches_.size());
    }
    if (!was_entered_.exchange(true)) {
      entered_.set_value();
      may_go_on_.get_future().wait();
    }
    if (is_lost) return {{}, absl::UnavailableError("the store is gone")};
    return {std::move(results), point};
  }
  void WaitUntilEntered() { entered_.get_future().wait(); }
  void LetGo() { may_go_on_.set_value(); }
  std::vector<std::vector<std::string>> batches() {
    const std::scoped_lock lock(mutex_);
    return batches_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::string>> batches_;
  std::atomic<bool> was_entered_ = false;
  std::promise<void> entered_;
  std::promise<void> may_go_on_;
};

ChargeRequest RequestOf(const std::string& dataset, const std::string& id,
                        const std::string& kind = "workload", size_t bytes = 0) {
  return {.dataset_id = dataset,
          .principal = TestPrincipal("ana"),
          .request_id = id,
          .kind = kind,
          .event = std::string(bytes, 'e')};
}

class ChargeCombinerTest : public ::testing::Test {
 protected:
  void Make(const ChargeCombiner::Bounds& bounds) {
    combiner_ = std::make_unique<ChargeCombiner>(
        bounds, [this](const auto& batch) { return store_.Decide(batch); },
        [this](int64_t point) { return await_anchor_(point); });
  }
  // A charge in a thread of its own. Returns once it waits or is in the store.
  std::future<absl::StatusOr<Attempt>> Start(const std::string& dataset, const std::string& id,
                                             const std::string& kind = "workload", size_t bytes = 0,
                                             const std::string& lane = "lane") {
    const auto request = std::make_shared<const ChargeRequest>(RequestOf(dataset, id, kind, bytes));
    const size_t before = combiner_->waiting();
    std::future<absl::StatusOr<Attempt>> result = std::async(std::launch::async, [this, request, lane] {
      return combiner_->Charge(lane, {.request = request.get()});
    });
    while (combiner_->waiting() == before) std::this_thread::yield();
    return result;
  }

  absl::StatusOr<Attempt> ChargeNow(const std::string& id) {
    const ChargeRequest request = RequestOf("d", id);
    return combiner_->Charge("lane", {.request = &request});
  }

  HeldStore store_;
  ChargeCombiner::AwaitAnchor await_anchor_ = [](int64_t) { return absl::OkStatus(); };
  std::unique_ptr<ChargeCombiner> combiner_;
};

TEST_F(ChargeCombinerTest, WhatComesWhileTheStoreIsBusyGoesTogether) {
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second");
  auto third = Start("d", "third");
  store_.LetGo();
  EXPECT_EQ(first.get()->token, "first");
  EXPECT_EQ(second.get()->token, "second");
  EXPECT_EQ(third.get()->token, "third");
  EXPECT_THAT(store_.batches(), ElementsAre(ElementsAre("first"), ElementsAre("second", "third")));
}

TEST_F(ChargeCombinerTest, ABatchHoldsNoMoreBytesThanTheStoreTakesAtOnce) {
  Make({.most_bytes_at_once = 1000});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  std::vector<std::future<absl::StatusOr<Attempt>>> others;
  others.push_back(Start("d", "400", "workload", 400));
  others.push_back(Start("d", "another 400", "workload", 400));
  others.push_back(Start("d", "too much for three", "workload", 400));
  others.push_back(Start("d", "too much for any", "workload", 5000));
  others.push_back(Start("e", "small", "workload", 10));
  store_.LetGo();
  for (auto& other : others) EXPECT_TRUE(other.get().ok());
  EXPECT_THAT(store_.batches(),
              ElementsAre(ElementsAre("first"), ElementsAre("400", "small", "another 400"),
                          ElementsAre("too much for three"), ElementsAre("too much for any")));
}

TEST_F(ChargeCombinerTest, ACallerThatWouldWaitWithTooManyBytesIsRefusedAtOnce) {
  Make({.most_bytes_waiting = 1000});
  auto first = Start("d", "first", "workload", 5000);  // larger than the bound, and alone
  store_.WaitUntilEntered();
  EXPECT_EQ(ChargeNow("second").status().code(), absl::StatusCode::kUnavailable);
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(ChargeNow("third").ok());
  EXPECT_EQ(combiner_->waiting(), 0U);
}

TEST_F(ChargeCombinerTest, ARefusalDoesNotRefuseItsNeighbours) {
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto refused = Start("d", "second", "refused");
  auto admitted = Start("d", "third");
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(refused.get().status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(admitted.get()->token, "third");
}

TEST_F(ChargeCombinerTest, ABatchThatTheStoreLosesFailsAllOfItsChargesAndNoOther) {
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second", "lost");
  auto third = Start("d", "third");
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(second.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(third.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ChargeNow("fourth")->token, "fourth");
}

// The anchor of the first charge is held back until two more batches have been in the store.
TEST_F(ChargeCombinerTest, NoCallerIsAnsweredBeforeTheAnchorAndTheStoreDoesNotWaitForIt) {
  std::promise<void> anchor_written;
  const std::shared_future<void> written = anchor_written.get_future().share();
  await_anchor_ = [&](int64_t point) {
    if (point == 1) written.wait();
    return absl::OkStatus();
  };
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second");
  store_.LetGo();
  EXPECT_EQ(second.get()->token, "second");
  EXPECT_EQ(ChargeNow("third")->token, "third");
  EXPECT_EQ(first.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  anchor_written.set_value();
  EXPECT_EQ(first.get()->token, "first");
}

TEST_F(ChargeCombinerTest, AnAnchorThatCannotBeWrittenHoldsBackTheAnswersOfItsBatchAlone) {
  await_anchor_ = [](int64_t point) {
    return point == 2 ? absl::UnavailableError("the disk is full") : absl::OkStatus();
  };
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second");
  auto third = Start("d", "third");
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(second.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(third.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(ChargeNow("fourth").ok());
}

// The first charge stays in the store as behind a row that another server has locked.
TEST_F(ChargeCombinerTest, ALaneThatIsStuckDelaysNoOther) {
  Make({.most_in_store = 2});
  auto stuck = Start("d", "stuck");
  store_.WaitUntilEntered();
  auto behind = Start("d", "behind");
  for (const char* const lane : {"second", "third"}) {
    const ChargeRequest request = RequestOf("e", lane);
    EXPECT_TRUE(combiner_->Charge(lane, {.request = &request}).ok());
  }
  EXPECT_EQ(behind.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  store_.LetGo();
  EXPECT_TRUE(stuck.get().ok());
  EXPECT_TRUE(behind.get().ok());
  EXPECT_THAT(store_.batches(), ElementsAre(ElementsAre("stuck"), ElementsAre("second"), ElementsAre("third"),
                                            ElementsAre("behind")));
}

TEST_F(ChargeCombinerTest, LanesBeyondThoseInTheStoreTakeTurnsAndNeverShareABatch) {
  Make({.most_in_store = 1});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  std::vector<std::future<absl::StatusOr<Attempt>>> others;
  others.push_back(Start("e", "1", "workload", 0, "one"));
  others.push_back(Start("f", "2", "workload", 0, "two"));
  others.push_back(Start("e", "3", "workload", 0, "one"));
  others.push_back(Start("d", "4"));
  store_.LetGo();
  for (auto& other : others) EXPECT_TRUE(other.get().ok());
  EXPECT_TRUE(first.get().ok());
  EXPECT_THAT(store_.batches(),
              ElementsAre(ElementsAre("first"), ElementsAre("1", "3"), ElementsAre("2"), ElementsAre("4")));
}

// Many short batches: the workers fall asleep and are handed the store again and again.
TEST_F(ChargeCombinerTest, NoChargeIsLeftBehindWhenTheStoreChangesHands) {
  Make({.most_in_store = 2, .most_waiting = 100, .most_at_once = 3});
  store_.LetGo();
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 500; ++i) {
        ChargeRequest request = RequestOf(client % 2 == 0 ? "even" : "odd", absl::StrCat(i));
        request.principal = TestPrincipal(absl::StrCat(client));
        const auto result = combiner_->Charge(absl::StrCat("lane ", i % 3), {.request = &request});
        if (result.ok() && result->token == request.request_id) ++answered;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 8 * 500);
  EXPECT_EQ(combiner_->waiting(), 0U);
}

TEST_F(ChargeCombinerTest, TooManyWaitingAreTurnedAwayAtOnce) {
  Make({.most_waiting = 2});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second");
  const ChargeRequest request = RequestOf("d", "third");
  const absl::Status turned_away = combiner_->Charge("lane", {.request = &request}).status();
  EXPECT_EQ(turned_away.code(), absl::StatusCode::kUnavailable);
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(combiner_->Charge("lane", {.request = &request}).ok());
}

// Who waits would otherwise wait for a store that stays taken.
using ChargeCombinerDeathTest = ChargeCombinerTest;

TEST_F(ChargeCombinerDeathTest, WhatIsThrownInTheStoreEndsTheProcess) {
  const ChargeRequest request = RequestOf("d", "first");
  ChargeCombiner combiner(
      {}, [](auto&) -> ChargeCombiner::BatchResult { throw std::bad_alloc(); }, await_anchor_);
  EXPECT_DEATH(combiner.Charge("lane", {.request = &request}).IgnoreError(), "bad_alloc");
}

TEST_F(ChargeCombinerDeathTest, WhatIsThrownByTheAnchorEndsTheProcess) {
  await_anchor_ = [](int64_t) -> absl::Status { throw std::bad_alloc(); };
  Make({});
  store_.LetGo();
  EXPECT_DEATH(ChargeNow("first").IgnoreError(), "bad_alloc");
}

TEST_F(ChargeCombinerTest, OneKeyIsNeverTwiceInOneBatch) {
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto once = Start("d", "same");
  auto again = Start("d", "same");
  auto other = Start("e", "other");
  store_.LetGo();
  for (auto* result : {&first, &once, &again, &other}) EXPECT_TRUE(result->get().ok());
  const std::vector<std::vector<std::string>> batches = store_.batches();
  ASSERT_THAT(batches, SizeIs(3));
  EXPECT_THAT(batches[1], UnorderedElementsAre("same", "other"));
  EXPECT_THAT(batches[2], ElementsAre("same"));
}

TEST_F(ChargeCombinerTest, ABusyDatasetDoesNotKeepAQuietOneWaiting) {
  Make({.most_waiting = 100, .most_at_once = 4});
  auto first = Start("busy", "first");
  store_.WaitUntilEntered();
  std::vector<std::future<absl::StatusOr<Attempt>>> busy;
  for (int i = 0; i < 12; ++i) busy.push_back(Start("busy", absl::StrCat("busy ", i)));
  auto quiet = Start("quiet", "quiet");
  store_.LetGo();
  for (auto& result : busy) EXPECT_TRUE(result.get().ok());
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(quiet.get().ok());
  EXPECT_THAT(store_.batches().at(1), ::testing::Contains("quiet"));
}

}  // namespace
}  // namespace curator::ledger::sql
