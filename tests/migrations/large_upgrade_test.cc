// A large ledger of an earlier program is upgraded, verified and charged further. At night it has a million
// charges; the time and the memory that it took are printed.
#include <sys/resource.h>

#include <chrono>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/inspect_ledger.h"
#include "tests/migrations/large_ledger.h"
#include "tests/testing/nightly.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class LargeUpgrade : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    StartWithoutSchema();
    AcceptMissingAnchor();  // the ledgers are written without one
  }

  // Prints what has happened since the last call.
  void Print(std::string_view what) {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    const auto now = std::chrono::steady_clock::now();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_).count();
    last_ = now;
    std::cout << GetParam() << ", " << what << ": " << took << " ms, peak of this process "
              << usage.ru_maxrss / 1024 << " MiB" << std::endl;
  }

  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

TEST_P(LargeUpgrade, ALedgerOfManyChargesIsUpgradedVerifiedAndChargedFurther) {
  const auto charges = static_cast<int64_t>(nightly::Volume(2'000, 1'000'000));
  const LargeLedger written = Must(WriteLargeLedger(*OpenStore(), charges));
  ASSERT_EQ(written.spent + written.held, charges);
  Print(absl::StrCat("writing ", charges, " charges"));
  std::vector<std::string> events;
  const std::vector<SchemaStep> steps =
      Must(MigrateLedger(url(), [&](std::string_view event, std::string_view detail) {
        events.emplace_back(event);
        Print(absl::StrCat(std::string(event), " ", std::string(detail)));
      }));
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(events.back(), "history_verified");

  auto ledger = Open();
  const Dataset dataset = Must(ledger->GetDataset("large"));
  EXPECT_EQ(BalanceOf(*ledger, dataset), (CounterBalance{"rho", 2 * charges, written.spent, written.held}));
  const Attempt attempt = Must(ledger->Begin(RequestOf(dataset, "after the upgrade", 1, 1)));
  EXPECT_EQ(Must(ledger->Store(attempt, "answer")).payload, "answer");
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, written.spent + 1);
  Print("opening and charging");
}

TEST_P(LargeUpgrade, TheCanaryWithOneBalanceThatIsTooLowIsFound) {
  Must(WriteLargeLedger(*OpenStore(), 300));
  ASSERT_TRUE(TryInStore("UPDATE account_counters SET spent = spent - 1").ok());
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, MigrateLedger(url()).status());
  // For a server that migrates by itself its dataset is read-only.
  RenewLedger();
  StartWithoutSchema();
  Must(WriteLargeLedger(*OpenStore(), 300));
  ASSERT_TRUE(TryInStore("UPDATE account_counters SET spent = spent - 1").ok());
  auto ledger = Open();
  const Dataset dataset = Must(ledger->GetDataset("large"));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   ledger->Begin(RequestOf(dataset, "after the upgrade", 1, 1)).status());
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, Contains(HasSubstr("the entries say spent")));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, LargeUpgrade, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
