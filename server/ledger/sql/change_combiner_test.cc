#include "ledger/sql/change_combiner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <thread>

#include "absl/strings/str_cat.h"

namespace curator::ledger::sql {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A change that the store below decides: by its kind.
class TestChange final : public CombinedChange {
 public:
  TestChange(std::string dataset, std::string its_id, std::string its_kind = "made", size_t bytes = 0,
             std::string principal = "ana")
      : id(std::move(its_id)),
        kind(std::move(its_kind)),
        dataset_(std::move(dataset)),
        bytes_(bytes),
        principal_(std::move(principal)) {}

  const std::string& dataset_id() const override { return dataset_; }
  size_t bytes() const override { return bytes_; }
  std::vector<ChargeKey> keys() const override { return {{principal_, id}}; }
  void AddNeeds(Needs&) const override {}
  absl::Status Decide(WriteSet&, const FoundCharges&) override { return absl::OkStatus(); }
  absl::Status DecideOptimistically(WriteSet&) override { return absl::OkStatus(); }

  const std::string id;
  const std::string kind;
  std::string made;  // the id, once it was in the store

 private:
  const std::string dataset_;
  const size_t bytes_;
  const std::string principal_;
};

// A store that takes the first batch, tells when it has, and holds it until it may go on.
class HeldStore {
 public:
  ChangeCombiner::BatchResult Decide(const std::vector<CombinedChange*>& batch) {
    std::vector<std::string> ids;
    ChangeCombiner::Results results;
    bool is_lost = false;
    for (CombinedChange* const each : batch) {
      auto& change = dynamic_cast<TestChange&>(*each);
      ids.push_back(change.id);
      change.made = change.id;
      is_lost = is_lost || change.kind == "lost";
      results.push_back(change.kind == "refused" ? absl::ResourceExhaustedError("") : absl::OkStatus());
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

// The id of a change that was made.
using Made = absl::StatusOr<std::string>;

class ChangeCombinerTest : public ::testing::Test {
 protected:
  void Make(const ChangeCombiner::Bounds& bounds) {
    combiner_ = std::make_unique<ChangeCombiner>(
        bounds, [this](const auto& batch) { return store_.Decide(batch); },
        [this](int64_t point) { return await_anchor_(point); });
  }
  // A change in a thread of its own. Returns once it waits or is in the store.
  std::future<Made> Start(const std::string& dataset, const std::string& id, const std::string& kind = "made",
                          size_t bytes = 0, const std::string& lane = "lane") {
    const size_t before = combiner_->waiting();
    std::future<Made> result =
        std::async(std::launch::async, [this, dataset, id, kind, bytes, lane]() -> Made {
          TestChange change(dataset, id, kind, bytes);
          return MakeIn(lane, change);
        });
    while (combiner_->waiting() == before) std::this_thread::yield();
    return result;
  }

  Made MakeIn(const std::string& lane, TestChange& change) {
    if (const absl::Status made = combiner_->Make(lane, change); !made.ok()) return made;
    return change.made;
  }

  Made MakeNow(const std::string& id) {
    TestChange change("d", id);
    return MakeIn("lane", change);
  }

  HeldStore store_;
  ChangeCombiner::AwaitAnchor await_anchor_ = [](int64_t) { return absl::OkStatus(); };
  std::unique_ptr<ChangeCombiner> combiner_;
};

TEST_F(ChangeCombinerTest, WhatComesWhileTheStoreIsBusyGoesTogether) {
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second");
  auto third = Start("d", "third");
  store_.LetGo();
  EXPECT_EQ(*first.get(), "first");
  EXPECT_EQ(*second.get(), "second");
  EXPECT_EQ(*third.get(), "third");
  EXPECT_THAT(store_.batches(), ElementsAre(ElementsAre("first"), ElementsAre("second", "third")));
}

TEST_F(ChangeCombinerTest, ABatchHoldsNoMoreBytesThanTheStoreTakesAtOnce) {
  Make({.most_bytes_at_once = 1000});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  std::vector<std::future<Made>> others;
  others.push_back(Start("d", "400", "made", 400));
  others.push_back(Start("d", "another 400", "made", 400));
  others.push_back(Start("d", "too much for three", "made", 400));
  others.push_back(Start("d", "too much for any", "made", 5000));
  others.push_back(Start("e", "small", "made", 10));
  store_.LetGo();
  for (auto& other : others) EXPECT_TRUE(other.get().ok());
  EXPECT_THAT(store_.batches(),
              ElementsAre(ElementsAre("first"), ElementsAre("400", "small", "another 400"),
                          ElementsAre("too much for three"), ElementsAre("too much for any")));
}

TEST_F(ChangeCombinerTest, ACallerThatWouldWaitWithTooManyBytesIsRefusedAtOnce) {
  Make({.most_bytes_waiting = 1000});
  auto first = Start("d", "first", "made", 5000);  // larger than the bound, and alone
  store_.WaitUntilEntered();
  EXPECT_EQ(MakeNow("second").status().code(), absl::StatusCode::kUnavailable);
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(MakeNow("third").ok());
  EXPECT_EQ(combiner_->waiting(), 0U);
}

TEST_F(ChangeCombinerTest, ARefusalDoesNotRefuseItsNeighbours) {
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto refused = Start("d", "second", "refused");
  auto admitted = Start("d", "third");
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(refused.get().status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*admitted.get(), "third");
}

TEST_F(ChangeCombinerTest, ABatchThatTheStoreLosesFailsAllOfItsChargesAndNoOther) {
  Make({});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second", "lost");
  auto third = Start("d", "third");
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(second.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(third.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(*MakeNow("fourth"), "fourth");
}

// The anchor of the first charge is held back until two more batches have been in the store.
TEST_F(ChangeCombinerTest, NoCallerIsAnsweredBeforeTheAnchorAndTheStoreDoesNotWaitForIt) {
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
  EXPECT_EQ(*second.get(), "second");
  EXPECT_EQ(*MakeNow("third"), "third");
  EXPECT_EQ(first.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  anchor_written.set_value();
  EXPECT_EQ(*first.get(), "first");
}

TEST_F(ChangeCombinerTest, AnAnchorThatCannotBeWrittenHoldsBackTheAnswersOfItsBatchAlone) {
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
  EXPECT_TRUE(MakeNow("fourth").ok());
}

// The first charge stays in the store as behind a row that another server has locked.
TEST_F(ChangeCombinerTest, ALaneThatIsStuckDelaysNoOther) {
  Make({.most_in_store = 2});
  auto stuck = Start("d", "stuck");
  store_.WaitUntilEntered();
  auto behind = Start("d", "behind");
  for (const char* const lane : {"second", "third"}) {
    TestChange change("e", lane);
    EXPECT_TRUE(MakeIn(lane, change).ok());
  }
  EXPECT_EQ(behind.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  store_.LetGo();
  EXPECT_TRUE(stuck.get().ok());
  EXPECT_TRUE(behind.get().ok());
  EXPECT_THAT(store_.batches(), ElementsAre(ElementsAre("stuck"), ElementsAre("second"), ElementsAre("third"),
                                            ElementsAre("behind")));
}

TEST_F(ChangeCombinerTest, LanesBeyondThoseInTheStoreTakeTurnsAndNeverShareABatch) {
  Make({.most_in_store = 1});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  std::vector<std::future<Made>> others;
  others.push_back(Start("e", "1", "made", 0, "one"));
  others.push_back(Start("f", "2", "made", 0, "two"));
  others.push_back(Start("e", "3", "made", 0, "one"));
  others.push_back(Start("d", "4"));
  store_.LetGo();
  for (auto& other : others) EXPECT_TRUE(other.get().ok());
  EXPECT_TRUE(first.get().ok());
  EXPECT_THAT(store_.batches(),
              ElementsAre(ElementsAre("first"), ElementsAre("1", "3"), ElementsAre("2"), ElementsAre("4")));
}

// Many short batches: the workers fall asleep and are handed the store again and again.
TEST_F(ChangeCombinerTest, NoChargeIsLeftBehindWhenTheStoreChangesHands) {
  Make({.most_in_store = 2, .most_waiting = 100, .most_at_once = 3});
  store_.LetGo();
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 500; ++i) {
        TestChange change(client % 2 == 0 ? "even" : "odd", absl::StrCat(i), "made", 0, absl::StrCat(client));
        const Made made = MakeIn(absl::StrCat("lane ", i % 3), change);
        if (made.ok() && *made == change.id) ++answered;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 8 * 500);
  EXPECT_EQ(combiner_->waiting(), 0U);
}

TEST_F(ChangeCombinerTest, TooManyWaitingAreTurnedAwayAtOnce) {
  Make({.most_waiting = 2});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second");
  EXPECT_EQ(MakeNow("third").status().code(), absl::StatusCode::kUnavailable);
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(MakeNow("third").ok());
}

// Who waits would otherwise wait for a store that stays taken.
using ChangeCombinerDeathTest = ChangeCombinerTest;

TEST_F(ChangeCombinerDeathTest, WhatIsThrownInTheStoreEndsTheProcess) {
  TestChange change("d", "first");
  ChangeCombiner combiner(
      {}, [](const auto&) -> ChangeCombiner::BatchResult { throw std::bad_alloc(); }, await_anchor_);
  EXPECT_DEATH(combiner.Make("lane", change).IgnoreError(), "bad_alloc");
}

TEST_F(ChangeCombinerDeathTest, WhatIsThrownByTheAnchorEndsTheProcess) {
  await_anchor_ = [](int64_t) -> absl::Status { throw std::bad_alloc(); };
  Make({});
  store_.LetGo();
  EXPECT_DEATH(MakeNow("first").IgnoreError(), "bad_alloc");
}

TEST_F(ChangeCombinerTest, OneKeyIsNeverTwiceInOneBatch) {
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

TEST_F(ChangeCombinerTest, ABusyDatasetDoesNotKeepAQuietOneWaiting) {
  Make({.most_waiting = 100, .most_at_once = 4});
  auto first = Start("busy", "first");
  store_.WaitUntilEntered();
  std::vector<std::future<Made>> busy;
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
