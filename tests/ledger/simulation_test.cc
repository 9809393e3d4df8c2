#include "tests/ledger/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "tests/testing/nightly.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

class RandomHistories : public LedgerConformance {};

TEST_P(RandomHistories, AnswerAsTheModelDoesAndHoldWhatItHolds) {
  constexpr uint64_t kHistoriesOfOneLedger = 16;
  const uint64_t histories = nightly::Cases(GetParam() == "sqlite" ? 3'000 : 20);
  std::unique_ptr<Simulation> simulation;
  for (uint64_t history = 0; history < histories; ++history) {
    if (history % kHistoriesOfOneLedger == 0) {
      simulation.reset();
      if (history > 0) RenewLedger();
      Open();
      simulation = std::make_unique<Simulation>([this] { return OpenStore(); }, anchor_dir(), NextSeed());
    }
    const uint64_t seed = nightly::Seed(history);
    ASSERT_EQ(simulation->Run(seed), "") << "seed " << seed;
    if ((history + 1) % kHistoriesOfOneLedger == 0) {
      ASSERT_THAT(ViolationsIn(*OpenStore()), ElementsAre());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, RandomHistories, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
