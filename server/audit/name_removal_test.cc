// Names leave old records in rounds, on every backend.
#include "audit/name_removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "audit/testing/audit_conformance.h"
#include "ledger/conformance/faulty_database.h"

namespace curator::audit {
namespace {

using ledger::Fault;
using ledger::FaultyDatabase;
using ledger::Must;
using ::testing::SizeIs;

class NameRemovalTest : public AuditConformance {
 protected:
  NameRemoval::Options Options() {
    return {.now_us = [] { return DaysAgo(0); },
            .on_error = [this](const absl::Status& error) { errors_.push_back(error); },
            .between_rounds = std::chrono::hours(24)};
  }
  int64_t NamedIn(AuditStore& store) {
    int64_t named = 0;
    for (const AuditRecord& record : Must(store.ReadAfter(0, 100'000)))
      named += record.principal.empty() ? 0 : 1;
    return named;
  }

  std::vector<absl::Status> errors_;
};

TEST_P(NameRemovalTest, ARoundRemovesAllNamesWhoseTimeHasComeAndNoOther) {
  const auto store = OpenAudit();
  std::vector<AuditRecord> records(1'234, {.time_us = DaysAgo(401), .principal = "ana"});
  records.push_back({.time_us = DaysAgo(399), .principal = "bob"});
  ASSERT_TRUE(store->Append(records).ok());
  NameRemoval removal(*store, Options());
  removal.RunOnce();
  EXPECT_EQ(NamedIn(*store), 1);
}

TEST_P(NameRemovalTest, AStoreThatFailsIsReportedAndTheNextRoundGoesOn) {
  OpenAudit();
  auto owned = std::make_unique<FaultyDatabase>(OpenStoreOf(audit_url()));
  FaultyDatabase& faulty = *owned;
  AuditStore store([&] { return std::move(owned); });
  ASSERT_TRUE(store.Append({{.time_us = DaysAgo(401), .principal = "ana"}}).ok());
  NameRemoval removal(store, Options());
  faulty.Arm(Fault::kFail, 0);
  removal.RunOnce();
  EXPECT_THAT(errors_, SizeIs(1));
  faulty.Disarm();
  removal.RunOnce();
  EXPECT_THAT(errors_, SizeIs(1));
  EXPECT_EQ(NamedIn(store), 0);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, NameRemovalTest, ::testing::ValuesIn(ledger::LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::audit
