// A server killed between a charge and its release, and in a batch of changes of every kind.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/testing/names.h"
#include "ledger/conformance/fault_conformance.h"
#include "ledger/conformance/invariants.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kHour = int64_t{3600} * 1'000'000;

class MixedBatch : public FaultConformance {
 protected:
  // A change that may be repeated until it is made, under the letter that reports it.
  struct Change {
    char letter;
    std::function<absl::Status(Ledger&)> make;
  };

  absl::StatusOr<std::string> Reserve(Ledger& ledger, int run, const std::string& name, int64_t cost) const {
    ASSIGN_OR_RETURN(const std::vector<Charge> reserved, ledger.Reserve({Request(run, name, cost)}, kHour));
    return reserved.at(0).id;
  }
  absl::Status Start(Ledger& ledger, int run, const std::string& name, int64_t cost) const {
    ASSIGN_OR_RETURN(const std::string id, Reserve(ledger, run, name, 5));
    const std::vector<Posting> final_cost = {{FirstAccount(ledger, dataset()), "rho", cost}};
    const absl::Status started = ledger.StartReserved(id, final_cost, TestPrincipal("ana")).status();
    ASSIGN_OR_RETURN(const Charge charge, ledger.GetCharge(id));
    return charge.state == ChargeState::kReserved ? started : absl::OkStatus();
  }
  absl::Status Store(Ledger& ledger, int run) const {
    ASSIGN_OR_RETURN(const Attempt attempt, ledger.Begin(Request(run, "stored", 3)));
    if (attempt.release) return absl::OkStatus();
    return ledger.Store(attempt, attempt.sealed_key).status();
  }
  absl::Status Forfeit(Ledger& ledger, int run) const {
    const ChargeRequest request = Request(run, "forfeited", 2);
    const absl::StatusOr<Attempt> attempt = ledger.Begin(request);
    if (attempt.ok()) return ledger.Forfeit(*attempt, "no longer wanted");
    ASSIGN_OR_RETURN(const Charge charge, ledger.FindCharge(request.principal, request.request_id));
    return charge.state == ChargeState::kForfeited ? absl::OkStatus() : attempt.status();
  }

  // What a server does after another one was killed: each change of a run, from its beginning.
  std::vector<Change> FromTheirBeginning(int run) const {
    return {{'b', [=, this](Ledger& l) { return l.Begin(Request(run, "charged", 1)).status(); }},
            {'s', [=, this](Ledger& l) { return Store(l, run); }},
            {'f', [=, this](Ledger& l) { return Forfeit(l, run); }},
            {'r', [=, this](Ledger& l) { return Reserve(l, run, "reserved", 7).status(); }},
            {'t', [=, this](Ledger& l) { return Start(l, run, "started", 1); }},
            {'c',
             [=, this](Ledger& l) -> absl::Status {
               RETURN_IF_ERROR(Start(l, run, "committed", 2));
               ASSIGN_OR_RETURN(const std::string id, Reserve(l, run, "committed", 5));
               return l.CommitReserved(id, TestPrincipal("ana")).status();
             }},
            {'x', [=, this](Ledger& l) -> absl::Status {
               ASSIGN_OR_RETURN(const std::string id, Reserve(l, run, "cancelled", 6));
               return l.CancelReserved(id, "not needed", TestPrincipal("ana")).status();
             }}};
  }
  static constexpr int64_t kSpentByRun = 1 + 3 + 2 + 1 + 2;
  static constexpr int64_t kHeldByRun = 7;

  // The same with all that comes before the last step made already: one change of a charge each.
  std::vector<Change> LastSteps(Ledger& ledger, int run) const {
    const Attempt stored = Must(ledger.Begin(Request(run, "stored", 3)));
    const Attempt forfeited = Must(ledger.Begin(Request(run, "forfeited", 2)));
    const std::string started = Must(Reserve(ledger, run, "started", 5));
    const std::string committed = Must(Reserve(ledger, run, "committed", 5));
    const std::string cancelled = Must(Reserve(ledger, run, "cancelled", 6));
    EXPECT_TRUE(Start(ledger, run, "committed", 2).ok());
    const std::vector<Posting> final_cost = {{FirstAccount(ledger, dataset()), "rho", 1}};
    return {
        {'b', [=, this](Ledger& l) { return l.Begin(Request(run, "charged", 1)).status(); }},
        {'s', [=](Ledger& l) { return l.Store(stored, stored.sealed_key).status(); }},
        {'f', [=](Ledger& l) { return l.Forfeit(forfeited, "no longer wanted"); }},
        {'r', [=, this](Ledger& l) { return Reserve(l, run, "reserved", 7).status(); }},
        {'t', [=](Ledger& l) { return l.StartReserved(started, final_cost, TestPrincipal("ana")).status(); }},
        {'c', [=](Ledger& l) { return l.CommitReserved(committed, TestPrincipal("ana")).status(); }},
        {'x', [=](Ledger& l) {
           return l.CancelReserved(cancelled, "not needed", TestPrincipal("ana")).status();
         }}};
  }

  // Makes these changes in one batch, which is built while a charge before it is in the store. The process is
  // killed at this step of the two.
  absl::Status MakeTogether(const FragileLedger& fragile, int run, const std::vector<Change>& changes,
                            int killed_at, const Report& report) const {
    std::vector<std::thread> clients;
    int64_t writes_before = 0;
    fragile.store->ArmPause(0, [&](FaultyDatabase::Moment) {
      for (const Change& change : changes) {
        clients.emplace_back([&] {
          if (change.make(*fragile.ledger).ok()) report(change.letter);
        });
      }
      const auto all = static_cast<int64_t>(1 + changes.size());
      while (fragile.ledger->ChangesInProgress() < all) std::this_thread::yield();
      writes_before = fragile.store->writes();
      fragile.store->Arm(Fault::kKill, killed_at);
    });
    const absl::Status first = fragile.ledger->Begin(Request(run, "before", 1)).status();
    for (std::thread& client : clients) client.join();
    report(static_cast<char>('0' + fragile.store->writes() - writes_before));
    return first;
  }
};

TEST_P(MixedBatch, AProcessKilledBetweenAChargeAndItsReleaseDrawsTheSameAgainAndIsChargedOnce) {
  const Killed killed = RunInProcess([&](const FragileLedger& fragile, const Report& report) -> absl::Status {
    ASSIGN_OR_RETURN(const Attempt attempt, fragile.ledger->Begin(Request(0, "killed", 3)));
    for (const char letter : attempt.sealed_key) report(letter);
    fragile.store->Arm(Fault::kKill, 0);
    return fragile.ledger->Store(attempt, "an answer", {}).status();
  });
  EXPECT_TRUE(killed.was_killed);
  auto survivor = Open();
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM releases"), 0);
  EXPECT_EQ(BalanceOf(*survivor, dataset()).spent, 3);
  const Attempt again = Must(survivor->Begin(Request(0, "killed", 3)));
  EXPECT_FALSE(again.newly_charged);
  EXPECT_EQ(again.sealed_key, killed.reported);
  EXPECT_EQ(Must(survivor->Store(again, "an answer")).payload, "an answer");
  EXPECT_EQ(BalanceOf(*survivor, dataset()).spent, 3);
  EXPECT_THAT(ViolationsIn(*survivor, *OpenStore()), ElementsAre());
}

TEST_P(MixedBatch, AProcessKilledAtAnyStepOfOneHasMadeWhatItAcknowledgedAndNothingTwice) {
  int run = 0;
  for (const bool has_forfeit : {false, true}) {
    const int first_run = run;
    for (bool was_killed = true; was_killed; ++run) {
      const int step = run - first_run;
      const Killed killed = RunInProcess([&](const FragileLedger& fragile, const Report& report) {
        std::vector<Change> changes = LastSteps(*fragile.ledger, run);
        // One that is forfeited is looked up under locks, and all of its batch with it.
        if (!has_forfeit) std::erase_if(changes, [](const Change& each) { return each.letter == 'f'; });
        return MakeTogether(fragile, run, changes, step, report);
      });
      was_killed = killed.was_killed;
      if (!was_killed) {
        EXPECT_EQ(killed.reported.back(), has_forfeit ? '2' : '1') << "batches: " << killed.reported;
      }
      auto survivor = Open();
      ASSERT_THAT(ViolationsIn(*survivor, *OpenStore()), ElementsAre()) << "killed at step " << step;
      const int64_t entries = AskStore("SELECT COUNT(*) FROM entries");
      for (const Change& change : FromTheirBeginning(run)) {
        if (killed.reported.find(change.letter) == std::string::npos) continue;
        EXPECT_TRUE(change.make(*survivor).ok()) << change.letter << ", killed at step " << step;
      }
      EXPECT_EQ(AskStore("SELECT COUNT(*) FROM entries"), entries) << "lost, killed at step " << step;
      for (const Change& change : FromTheirBeginning(run)) {
        const absl::Status made = change.make(*survivor);
        EXPECT_TRUE(made.ok()) << change.letter << ", killed at step " << step << ": " << made;
      }
      Must(survivor->Begin(Request(run, "before", 1)));
      EXPECT_EQ(BalanceOf(*survivor, dataset()).spent, (run + 1) * (kSpentByRun + 1)) << "step " << step;
      EXPECT_EQ(BalanceOf(*survivor, dataset()).held, (run + 1) * kHeldByRun) << "step " << step;
      ASSERT_THAT(ViolationsIn(*survivor, *OpenStore()), ElementsAre()) << "after step " << step;
    }
    EXPECT_GT(run - first_run, 4) << "a batch has more steps than that";
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, MixedBatch, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
