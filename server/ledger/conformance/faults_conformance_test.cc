// The crash matrix: the process killed, the transaction lost, the connection broken and the store failing at
// every single step of a script that takes a charge through every state.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr int64_t kHour = int64_t{3600} * 1'000'000;
constexpr int64_t kCostOfOneRun = 3 + 2 + 1;

class FaultConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    auto ledger = Open();
    dataset_ = MakeDataset(*ledger, "census", 1'000'000);
    account_ = FirstAccount(*ledger, dataset_);
  }

  // A ledger whose store can be made to fail. Owned together.
  struct Fragile {
    FaultyDatabase* store = nullptr;
    std::unique_ptr<sql::SqlLedger> ledger;
  };
  Fragile OpenFragile() { return OpenFragile(NextSeed()); }
  Fragile OpenFragile(uint64_t seed) {
    auto store = std::make_unique<FaultyDatabase>(OpenStore());
    Fragile fragile;
    fragile.store = store.get();
    fragile.ledger = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(seed)));
    return fragile;
  }

  // The steps are those of the ledger, the same on every store: where a process, a connection and a commit
  // cost more, every third of them is struck.
  int StepOf(int run) const { return GetParam() == "sqlite" ? run : 3 * run; }

  using Acknowledge = std::function<void(char step)>;

  absl::Status ChargeAndStore(Ledger& ledger, int run, const Acknowledge& acknowledge) const {
    ASSIGN_OR_RETURN(const Attempt attempt, ledger.Begin(Request(run, "stored", 3)));
    acknowledge('b');
    if (attempt.release) return absl::OkStatus();
    // The same key gives the same draw, whichever attempt makes it.
    ASSIGN_OR_RETURN(const Release release,
                     ledger.Store(attempt, absl::StrCat("drawn with ", attempt.sealed_key)));
    acknowledge('s');
    return release.payload == DrawOf(run) ? absl::OkStatus() : absl::InternalError("another draw");
  }
  absl::Status ChargeAndForfeit(Ledger& ledger, int run, const Acknowledge& acknowledge) const {
    const ChargeRequest request = Request(run, "forfeited", 2);
    const absl::StatusOr<Attempt> attempt = ledger.Begin(request);
    if (absl::IsFailedPrecondition(attempt.status())) {
      ASSIGN_OR_RETURN(const Charge charge, ledger.FindCharge(request.principal, request.request_id));
      return charge.state == ChargeState::kForfeited ? absl::OkStatus() : attempt.status();
    }
    RETURN_IF_ERROR(attempt.status());
    RETURN_IF_ERROR(ledger.Forfeit(*attempt, "cancelled"));
    acknowledge('f');
    return absl::OkStatus();
  }
  absl::Status ReserveStartAndCommit(Ledger& ledger, int run, const Acknowledge& acknowledge) const {
    ASSIGN_OR_RETURN(const std::vector<Charge> reserved,
                     ledger.Reserve({Request(run, "reserved", 4)}, kHour));
    acknowledge('r');
    if (reserved.at(0).state == ChargeState::kCommitted) return absl::OkStatus();
    RETURN_IF_ERROR(ledger.StartReserved(reserved[0].id, {{account_, "rho", 1}}, "ana").status());
    acknowledge('t');
    RETURN_IF_ERROR(ledger.CommitReserved(reserved[0].id, "ana").status());
    acknowledge('c');
    return absl::OkStatus();
  }
  // May be run again and again: it costs kCostOfOneRun in all.
  absl::Status RunScript(
      Ledger& ledger, int run, const Acknowledge& acknowledge = [](char) {}) const {
    RETURN_IF_ERROR(ChargeAndStore(ledger, run, acknowledge));
    RETURN_IF_ERROR(ChargeAndForfeit(ledger, run, acknowledge));
    return ReserveStartAndCommit(ledger, run, acknowledge);
  }

  ChargeRequest Request(int run, const std::string& name, int64_t cost) const {
    return RequestOf(dataset_, absl::StrCat(name, " in run ", run), account_, cost);
  }
  std::string DrawOf(int run) const {
    return absl::StrCat("drawn with ", Request(run, "stored", 3).sealed_key);
  }

  void ExpectSound(Ledger& ledger, int runs_done) {
    EXPECT_THAT(Must(ledger.Verify(dataset_.id)).findings, ElementsAre());
    const CounterBalance balance = BalanceOf(ledger, dataset_);
    EXPECT_EQ(balance.spent, runs_done * kCostOfOneRun);
    EXPECT_EQ(balance.held, 0);
    EXPECT_EQ(AskStore("SELECT COUNT(*) FROM releases"), runs_done);
  }

  // What was told to the client before the process died is still true.
  void ExpectKept(Ledger& ledger, int run, const std::string& acknowledged) {
    const auto state_of = [&](const std::string& name) {
      const ChargeRequest request = Request(run, name, 0);
      return Must(ledger.FindCharge(request.principal, request.request_id)).state;
    };
    for (const char step : acknowledged) {
      switch (step) {
        case 'b':
          EXPECT_THAT((std::vector{ChargeState::kStarted, ChargeState::kCommitted}),
                      Contains(state_of("stored")));
          break;
        case 's':
          EXPECT_EQ(Must(ledger.Begin(Request(run, "stored", 3))).release->payload, DrawOf(run));
          break;
        case 'f':
          EXPECT_EQ(state_of("forfeited"), ChargeState::kForfeited);
          break;
        case 'r':
          state_of("reserved");
          break;
        case 't':
          EXPECT_NE(state_of("reserved"), ChargeState::kReserved);
          break;
        case 'c':
          EXPECT_EQ(state_of("reserved"), ChargeState::kCommitted);
          break;
        default:
          ADD_FAILURE() << "unknown step " << step;
      }
    }
  }

  struct Killed {
    bool was_killed = false;
    std::string acknowledged;
  };
  // Runs the script in a process of its own that is killed at `step`.
  Killed RunUntilKilled(int run, int step) {
    int ends[2];
    const uint64_t seed = NextSeed();  // before the fork, so that nobody draws the same ids again
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      const Fragile fragile = OpenFragile(seed);
      fragile.store->Arm(Fault::kKill, step);
      const absl::Status status = RunScript(*fragile.ledger, run, [&](char acknowledged) {
        if (write(ends[1], &acknowledged, 1) != 1) _exit(2);
      });
      _exit(status.ok() ? 0 : 1);
    }
    close(ends[1]);
    Killed result;
    char acknowledged = 0;
    while (read(ends[0], &acknowledged, 1) == 1) result.acknowledged.push_back(acknowledged);
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    result.was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    EXPECT_TRUE(result.was_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return result;
  }

  Dataset dataset_;
  int64_t account_ = 0;
};

TEST_P(FaultConformance, AProcessKilledAtAnyStepLosesNothingThatWasAcknowledgedAndMintsNothing) {
  int run = 0;
  for (bool was_killed = true; was_killed; ++run) {
    const Killed killed = RunUntilKilled(run, StepOf(run));
    was_killed = killed.was_killed;
    auto survivor = Open();
    EXPECT_THAT(Must(survivor->Verify(dataset_.id)).findings, ElementsAre())
        << "killed at step " << StepOf(run);
    ExpectKept(*survivor, run, killed.acknowledged);
    const absl::Status finished = RunScript(*survivor, run);
    ASSERT_TRUE(finished.ok()) << "killed at step " << StepOf(run) << ": " << finished;
    ExpectSound(*survivor, run + 1);
    if (HasFailure()) return;
  }
  EXPECT_GT(StepOf(run), 40) << "the script has more steps than that";
}

TEST_P(FaultConformance, ATransactionLostAtAnyStepIsRunAgain) {
  const Fragile fragile = OpenFragile();
  int run = 0;
  for (bool has_struck = true; has_struck; ++run) {
    fragile.store->Arm(Fault::kConflict, StepOf(run));
    const absl::Status status = RunScript(*fragile.ledger, run);
    EXPECT_TRUE(status.ok()) << "step " << StepOf(run) << ": " << status;
    has_struck = fragile.store->has_struck();
  }
  ExpectSound(*fragile.ledger, run);
}

TEST_P(FaultConformance, AConnectionLostAtAnyStepChargesOnceWhetherItWasCommittedOrNot) {
  const Fragile fragile = OpenFragile();
  int run = 0;
  for (bool has_struck = true; has_struck; ++run) {
    fragile.store->Arm(Fault::kLost, StepOf(run));
    const absl::Status status = RunScript(*fragile.ledger, run);
    EXPECT_TRUE(status.ok()) << "step " << StepOf(run) << ": " << status;
    has_struck = fragile.store->has_struck();
  }
  ExpectSound(*fragile.ledger, run);
}

TEST_P(FaultConformance, AStoreThatFailsAtAnyStepAnswersUnavailableAndTheRetryFinishes) {
  const Fragile fragile = OpenFragile();
  int run = 0;
  int refusals = 0;
  for (bool has_struck = true; has_struck; ++run) {
    fragile.store->Arm(Fault::kFail, StepOf(run));
    const absl::Status status = RunScript(*fragile.ledger, run);
    has_struck = fragile.store->has_struck();
    if (!status.ok()) {
      ++refusals;
      EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, status);
      const absl::Status retried = RunScript(*fragile.ledger, run);
      EXPECT_TRUE(retried.ok()) << "step " << StepOf(run) << ": " << retried;
    }
  }
  EXPECT_GT(StepOf(refusals), 30);
  ExpectSound(*fragile.ledger, run);
}

TEST_P(FaultConformance, AnAnchorThatCannotBeWrittenHoldsTheAnswerBackAndTheRetryFinishes) {
  auto ledger = Open();
  const std::string hidden = absl::StrCat(anchor_dir(), ".hidden");
  ASSERT_EQ(rename(anchor_dir().c_str(), hidden.c_str()), 0);
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->Begin(Request(0, "stored", 3)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->Health());
  ASSERT_EQ(rename(hidden.c_str(), anchor_dir().c_str()), 0);
  const absl::Status finished = RunScript(*ledger, 0);
  EXPECT_TRUE(finished.ok()) << finished;
  ExpectSound(*ledger, 1);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, FaultConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
