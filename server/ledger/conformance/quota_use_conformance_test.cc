// What principals use of their daily quotas: bounded, counted by all servers together, forgotten in time.
#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

constexpr char kQuotaOfSeconds[] = "synthesis_cpu_seconds_per_day";
constexpr int64_t kSomeDay = 20'000;

DailyUse UseOf(int64_t amount, const std::string& principal = "ana", int64_t day = kSomeDay) {
  return {.principal = principal, .quota = kQuotaOfSeconds, .day = day, .amount = amount};
}

class QuotaUseConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Open();
  }
  int64_t Used(const std::string& principal = "ana", int64_t day = kSomeDay) {
    return Must(ledger_->QuotaUsed(principal, kQuotaOfSeconds, day));
  }

  std::unique_ptr<Ledger> ledger_;
};

TEST_P(QuotaUseConformance, AmountsAddUpToTheMostAndWhatWouldExceedItIsNotAdded) {
  EXPECT_EQ(Used(), 0);
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(6), 10)));
  EXPECT_FALSE(Must(ledger_->UseQuota(UseOf(5), 10)));
  EXPECT_EQ(Used(), 6);
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(4), 10)));
  EXPECT_FALSE(Must(ledger_->UseQuota(UseOf(1), 10)));
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(0), 10)));
  EXPECT_EQ(Used(), 10);
}

TEST_P(QuotaUseConformance, AFirstAmountBeyondTheMostIsNotAdded) {
  EXPECT_FALSE(Must(ledger_->UseQuota(UseOf(11), 10)));
  EXPECT_FALSE(Must(ledger_->UseQuota(UseOf(1), 0)));
  EXPECT_EQ(Used(), 0);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM quota_use"), 0) << "a refusal writes nothing";
}

TEST_P(QuotaUseConformance, PrincipalsDaysAndQuotasAreCountedApart) {
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(10), 10)));
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(10, "bob"), 10)));
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(10, "ana", kSomeDay + 1), 10)));
  DailyUse other = UseOf(10);
  other.quota = "others";
  EXPECT_TRUE(Must(ledger_->UseQuota(other, 10)));
  EXPECT_EQ(Used(), 10);
}

TEST_P(QuotaUseConformance, WhatIsReturnedCanBeUsedAgainAndIsNeverMoreThanWasUsed) {
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(8), 10)));
  EXPECT_TRUE(ledger_->ReturnQuota(UseOf(3)).ok());
  EXPECT_EQ(Used(), 5);
  EXPECT_TRUE(ledger_->ReturnQuota(UseOf(100)).ok());
  EXPECT_EQ(Used(), 0);
  EXPECT_TRUE(ledger_->ReturnQuota(UseOf(1, "nobody")).ok());
  EXPECT_FALSE(Must(ledger_->UseQuota(UseOf(11), 10)));
}

TEST_P(QuotaUseConformance, ServersCountTogetherAndARestartForgetsNothing) {
  const std::unique_ptr<Ledger> other = Open();
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(6), 10)));
  EXPECT_FALSE(Must(other->UseQuota(UseOf(5), 10)));
  EXPECT_TRUE(Must(other->UseQuota(UseOf(4), 10)));
  ledger_ = nullptr;
  ledger_ = Open();
  EXPECT_EQ(Used(), 10);
}

TEST_P(QuotaUseConformance, ConcurrentUsesNeverExceedTheMost) {
  constexpr int kServers = 4;
  constexpr int kUses = 25;
  std::atomic<int> added = 0;
  std::vector<std::unique_ptr<Ledger>> servers;
  for (int i = 0; i < kServers; ++i) servers.push_back(Open());
  {
    std::vector<std::jthread> threads;
    for (const std::unique_ptr<Ledger>& server : servers) {
      threads.emplace_back([&] {
        for (int i = 0; i < kUses; ++i) added += Must(server->UseQuota(UseOf(1), 60)) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(added, 60);
  EXPECT_EQ(Used(), 60);
}

TEST_P(QuotaUseConformance, OldDaysAreForgottenAtMostAThousandSumsAtATime) {
  for (int i = 0; i < 1001; ++i)
    ASSERT_TRUE(Must(ledger_->UseQuota(UseOf(1, absl::StrCat("p", i), kSomeDay - 2), 10)));
  EXPECT_TRUE(Must(ledger_->UseQuota(UseOf(7, "ana", kSomeDay - 1), 10)));
  EXPECT_EQ(Must(ledger_->SweepQuotaUse(kSomeDay - 1)), 1000);
  EXPECT_EQ(Must(ledger_->SweepQuotaUse(kSomeDay - 1)), 1);
  EXPECT_EQ(Must(ledger_->SweepQuotaUse(kSomeDay - 1)), 0);
  EXPECT_EQ(Used("ana", kSomeDay - 1), 7);
}

TEST_P(QuotaUseConformance, AUseThatIsNoneIsRefused) {
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->UseQuota(UseOf(-1), 10).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->ReturnQuota(UseOf(-1)));
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->UseQuota(UseOf(1, ""), 10).status());
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, QuotaUseConformance, ::testing::ValuesIn(LedgerBackendNames()));

}  // namespace
}  // namespace curator::ledger
