// A ledger on a disk that loses its power, is full, or fails, at every single write and sync.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "tests/ledger/forgetful_disk.h"
#include "tests/testing/nightly.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class PowerLoss : public LedgerConformance {
 protected:
  // Charges and stores for request number `charge`, and remembers what was acknowledged.
  absl::Status Charge(Ledger& ledger, int64_t charge) {
    const ChargeRequest request = RequestOf(dataset_, absl::StrCat("charge ", charge), account_, 2);
    ASSIGN_OR_RETURN(const Attempt attempt, ledger.Begin(request));
    reported_.push_back({request.principal.name(), request.request_id, ChargeState::kStarted, ""});
    ASSIGN_OR_RETURN(const Release release,
                     attempt.release ? *attempt.release : ledger.Store(attempt, attempt.sealed_key));
    reported_.push_back(
        {request.principal.name(), request.request_id, ChargeState::kCommitted, release.payload});
    return absl::OkStatus();
  }
  void MakeLedger() {
    auto ledger = Open();
    dataset_ = MakeDataset(*ledger, "census", 1'000'000);
    account_ = FirstAccount(*ledger, dataset_);
    reported_.clear();
  }
  // Charges until the power goes at the `operation`-th operation, and lets it come back.
  void LosePower(ForgetfulDisk& disk, int64_t operation, uint64_t seed) {
    disk.LosePowerAt(operation);
    {
      const auto ledger = TryOpen();
      while (ledger.ok() && Charge(**ledger, ++charges_).ok()) {
      }
      EXPECT_TRUE(disk.has_failed());
    }
    disk.RestorePower(seed);
  }

  Dataset dataset_;
  int64_t account_ = 0;
  int64_t charges_ = 0;
  std::vector<Acknowledged> reported_;
};

TEST_P(PowerLoss, WhatWasAcknowledgedIsThereAfterTheLossOfEverythingThatWasNotSynced) {
  ForgetfulDisk disk;
  const uint64_t losses = nightly::Cases(150);
  constexpr uint64_t kLossesOfOneLedger = 30;
  for (uint64_t loss = 0; loss < losses; ++loss) {
    if (loss % kLossesOfOneLedger == 0) {
      if (loss > 0) RenewLedger();
      MakeLedger();
    }
    const uint64_t seed = nightly::Seed(2'000'000 + loss);
    // Mostly in the first charges, and sometimes as late as a checkpoint of the log.
    const uint64_t most = loss % 10 == 0 ? 3000 : 100;
    LosePower(disk, static_cast<int64_t>(seed * 7919 % most), seed);
    ASSERT_THAT(ViolationsIn(*Open(), *OpenStore(), reported_), ElementsAre()) << "seed " << seed;
  }
  EXPECT_GT(reported_.size(), 10U);
}

TEST_P(PowerLoss, APowerLossDuringTheFirstStartLeavesALedgerThatStarts) {
  ForgetfulDisk disk;
  int64_t operation = 0;
  for (bool has_failed = true; has_failed; ++operation) {
    RenewLedger();
    disk.LosePowerAt(operation);
    TryOpen().IgnoreError();
    has_failed = disk.has_failed();
    disk.RestorePower(nightly::Seed(static_cast<uint64_t>(operation)));
    MakeLedger();
    ASSERT_TRUE(Charge(*Open(), ++charges_).ok());
    ASSERT_THAT(ViolationsIn(*Open(), *OpenStore(), reported_), ElementsAre()) << "operation " << operation;
  }
  EXPECT_GT(operation, 10);
}

TEST_P(PowerLoss, TheCanaryThatOnlyPretendsToSyncLosesChargesWhichTheCheckAndTheAnchorNotice) {
  ForgetfulDisk disk;
  std::vector<std::string> lost;
  for (uint64_t seed = 0; seed < 100 && lost.empty(); ++seed) {
    RenewLedger();
    MakeLedger();
    disk.PretendToSync();
    LosePower(disk, 60, seed);
    disk.SyncAgain();
    lost = ViolationsIn(*OpenStore(), reported_);
  }
  EXPECT_THAT(lost, Contains(StartsWith("lost: ")));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, Charge(*Open(), ++charges_));
}

TEST_P(PowerLoss, ADiskThatIsFullOrFailsChargesNothingThatIsNotThereAndTheRetryChargesOnce) {
  ForgetfulDisk disk;
  MakeLedger();
  const auto ledger = Open();
  struct Failure {
    int code;
    int64_t times;
  };
  for (const Failure& failure : {Failure{SQLITE_FULL, 1'000'000}, Failure{SQLITE_FULL, 1},
                                 Failure{SQLITE_IOERR_WRITE, 1}, Failure{SQLITE_IOERR_FSYNC, 2}}) {
    int refusals = 0;
    int64_t operation = 0;
    for (bool has_failed = true; has_failed; ++operation) {
      disk.FailAt(operation, failure.times, failure.code);
      const absl::Status status = Charge(*ledger, ++charges_);
      has_failed = disk.has_failed();
      disk.Repair();
      if (status.ok()) continue;
      ++refusals;
      EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, status);
      const absl::Status retried = Charge(*ledger, charges_);
      EXPECT_TRUE(retried.ok()) << "operation " << operation << ": " << retried;
    }
    EXPECT_GT(operation, 10) << "a charge and its release are more operations than that";
    if (failure.code == SQLITE_FULL) {
      EXPECT_GT(refusals, 10);
    }
  }
  EXPECT_EQ(BalanceOf(*ledger, dataset_).spent, 2 * charges_);
  EXPECT_THAT(ViolationsIn(*ledger, *OpenStore(), reported_), ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(OnSqlite, PowerLoss, ::testing::Values("sqlite"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
