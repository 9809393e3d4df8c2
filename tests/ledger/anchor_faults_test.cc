// The anchor on a disk that fails, is full, or loses its power, and a process that is killed, at every single
// write, sync and rename of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "ledger/anchor/anchor_directory.h"
#include "ledger/conformance/fault_conformance.h"
#include "ledger/conformance/invariants.h"
#include "tests/ledger/failing_folder.h"
#include "tests/testing/nightly.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

using AnchorFaults = FaultConformance;

TEST_P(AnchorFaults, AnAnchorThatFailsHoldsTheAnswerBackAndTheRetryFinishes) {
  auto ledger = Open();
  FailingFolder folder(anchor_dir());
  int run = 0;
  for (const int error_number : {ENOSPC, EIO}) {
    int operation = 0;
    int refusals = 0;
    for (bool has_struck = true; has_struck; ++operation, ++run) {
      folder.Arm(FailingFolder::Fault::kError, operation, error_number);
      const absl::Status status = Run(Script::kAnalyst, *ledger, run);
      has_struck = folder.has_struck();
      if (status.ok()) continue;
      ++refusals;
      EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, status);
      const absl::Status retried = Run(Script::kAnalyst, *ledger, run);
      EXPECT_TRUE(retried.ok()) << "operation " << operation << ": " << retried;
    }
    folder.Disarm();
    EXPECT_GT(operation, 6) << "the script's anchors are more operations than that";
    EXPECT_EQ(refusals, operation - 1) << "whatever was not anchored was not answered";
  }
  ExpectDone(Script::kAnalyst, *ledger, run);
}

TEST_P(AnchorFaults, AProcessKilledWhileItAnchorsLosesNothingAndLeavesAnAnchorThatIsRead) {
  int run = 0;
  for (bool was_killed = true; was_killed; ++run) {
    const uint64_t seed = NextSeed();
    const pid_t child = fork();
    if (child == 0) {
      const FragileLedger server = OpenFragile(seed);
      FailingFolder folder(anchor_dir());
      folder.Arm(FailingFolder::Fault::kKill, run, EIO);
      _exit(Run(Script::kAnalyst, *server.ledger, run).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    was_killed = WIFSIGNALED(status);
    EXPECT_TRUE(was_killed || WEXITSTATUS(status) == 0);
    auto survivor = Open();
    EXPECT_THAT(ViolationsIn(*OpenStore()), ElementsAre()) << "killed at operation " << run;
    const absl::Status finished = Run(Script::kAnalyst, *survivor, run);
    ASSERT_TRUE(finished.ok()) << "killed at operation " << run << ": " << finished;
  }
  EXPECT_GT(run, 6);
  ExpectDone(Script::kAnalyst, *Open(), run);
}

// A commits, and is gone before its anchor knows. What B answers to the retry rests on what A has spent.
TEST_P(AnchorFaults, WhatADeadServerSpentIsCoveredByTheOneThatResumesItsCharge) {
  RenewLedger();
  const Dataset census = MakeDataset(*Open(), "census", 10);
  const std::string backup = CopyDatabase();
  {
    auto dying = Open();
    auto survivor = Open();
    const int64_t account = FirstAccount(*survivor, census);
    const ChargeRequest request = RequestOf(census, "lost", account, 3);
    {
      FailingFolder folder(anchor_dir());
      folder.Arm(FailingFolder::Fault::kError, 0, EIO);
      EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, dying->Begin(request).status());
      dying.reset();
    }
    EXPECT_FALSE(Must(survivor->Begin(request)).newly_charged);
    const AnchorState anchored = Must(AnchorDirectory::ReadOnly(anchor_dir(), survivor->LedgerId()));
    EXPECT_EQ(StateView(anchored).SpentOf({account, "rho"}), 3);
  }
  auto restored = Must(TryOpenCopy(backup));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, restored->DatasetHealth(census.id));
  Must(restored->RaiseToAnchor({.dataset_id = census.id,
                                .reason = "the disk failed",
                                .actor = TestPrincipal("petra"),
                                .proposed_by = "olga",
                                .receipts = {}}));
  EXPECT_EQ(BalanceOf(*restored, census).spent, 3);
}

class AnchorPowerLoss : public LedgerConformance {
 protected:
  // Charges under an anchor that loses its power at `operation`, and presents to what is left of the anchor a
  // backup of the database from before the charge. What the backup's ledger answers to the next charge, or
  // "not acknowledged".
  absl::Status ChargeAndRestoreBackup(int operation, uint64_t seed,
                                      const std::function<void(FailingFolder&)>& prepare) {
    RenewLedger();
    const Dataset dataset = MakeDataset(*Open(), "census", 1000);
    const std::string backup = CopyDatabase();
    bool is_acknowledged = false;
    {
      auto ledger = Open();
      const int64_t account = FirstAccount(*ledger, dataset);
      FailingFolder folder(anchor_dir());
      prepare(folder);
      folder.Arm(FailingFolder::Fault::kPowerLoss, operation, EIO);
      for (int charge = 0;
           ledger->Begin(RequestOf(dataset, absl::StrCat("charge ", charge), account, 1)).ok(); ++charge) {
        is_acknowledged = true;
      }
      ledger.reset();
      folder.RestorePower(seed);
    }
    if (!is_acknowledged) return absl::CancelledError("not acknowledged");
    auto restored = TryOpenCopy(backup);
    if (!restored.ok()) return restored.status();
    return (*restored)->Begin(RequestOf(dataset, "next", FirstAccount(**restored, dataset), 1)).status();
  }
};

TEST_P(AnchorPowerLoss, WhatWasAcknowledgedIsCoveredByWhatIsLeftOfTheAnchor) {
  const uint64_t losses = nightly::Cases(60);
  int acknowledged = 0;
  for (uint64_t loss = 0; loss < losses; ++loss) {
    const absl::Status answer =
        ChargeAndRestoreBackup(static_cast<int>(loss % 12), nightly::Seed(loss), [](FailingFolder&) {});
    if (absl::IsCancelled(answer)) continue;
    ++acknowledged;
    ASSERT_TRUE(absl::IsDataLoss(answer)) << "loss " << loss << ": " << answer;
  }
  EXPECT_GT(acknowledged, 10);
}

TEST_P(AnchorPowerLoss, TheCanaryThatOnlyPretendsToSyncTheAnchorIsCaught) {
  int accepted = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const absl::Status answer =
        ChargeAndRestoreBackup(8, seed, [](FailingFolder& folder) { folder.PretendToSync(); });
    if (answer.ok()) ++accepted;
  }
  EXPECT_GT(accepted, 0) << "a backup was never taken for the ledger";
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, AnchorFaults, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });
INSTANTIATE_TEST_SUITE_P(OnSqlite, AnchorPowerLoss, ::testing::Values("sqlite"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
