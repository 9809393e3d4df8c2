#include "ledger/sql/charge_combiner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "absl/strings/str_cat.h"

namespace curator::ledger::sql {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A store that takes the first batch, tells when it has, and holds it until it may go on.
class HeldStore {
 public:
  ChargeCombiner::Results Decide(const std::vector<WantedCharge>& batch,
                                 const std::function<void()>& committed) {
    std::vector<std::string> ids;
    ChargeCombiner::Results results;
    for (const WantedCharge& wanted : batch) {
      ids.push_back(wanted.request->request_id);
      Attempt attempt;
      attempt.token = wanted.request->request_id;
      results.emplace_back(wanted.request->kind == "refused"
                               ? absl::StatusOr<Attempt>(absl::ResourceExhaustedError(""))
                               : absl::StatusOr<Attempt>(attempt));
    }
    {
      const std::scoped_lock lock(mutex_);
      batches_.push_back(ids);
    }
    if (!was_entered_.exchange(true)) {
      entered_.set_value();
      may_go_on_.get_future().wait();
    }
    committed();
    return results;
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

class ChargeCombinerTest : public ::testing::Test {
 protected:
  void Make(const ChargeCombiner::Bounds& bounds) {
    combiner_ = std::make_unique<ChargeCombiner>(
        bounds, [this](const auto& batch, const auto& committed) { return store_.Decide(batch, committed); });
  }
  // A charge in a thread of its own. Returns once it waits or is in the store.
  std::future<absl::StatusOr<Attempt>> Start(const std::string& dataset, const std::string& id,
                                             const std::string& kind = "workload") {
    auto request = std::make_shared<ChargeRequest>();
    request->dataset_id = dataset;
    request->principal = "ana";
    request->request_id = id;
    request->kind = kind;
    const size_t before = combiner_->waiting();
    std::future<absl::StatusOr<Attempt>> result = std::async(std::launch::async, [this, request] {
      return combiner_->Charge({.request = request.get(), .charge_id = {}, .token = {}, .encoded = {}});
    });
    while (combiner_->waiting() == before) std::this_thread::yield();
    return result;
  }

  HeldStore store_;
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

TEST_F(ChargeCombinerTest, TooManyWaitingAreTurnedAwayAtOnce) {
  Make({.most_waiting = 2});
  auto first = Start("d", "first");
  store_.WaitUntilEntered();
  auto second = Start("d", "second");
  ChargeRequest request;
  const absl::Status turned_away =
      combiner_->Charge({.request = &request, .charge_id = {}, .token = {}, .encoded = {}}).status();
  EXPECT_EQ(turned_away.code(), absl::StatusCode::kUnavailable);
  store_.LetGo();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(combiner_->Charge({.request = &request, .charge_id = {}, .token = {}, .encoded = {}}).ok());
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
