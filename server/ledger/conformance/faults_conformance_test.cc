// The crash matrix: the process killed, the transaction lost, the connection broken and the store failing at
// every single step of scripts that make every call which changes a ledger.
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "ledger/conformance/fault_conformance.h"
#include "ledger/conformance/invariants.h"
#include "ledger/sql/migrations.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

class CrashMatrix : public FaultConformance {
 protected:
  // Does `work` in a process of its own that is killed at `step`.
  using Work = std::function<absl::Status(Ledger& ledger, const Report& report)>;
  Killed RunUntilKilled(int step, const Work& work) {
    return RunInProcess([&](const FragileLedger& fragile, const Report& report) {
      fragile.store->Arm(Fault::kKill, step);
      return work(*fragile.ledger, report);
    });
  }

  // The steps of a script whose dataset is cached, each of which is struck. PostgreSQL gets the statements of
  // one message in one step; a message can be lost before it and after it.
  int StepsOf(Script script) const {
    const bool is_analyst = script == Script::kAnalyst;
    return GetParam() == "sqlite" ? (is_analyst ? 59 : 202) : (is_analyst ? 38 : 244);
  }

  // Strikes every step of the script with `fault`, which the ledger is to get over by itself.
  void ExpectEveryStepSurvives(Script script, Fault fault) {
    const FragileLedger fragile = OpenFragile();
    int run = 0;
    for (bool has_struck = true; has_struck; ++run) {
      fragile.store->Arm(fault, StepOf(run));
      const absl::Status status = Run(script, *fragile.ledger, run);
      EXPECT_TRUE(status.ok()) << "step " << StepOf(run) << ": " << status;
      has_struck = fragile.store->has_struck();
    }
    EXPECT_EQ(fragile.store->steps(), StepsOf(script)) << "of the last run, which was not struck";
    fragile.store->Disarm();
    ExpectDone(script, *fragile.ledger, run);
  }
};

TEST_P(CrashMatrix, AProcessKilledAtAnyStepLosesNothingThatWasAcknowledgedAndMintsNothing) {
  for (const Script script : kScripts) {
    int run = 0;
    for (bool was_killed = true; was_killed; ++run) {
      const Killed killed = RunUntilKilled(StepOf(run), [&](Ledger& ledger, const Report& report) {
        return Run(script, ledger, run, report);
      });
      was_killed = killed.was_killed;
      auto survivor = Open();
      EXPECT_THAT(ViolationsIn(*OpenStore()), ElementsAre()) << "killed at step " << StepOf(run);
      ExpectKept(script, *survivor, run, killed.reported);
      const absl::Status finished = Run(script, *survivor, run);
      ASSERT_TRUE(finished.ok()) << "killed at step " << StepOf(run) << ": " << finished;
      if (HasFailure()) return;
    }
    EXPECT_GE(StepOf(run), StepsOf(script));
    ExpectDone(script, *Open(), run);
  }
}

TEST_P(CrashMatrix, ATransactionLostAtAnyStepIsRunAgain) {
  for (const Script script : kScripts) ExpectEveryStepSurvives(script, Fault::kConflict);
}

TEST_P(CrashMatrix, AConnectionLostAtAnyStepChargesOnceWhetherItWasCommittedOrNot) {
  for (const Script script : kScripts) ExpectEveryStepSurvives(script, Fault::kLost);
}

TEST_P(CrashMatrix, AStoreThatFailsAtAnyStepAnswersUnavailableAndTheRetryFinishes) {
  for (const Script script : kScripts) {
    const FragileLedger fragile = OpenFragile();
    int run = 0;
    int refusals = 0;
    for (bool has_struck = true; has_struck; ++run) {
      fragile.store->Arm(Fault::kFail, StepOf(run));
      const absl::Status status = Run(script, *fragile.ledger, run);
      has_struck = fragile.store->has_struck();
      if (status.ok()) continue;
      ++refusals;
      EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, status);
      const absl::Status retried = Run(script, *fragile.ledger, run);
      EXPECT_TRUE(retried.ok()) << "step " << StepOf(run) << ": " << retried;
    }
    fragile.store->Disarm();
    EXPECT_GT(3 * StepOf(refusals), 2 * StepsOf(script)) << "only after a commit nothing can be refused";
    ExpectDone(script, *fragile.ledger, run);
  }
}

// Charges together: two of them under one key.
TEST_P(CrashMatrix, ABatchOfChargesStruckAtAnyStepChargesEachOnce) {
  constexpr int kCharges = 6;
  for (const Fault fault : {Fault::kConflict, Fault::kLost}) {
    const FragileLedger fragile = OpenFragile();
    const int64_t before = BalanceOf(*fragile.ledger, dataset()).spent;
    int run = 0;
    for (bool has_struck = true; has_struck; ++run) {
      fragile.store->Arm(fault, StepOf(run));
      std::vector<std::thread> clients;
      for (int client = 0; client < kCharges + 1; ++client) {
        const std::string name =
            absl::StrCat("charge ", client % kCharges, " with ", static_cast<int>(fault));
        clients.emplace_back([&, request = Request(run, name, 1)] {
          const absl::Status status = fragile.ledger->Begin(request).status();
          EXPECT_TRUE(status.ok()) << "step " << StepOf(run) << ": " << status;
        });
      }
      for (std::thread& client : clients) client.join();
      has_struck = fragile.store->has_struck();
    }
    fragile.store->Disarm();
    EXPECT_GT(StepOf(run), 8) << "a batch has more steps than that";
    EXPECT_EQ(BalanceOf(*fragile.ledger, dataset()).spent, before + run * kCharges);
    EXPECT_THAT(ViolationsIn(*fragile.ledger, *OpenStore()), ElementsAre());
  }
}

// While one batch waits for its anchor the next one is in the store: killed there, none of both is known.
TEST_P(CrashMatrix, AProcessKilledWhileItChargesTogetherHasChargedWhatItAcknowledgedAndNothingTwice) {
  constexpr int kClients = 6;
  const int64_t before = BalanceOf(*Open(), dataset()).spent;
  const auto request = [&](int run, int client) {
    return Request(run, absl::StrCat("together ", client), 1);
  };
  int run = 0;
  for (bool was_killed = true; was_killed; ++run) {
    const Killed killed =
        RunUntilKilled(StepOf(run), [&](Ledger& ledger, const Report& report) -> absl::Status {
          std::vector<std::thread> clients;
          for (int client = 0; client < kClients; ++client) {
            clients.emplace_back([&, client] {
              if (ledger.Begin(request(run, client)).ok()) report(static_cast<char>('0' + client));
            });
          }
          for (std::thread& client : clients) client.join();
          return absl::OkStatus();
        });
    was_killed = killed.was_killed;
    auto survivor = Open();
    EXPECT_THAT(ViolationsIn(*survivor, *OpenStore()), ElementsAre()) << "killed at step " << StepOf(run);
    for (const char reported : killed.reported) {
      EXPECT_FALSE(Must(survivor->Begin(request(run, reported - '0'))).newly_charged)
          << "lost, killed at step " << StepOf(run);
    }
    for (int client = 0; client < kClients; ++client) Must(survivor->Begin(request(run, client)));
    EXPECT_EQ(BalanceOf(*survivor, dataset()).spent, before + (run + 1) * kClients)
        << "killed at step " << StepOf(run);
  }
  EXPECT_GT(StepOf(run), 8) << "several batches have more steps than that";
}

TEST_P(CrashMatrix, AProcessGoneAtAnyStepOfItsFirstStartLeavesALedgerThatStarts) {
  int run = 0;
  for (bool has_struck = true; has_struck; ++run) {
    RenewLedger();
    {
      auto store = std::make_unique<FaultyDatabase>(OpenStore());
      FaultyDatabase& faulty = *store;
      faulty.Arm(Fault::kGone, StepOf(run));
      const absl::Status migrated = sql::Migrate(faulty, sql::EmbeddedMigrations());
      has_struck = !migrated.ok();
      if (migrated.ok()) {
        const auto opened = sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed()));
        has_struck = !opened.ok();
      }
    }
    auto ledger = Open();
    const Dataset made = MakeDataset(*ledger, "census", 10);
    EXPECT_TRUE(ledger->Begin(RequestOf(made, "r1", FirstAccount(*ledger, made), 4)).ok())
        << "step " << StepOf(run);
    EXPECT_THAT(ViolationsIn(*ledger, *OpenStore()), ElementsAre()) << "step " << StepOf(run);
  }
  EXPECT_GT(StepOf(run), 6);
}

TEST_P(CrashMatrix, AnAnchorThatCannotBeWrittenHoldsTheAnswerBackAndTheRetryFinishes) {
  auto ledger = Open();
  const std::string hidden = absl::StrCat(anchor_dir(), ".hidden");
  ASSERT_EQ(rename(anchor_dir().c_str(), hidden.c_str()), 0);
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->Begin(Request(0, "stored", 3)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->Health());
  ASSERT_EQ(rename(hidden.c_str(), anchor_dir().c_str()), 0);
  const absl::Status finished = Run(Script::kAnalyst, *ledger, 0);
  EXPECT_TRUE(finished.ok()) << finished;
  ExpectDone(Script::kAnalyst, *ledger, 1);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, CrashMatrix, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
