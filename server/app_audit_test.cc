#include "app_audit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "tests/testing/scratch_folder.h"

namespace curator {
namespace {

class AppAuditTest : public ::testing::Test {
 protected:
  std::unique_ptr<AppAudit> Open(int64_t name_days) const {
    return AppAudit::Open("sqlite:" + folder_.path() + "/ledger.db", *ledger_,
                          {.path = folder_.path() + "/elsewhere.db", .name_days = name_days})
        .value();
  }
  static audit::AuditRecord CallDaysAgo(int64_t days, const std::string& principal) {
    return {.time_us = absl::ToUnixMicros(absl::Now() - days * absl::Hours(24)),
            .server = "earlier",
            .principal = principal,
            .decision = audit::Decision::kAllowed};
  }
  // Who made the calls of that server, oldest first.
  static std::vector<std::string> PrincipalsIn(AppAudit& audit) {
    std::vector<std::string> principals;
    const audit::AuditPage page = audit.store().List({}, audit::AuditPlace(), 100).value();
    for (const audit::AuditRecord& record : page.records) {
      if (record.server == "earlier") principals.insert(principals.begin(), record.principal);
    }
    return principals;
  }

  const testing::ScratchFolder folder_;
  const std::unique_ptr<ledger::Ledger> ledger_ =
      ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/ledger.db",
                          .anchor_dir = folder_.path() + "/anchor",
                          .entropy = host::RandomBytes})
          .value();
};

TEST_F(AppAuditTest, LiesInTheFileOfTheConfigurationAndNotBesideTheLedger) {
  const std::unique_ptr<AppAudit> audit = Open(400);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/elsewhere.db"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/audit.db"));
}

TEST_F(AppAuditTest, NamesAreRemovedAfterTheDaysOfTheConfiguration) {
  const std::vector<audit::AuditRecord> calls = {CallDaysAgo(60, "ana"), CallDaysAgo(40, "bob")};
  const std::unique_ptr<AppAudit> usual = Open(400);
  ASSERT_TRUE(usual->store().Append(calls).ok());
  usual->RemoveOldNames();
  EXPECT_EQ(PrincipalsIn(*usual), (std::vector<std::string>{"ana", "bob"}));
  const std::unique_ptr<AppAudit> shorter = Open(50);
  shorter->RemoveOldNames();
  EXPECT_EQ(PrincipalsIn(*shorter), (std::vector<std::string>{"", "bob"}));
}

}  // namespace
}  // namespace curator
