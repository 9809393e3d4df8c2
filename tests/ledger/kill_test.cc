// A process that charges as fast as it can, killed at any moment, again and again; and one that is stopped,
// overtaken and resumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "tests/ledger/acknowledged_lines.h"
#include "tests/ledger/charging_child.h"
#include "tests/testing/nightly.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Kill : public LedgerConformance {
 protected:
  static int Cycles() { return static_cast<int>(nightly::Cases(GetParam() == "sqlite" ? 50 : 6)); }
  std::vector<std::string> Arguments(uint64_t seed, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {url(), anchor_dir(), absl::StrCat(seed)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_P(Kill, AProcessKilledAtAnyMomentLosesNothingThatWasAcknowledgedAndMintsNothing) {
  constexpr int kCyclesOfOneLedger = 20;
  constexpr useconds_t kLongestDelayUs = 2000;
  std::vector<Acknowledged> reported;
  size_t acknowledgements = 0;
  for (int cycle = 0; cycle < Cycles(); ++cycle) {
    if (cycle % kCyclesOfOneLedger == 0) {
      if (cycle > 0) RenewLedger();
      reported.clear();
      MakeDataset(*Open(), "census", 2000);
    }
    const uint64_t seed = nightly::Seed(1'000'000) + static_cast<uint64_t>(cycle);
    SCOPED_TRACE(absl::StrCat("cycle ", cycle, " of seed ", nightly::Seed(0)));
    std::mt19937_64 random(seed);
    ChargingChild child(Arguments(seed, {"loop"}));
    child.WaitForLines(random() % 64);
    // The kill comes at a random moment; no step waits for this.
    usleep(static_cast<useconds_t>(random() % kLongestDelayUs));
    child.Signal(SIGKILL);
    ASSERT_EQ(child.WaitForEnd(), -SIGKILL) << child.complaints();
    for (Acknowledged& one : AcknowledgedIn(child.reported())) {
      reported.push_back(std::move(one));
      ++acknowledgements;
    }
    ASSERT_THAT(ViolationsIn(*Open(), *OpenStore(), reported), ElementsAre());
  }
  EXPECT_GT(acknowledgements, static_cast<size_t>(Cycles()) * 10);
}

TEST_P(Kill, AStoppedProcessThatResumesAfterItWasOvertakenAnswersWhatTheOtherStored) {
  const Dataset dataset = MakeDataset(*Open(), "census", 100);
  ChargingChild child(Arguments(1, {"hold", "overtaken"}));
  child.WaitForLines(1);
  child.Signal(SIGSTOP);
  child.WaitUntilStopped();

  auto ledger = Open();
  const Charge charge = Must(ledger->FindCharge(TestPrincipal("ana"), "overtaken"));
  EXPECT_EQ(charge.state, ChargeState::kStarted);
  ChargeRequest request = RequestOf(dataset, "overtaken", charge.postings.at(0).account_id, 1);
  request.fingerprint = charge.fingerprint;
  const Attempt attempt = Must(ledger->Begin(request));
  EXPECT_FALSE(attempt.newly_charged);
  EXPECT_EQ(attempt.sealed_key, "key of overtaken");
  EXPECT_EQ(Must(ledger->Store(attempt, "from the other process")).payload, "from the other process");

  child.Send('g');
  child.Signal(SIGCONT);
  EXPECT_EQ(child.WaitForEnd(), 0) << child.complaints();
  EXPECT_EQ(AcknowledgedIn(child.reported()).back().payload, "from the other process");
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 1);
  EXPECT_THAT(ViolationsIn(*ledger, *OpenStore(),
                           {{"ana", "overtaken", ChargeState::kCommitted, "from the other process"}}),
              ElementsAre());
}

TEST_P(Kill, TheCanaryThatLosesAnAcknowledgedChargeIsCaught) {
  const Dataset dataset = MakeDataset(*Open(), "census", 2000);
  ChargingChild child(Arguments(1, {"loop"}));
  child.WaitForLines(30);
  child.Signal(SIGKILL);
  child.WaitForEnd();
  std::vector<Acknowledged> reported = AcknowledgedIn(child.reported());
  EXPECT_THAT(ViolationsIn(*Open(), *OpenStore(), reported), ElementsAre());
  reported.push_back({"ana", "never charged", ChargeState::kStarted, ""});
  EXPECT_THAT(ViolationsIn(*Open(), *OpenStore(), reported),
              ElementsAre("lost: never charged, acknowledged as STARTED"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Kill, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
