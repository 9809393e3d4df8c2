// The invariants, over a real ledger: charge first, store before reply, replay, no refund after data access.
#include "service/release_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "host/entropy.h"
#include "host/server_key.h"
#include "ledger/open_ledger.h"
#include "service/testing/fixture.h"
#include "tests/testing/scratch_folder.h"

namespace curator::service {
namespace {

constexpr char kRequestId[] = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
constexpr int kThreads = 1 + RequestLocks::kMostWaiters;

class ReleaseOnceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto dataset = ledger_->CreateDataset(
        {.request_id = "11111111-1111-4111-8111-111111111111",
         .name = "census",
         .owner = TestPrincipal("owner"),
         .schema = "schema",
         .schema_hash = Sha256("schema"),
         .neighbour_relation = "ADD_REMOVE",
         .privacy_unit = "RECORD",
         .accounts = {{.rule = "rule", .rule_name = "PURE", .limits = {{"epsilon", 10}}}}});
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    dataset_id_ = dataset->id;
    ASSERT_TRUE(ledger_->SealDataset(dataset_id_, std::string(32, 'c'), TestPrincipal("owner")).ok());
    account_id_ = ledger_->ListAccounts(dataset_id_)->at(0).id;
  }

  ChargeOrder Order(int64_t cost, const std::string& plan = "plan",
                    const std::string& request_id = kRequestId) const {
    return {.dataset_id = dataset_id_,
            .dataset_version = 1,
            .principal = TestPrincipal("ana"),
            .request_id = request_id,
            .fingerprint = Sha256(plan),
            .kind = "workload",
            .event = "event",
            .label = "label",
            .postings = {{account_id_, "epsilon", cost}}};
  }

  int64_t Spent() const { return ledger_->ListAccounts(dataset_id_)->at(0).counters.at(0).spent; }

  // A draw that says which key it had, and counts itself.
  Draw CountedDraw() {
    return [this](const dp::DrawKey& key) -> absl::StatusOr<std::string> {
      ++draws_;
      spent_at_draw_ = Spent();
      return std::string(key.bytes().begin(), key.bytes().end());
    };
  }

  absl::StatusOr<ReleasedOnce> Release(ChargeOrder order, const Draw& draw) {
    return ReleaseOnce(locks_, *ledger_, sealer_, std::move(order), draw);
  }

  // Charged, and never drawn: as a process leaves it that dies.
  ledger::Attempt Begun(ChargeOrder order) {
    std::optional<ledger::Attempt> begun;
    const auto charge = BeginOnce(locks_, running_, *ledger_, sealer_, std::move(order),
                                  {.reserve = [] { return absl::OkStatus(); },
                                   .start = [&](ledger::Attempt attempt) { begun = std::move(attempt); }});
    EXPECT_TRUE(charge.ok()) << charge.status();
    return begun.value();
  }

  const curator::testing::ScratchFolder folder_;
  const std::unique_ptr<ledger::Ledger> ledger_ =
      ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/ledger.db",
                          .anchor_dir = folder_.path() + "/anchor",
                          .entropy = host::RandomBytes})
          .value();
  const host::KeySealer sealer_{host::ServerKey::OpenOrCreate(folder_.path() + "/server.key").value()};
  RequestLocks locks_;
  RunningOperations running_;
  std::string dataset_id_;
  int64_t account_id_ = 0;
  int draws_ = 0;
  int64_t spent_at_draw_ = -1;
};

TEST_F(ReleaseOnceTest, TheChargeIsDurableBeforeTheDraw) {
  ASSERT_TRUE(Release(Order(3), CountedDraw()).ok());
  EXPECT_EQ(spent_at_draw_, 3);
}

TEST_F(ReleaseOnceTest, ReplayReturnsStoredBytesWithoutDrawing) {
  const auto first = Release(Order(3), CountedDraw());
  const auto second = Release(Order(3), CountedDraw());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(first->replayed);
  EXPECT_TRUE(second->replayed);
  EXPECT_EQ(second->release.payload, first->release.payload);
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(Spent(), 3);
}

TEST_F(ReleaseOnceTest, AnotherRequestUnderTheSameIdIsRefused) {
  ASSERT_TRUE(Release(Order(3), CountedDraw()).ok());
  const auto other = Release(Order(3, "another plan"), CountedDraw());
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(draws_, 1);
}

TEST_F(ReleaseOnceTest, ARefusedChargeIsNeverDrawn) {
  const auto refused = Release(Order(11), CountedDraw());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(FullAccountsOf(refused.status()).empty());
  EXPECT_EQ(draws_, 0);
  EXPECT_EQ(Spent(), 0);
}

TEST_F(ReleaseOnceTest, AFailureAfterTheLookForfeitsTheCostAndSaysNothingOfItsCause) {
  const auto failed = Release(Order(3), [](const dp::DrawKey&) -> absl::StatusOr<std::string> {
    return absl::OutOfRangeError("record 17 is strange");
  });
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(failed.status().message().find("17"), std::string_view::npos);
  EXPECT_EQ(Spent(), 3);
  const auto again = Release(Order(3), CountedDraw());
  EXPECT_EQ(again.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(draws_, 0) << "a forfeited draw is never repeated";
}

TEST_F(ReleaseOnceTest, AnAttemptThatWasLostIsRepeatedWithTheSameKey) {
  const ledger::Attempt lost = Begun(Order(3));
  const auto lost_key = sealer_.Unseal(lost.sealed_key, lost.charge.fingerprint);
  const auto repeated = Release(Order(3), CountedDraw());
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ(repeated->release.payload, std::string(lost_key->bytes().begin(), lost_key->bytes().end()));
  EXPECT_EQ(Spent(), 3);
  // The lost attempt wakes up and finds that it has been taken over.
  EXPECT_EQ(ledger_->Store(lost, "late").status().code(), absl::StatusCode::kAborted);
}

// The canary of the test above: a server that draws a fresh key for a repeated attempt would be seen.
TEST_F(ReleaseOnceTest, CanaryAFreshKeyForARepeatedAttemptWouldBeAnotherDraw) {
  const ledger::Attempt lost = Begun(Order(3));
  const auto lost_key = sealer_.Unseal(lost.sealed_key, lost.charge.fingerprint);
  EXPECT_NE(host::NewDrawKey().bytes(), lost_key->bytes());
}

TEST_F(ReleaseOnceTest, AnAbandonedAttemptStaysStartedForTheNextProcess) {
  const ledger::Attempt attempt = Begun(Order(3));
  const auto abandoned = FinishOnce(
      *ledger_, sealer_, attempt,
      [](const dp::DrawKey&) -> absl::StatusOr<std::string> { return absl::CancelledError("stopping"); },
      [] { return Failure::kAbandon; });
  EXPECT_FALSE(abandoned.ok());
  EXPECT_EQ(ledger_->GetCharge(attempt.charge.id)->state, ledger::ChargeState::kStarted);
  EXPECT_TRUE(Release(Order(3), CountedDraw()).ok());
}

TEST_F(ReleaseOnceTest, AnUnfinishedChargeCanBeForfeitedByWhoeverCancelsIt) {
  const ledger::Attempt attempt = Begun(Order(3));
  ASSERT_TRUE(ForfeitUnfinished(*ledger_, attempt.charge).ok());
  EXPECT_EQ(ledger_->GetCharge(attempt.charge.id)->state, ledger::ChargeState::kForfeited);
  EXPECT_EQ(ledger_->Store(attempt, "late").status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Spent(), 3);
}

TEST_F(ReleaseOnceTest, ManyThreadsAskingTheSameQuestionShareOneDraw) {
  std::atomic<int> callers = 0;
  std::atomic<int> replays = 0;
  // The draw lasts until all threads have called, and then for some reads of the ledger.
  const Draw slow = [&](const dp::DrawKey& key) -> absl::StatusOr<Drawn> {
    while (callers < kThreads) std::this_thread::yield();
    for (int i = 0; i < 200; ++i) Spent();
    return CountedDraw()(key);
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++callers;
        const auto released = Release(Order(3), slow);
        ASSERT_TRUE(released.ok()) << released.status();
        if (released->replayed) ++replays;
      });
    }
  }
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(replays, kThreads - 1);
}

TEST_F(ReleaseOnceTest, ManyThreadsThatBeginTheSameRequestStartOneDraw) {
  std::atomic<int> callers = 0;
  std::atomic<int> starts = 0;
  std::vector<std::string> charges(kThreads);
  std::shared_ptr<RunningOperations::Ticket> ticket;
  const BackgroundDraw draw{.reserve = [] { return absl::OkStatus(); },
                            .start =
                                [&](const ledger::Attempt& attempt) {
                                  while (callers < kThreads) std::this_thread::yield();
                                  for (int i = 0; i < 200; ++i) Spent();
                                  if (++starts == 1) ticket = running_.Start(attempt.charge.id);
                                }};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        ++callers;
        const auto charge = BeginOnce(locks_, running_, *ledger_, sealer_, Order(3), draw);
        ASSERT_TRUE(charge.ok()) << charge.status();
        charges[i] = *charge;
      });
    }
  }
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(charges, std::vector<std::string>(kThreads, charges[0]));
  EXPECT_EQ(Spent(), 3);
}

TEST_F(ReleaseOnceTest, AnotherRequestUnderTheIdOfARunningDrawIsRefused) {
  const ledger::Attempt attempt = Begun(Order(3));
  const auto ticket = running_.Start(attempt.charge.id);
  const auto other = BeginOnce(locks_, running_, *ledger_, sealer_, Order(3, "another plan"), {});
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(ReleaseOnceTest, ARefusedReservationChargesNothing) {
  const auto refused = BeginOnce(locks_, running_, *ledger_, sealer_, Order(3),
                                 {.reserve = [] { return absl::UnavailableError("full"); }, .start = {}});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Spent(), 0);
}

}  // namespace
}  // namespace curator::service
