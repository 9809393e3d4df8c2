// Delays and duplicates: one server held up at every single step of what it does, while another one serves
// the same ledger, or the very same requests.
#include <atomic>
#include <thread>
#include <utility>

#include "gmock/gmock.h"
#include "ledger/conformance/fault_conformance.h"

namespace curator::ledger {
namespace {

class PauseMatrix : public FaultConformance {
 protected:
  // Another server at work in a thread of its own.
  class Bystander {
   public:
    explicit Bystander(Fragile server) : server_(std::move(server)) {}
    ~Bystander() { Join().IgnoreError(); }
    Ledger& ledger() { return *server_.ledger; }

    // Does `work`; returns when it is done, or when it has come to the store and may have to wait there for
    // the one who is held up.
    void Start(FaultyDatabase::Moment moment, std::function<absl::Status(Ledger&)> work) {
      const int64_t before = server_.store->writes();
      is_done_ = false;
      thread_ = std::thread([this, work = std::move(work)] {
        status_ = work(*server_.ledger);
        is_done_ = true;
      });
      const bool may_wait_for_it = moment != FaultyDatabase::Moment::kInWrite;
      while (!is_done_ && (may_wait_for_it || server_.store->writes() == before)) std::this_thread::yield();
    }
    absl::Status Join() {
      if (thread_.joinable()) thread_.join();
      return std::exchange(status_, absl::OkStatus());
    }

   private:
    Fragile server_;
    std::thread thread_;
    std::atomic<bool> is_done_ = true;
    absl::Status status_;
  };
};

TEST_P(PauseMatrix, AServerDelayedAtAnyStepAndAnotherOneBothFinish) {
  for (const Script script : kScripts) {
    const Fragile delayed = OpenFragile();
    Bystander other(OpenFragile());
    int run = 0;
    for (bool has_struck = true; has_struck; run += 2) {
      delayed.store->ArmPause(StepOf(run / 2), [&](FaultyDatabase::Moment moment) {
        other.Start(moment, [&](Ledger& ledger) { return Run(script, ledger, run + 1); });
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
    const Fragile delayed = OpenFragile();
    Bystander other(OpenFragile());
    int run = 0;
    for (bool has_struck = true; has_struck; ++run) {
      delayed.store->ArmPause(StepOf(run), [&](FaultyDatabase::Moment moment) {
        other.Start(moment, [&](Ledger& ledger) { return Run(script, ledger, run); });
      });
      // Whoever is overtaken is told so, and finds the outcome when it asks again.
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
