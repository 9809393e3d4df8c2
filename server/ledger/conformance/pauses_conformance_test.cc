// Delays and duplicates: one server held up at every single step of what it does, while another one serves
// the same ledger, or the very same requests.
#include "gmock/gmock.h"
#include "ledger/conformance/bystander.h"
#include "ledger/conformance/fault_conformance.h"

namespace curator::ledger {
namespace {

class PauseMatrix : public FaultConformance {};

TEST_P(PauseMatrix, AServerDelayedAtAnyStepAndAnotherOneBothFinish) {
  for (const Script script : kScripts) {
    const FragileLedger delayed = OpenFragile();
    Bystander other(OpenFragile());
    int run = 0;
    for (bool has_struck = true; has_struck; run += 2) {
      delayed.store->ArmPause(StepOf(run / 2), [&](FaultyDatabase::Moment moment) {
        other.Start(Bystander::Beside(moment), [&](Ledger& ledger) { return Run(script, ledger, run + 1); });
      });
      const absl::Status status = Run(script, *delayed.ledger, run);
      EXPECT_TRUE(status.ok()) << "step " << StepOf(run / 2) << ": " << status;
      const absl::Status others = other.Join();
      EXPECT_TRUE(others.ok()) << "step " << StepOf(run / 2) << ": " << others;
      has_struck = delayed.store->has_struck();
    }
    delayed.store->Disarm();
    ExpectDone(script, *delayed.ledger, run - 1);
  }
}

TEST_P(PauseMatrix, RequestsDuplicatedOnAnotherServerAtAnyStepHappenOnce) {
  for (const Script script : kScripts) {
    const FragileLedger delayed = OpenFragile();
    Bystander other(OpenFragile());
    int run = 0;
    for (bool has_struck = true; has_struck; ++run) {
      delayed.store->ArmPause(StepOf(run), [&](FaultyDatabase::Moment moment) {
        other.Start(Bystander::Beside(moment), [&](Ledger& ledger) { return Run(script, ledger, run); });
      });
      // A request that is overtaken gets an error, and finds the outcome when it is repeated.
      for (const absl::Status& status : {Run(script, *delayed.ledger, run), other.Join()}) {
        if (!absl::IsAborted(status) && !absl::IsFailedPrecondition(status)) {
          EXPECT_TRUE(status.ok()) << "step " << StepOf(run) << ": " << status;
        }
      }
      has_struck = delayed.store->has_struck();
      for (Ledger* ledger : {static_cast<Ledger*>(delayed.ledger.get()), &other.ledger()}) {
        const absl::Status again = Run(script, *ledger, run);
        ASSERT_TRUE(again.ok()) << "step " << StepOf(run) << ": " << again;
      }
    }
    delayed.store->Disarm();
    ExpectDone(script, *delayed.ledger, run);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, PauseMatrix, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
