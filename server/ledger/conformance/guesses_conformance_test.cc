// Charges by guess (sql/head_cache.h), which reach the store in one call with their commit, struck at every
// step: lost, refused, killed, held up beside another server, or asked for on another one meanwhile.
#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/bystander.h"
#include "ledger/conformance/fault_conformance.h"
#include "ledger/conformance/invariants.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

class GuessMatrix : public FaultConformance {
 protected:
  // Before its last steps, after them and before the commit, and when they are committed.
  static constexpr int64_t kFewestSteps = 3;

  void ExpectCharged(Ledger& ledger, int64_t charges) {
    EXPECT_EQ(BalanceOf(ledger, dataset()).spent, charges);
    EXPECT_THAT(ViolationsIn(ledger, *OpenStore()), ElementsAre());
  }
};

TEST_P(GuessMatrix, AGuessThatIsLostAtAnyStepChargesOnce) {
  int charges = 0;
  for (const Fault fault : {Fault::kConflict, Fault::kLost}) {
    const FragileLedger fragile = OpenFragile();
    int step = 0;
    for (bool has_struck = true; has_struck; ++step) {
      charges = ChargeUntilGuessed(fragile, "charge", charges);
      fragile.store->Arm(fault, step);
      const absl::StatusOr<Attempt> attempt = fragile.ledger->Begin(Request(++charges, "charge", 1));
      ASSERT_TRUE(attempt.ok()) << "step " << step << ": " << attempt.status();
      EXPECT_TRUE(attempt->newly_charged) << "step " << step;
      has_struck = fragile.store->has_struck();
    }
    fragile.store->Disarm();
    EXPECT_GE(fragile.store->struck_guesses(), kFewestSteps);
    ExpectCharged(*fragile.ledger, charges);
  }
}

TEST_P(GuessMatrix, AGuessThatTheStoreRefusesAtAnyStepChargesNothingAndTheRetryChargesOnce) {
  const FragileLedger fragile = OpenFragile();
  int charges = 0;
  int step = 0;
  for (bool has_struck = true; has_struck; ++step) {
    charges = ChargeUntilGuessed(fragile, "charge", charges);
    fragile.store->Arm(Fault::kFail, step);
    const ChargeRequest request = Request(++charges, "charge", 1);
    const absl::StatusOr<Attempt> attempt = fragile.ledger->Begin(request);
    has_struck = fragile.store->has_struck();
    if (attempt.ok()) continue;
    EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, attempt.status());
    EXPECT_EQ(BalanceOf(*fragile.ledger, dataset()).spent, charges - 1) << "step " << step;
    EXPECT_TRUE(Must(fragile.ledger->Begin(request)).newly_charged) << "step " << step;
  }
  fragile.store->Disarm();
  EXPECT_GE(fragile.store->struck_guesses(), kFewestSteps);
  ExpectCharged(*fragile.ledger, charges);
}

TEST_P(GuessMatrix, AProcessKilledAtAnyStepOfAGuessHasChargedWhatItAcknowledged) {
  int64_t charged = 0;
  int step = 0;
  for (bool was_killed = true; was_killed; ++step) {
    const std::string name = absl::StrCat("killed at ", step);
    const Killed killed =
        RunInProcess([&](const FragileLedger& fragile, const Report& report) -> absl::Status {
          const int charges = ChargeUntilGuessed(fragile, name, 0);
          for (int i = 0; i < charges; ++i) report('w');
          fragile.store->Arm(Fault::kKill, step);
          if (fragile.ledger->Begin(Request(0, name, 1)).ok()) report('b');
          return absl::OkStatus();
        });
    was_killed = killed.was_killed;
    auto survivor = Open();
    EXPECT_THAT(ViolationsIn(*survivor, *OpenStore()), ElementsAre()) << "killed at step " << step;
    const bool was_reported = killed.reported.back() == 'b';
    EXPECT_NE(was_reported, was_killed);
    const Attempt attempt = Must(survivor->Begin(Request(0, name, 1)));
    EXPECT_FALSE(was_reported && attempt.newly_charged);
    charged += static_cast<int64_t>(killed.reported.size()) + (was_reported ? 0 : 1);
    EXPECT_EQ(BalanceOf(*survivor, dataset()).spent, charged) << "killed at step " << step;
  }
  EXPECT_GT(step, kFewestSteps);
}

TEST_P(GuessMatrix, AGuessThatIsOvertakenAtAnyStepIsDecidedAgain) {
  const FragileLedger delayed = OpenFragile();
  Bystander other(OpenFragile());
  int charges = 0;
  int others = 0;
  for (bool has_struck = true; has_struck;) {
    charges = ChargeUntilGuessed(delayed, "delayed", charges);
    const int step = others;
    delayed.store->ArmPause(step, [&](FaultyDatabase::Moment moment) {
      other.Start(Bystander::Beside(moment), [&, request = Request(++others, "other", 1)](Ledger& ledger) {
        return ledger.Begin(request).status();
      });
    });
    EXPECT_TRUE(Must(delayed.ledger->Begin(Request(++charges, "delayed", 1))).newly_charged);
    const absl::Status overtaking = other.Join();
    EXPECT_TRUE(overtaking.ok()) << "step " << step << ": " << overtaking;
    has_struck = delayed.store->has_struck();
  }
  delayed.store->Disarm();
  EXPECT_GE(delayed.store->struck_guesses(), kFewestSteps);
  ExpectCharged(*delayed.ledger, charges + others);
}

TEST_P(GuessMatrix, AChargeThatIsAskedForTwiceAtAnyStepOfAGuessIsMadeOnce) {
  const FragileLedger delayed = OpenFragile();
  Bystander other(OpenFragile());
  int charges = 0;
  int step = 0;
  for (bool has_struck = true; has_struck; ++step) {
    charges = ChargeUntilGuessed(delayed, "charge", charges);
    const ChargeRequest request = Request(++charges, "charge", 1);
    int newly_charged = 0;
    delayed.store->ArmPause(step, [&](FaultyDatabase::Moment moment) {
      other.Start(Bystander::Beside(moment), [&](Ledger& ledger) {
        const absl::StatusOr<Attempt> attempt = ledger.Begin(request);
        if (attempt.ok() && attempt->newly_charged) ++newly_charged;
        return attempt.status();
      });
    });
    const Attempt attempt = Must(delayed.ledger->Begin(request));
    const absl::Status duplicate = other.Join();
    EXPECT_TRUE(duplicate.ok()) << "step " << step << ": " << duplicate;
    EXPECT_EQ(newly_charged + (attempt.newly_charged ? 1 : 0), 1) << "step " << step;
    has_struck = delayed.store->has_struck();
  }
  delayed.store->Disarm();
  EXPECT_GE(delayed.store->struck_guesses(), kFewestSteps);
  ExpectCharged(*delayed.ledger, charges);
}

TEST_P(GuessMatrix, ARequestThatIsRepeatedInALoopLeavesTheGuessesOfOthersAlone) {
  constexpr int kRounds = 30;
  const FragileLedger fragile = OpenFragile();
  ChargeRequest stored = Request(0, "stored", 1);
  stored.principal = TestPrincipal("bob");
  ASSERT_TRUE(fragile.ledger->Store(Must(fragile.ledger->Begin(stored)), "answer", {}).ok());
  const int charges = ChargeUntilGuessed(fragile, "charge", 0);
  // The first repetition may cost one batch its guess.
  EXPECT_EQ(Must(fragile.ledger->Begin(stored)).release->payload, "answer");
  Must(fragile.ledger->Begin(Request(charges + 1, "charge", 1)));
  const int64_t before = fragile.store->guesses();
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_EQ(Must(fragile.ledger->Begin(stored)).release->payload, "answer");
    EXPECT_TRUE(Must(fragile.ledger->Begin(Request(charges + 2 + round, "charge", 1))).newly_charged);
  }
  EXPECT_EQ(fragile.store->guesses() - before, kRounds);
  ExpectCharged(*fragile.ledger, charges + kRounds + 2);
}

TEST_P(GuessMatrix, AGuessThatIsOvertakenLeavesTheGuessesOnOtherDatasetsAlone) {
  constexpr int kRounds = 4;
  const FragileLedger fragile = OpenFragile();
  Bystander other(OpenFragile());
  const Dataset quiet = MakeDataset(*fragile.ledger, "quiet", 1000);
  const int64_t account = FirstAccount(*fragile.ledger, quiet);
  Must(fragile.ledger->Begin(RequestOf(quiet, "quiet", account, 1)));
  int charges = 0;
  for (int round = 0; round < kRounds; ++round) {
    charges = ChargeUntilGuessed(fragile, "contended", charges);
    fragile.store->ArmPause(0, [&](FaultyDatabase::Moment moment) {
      other.Start(Bystander::Beside(moment), [&, request = Request(round, "other", 1)](Ledger& ledger) {
        return ledger.Begin(request).status();
      });
    });
    Must(fragile.ledger->Begin(Request(++charges, "contended", 1)));
    EXPECT_TRUE(other.Join().ok());
    fragile.store->Disarm();
    const int64_t before = fragile.store->guesses();
    Must(fragile.ledger->Begin(RequestOf(quiet, absl::StrCat("quiet ", round), account, 1)));
    EXPECT_EQ(fragile.store->guesses(), before + 1) << "round " << round;
  }
  EXPECT_THAT(ViolationsIn(*fragile.ledger, *OpenStore()), ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, GuessMatrix, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
