// The fixture of the tests of the audit's store, for every backend of the ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "audit/audit_store.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::audit {

class AuditConformance : public ledger::LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    Open();  // makes the schema
  }

  bool is_sqlite() const { return GetParam() == "sqlite"; }
  // Of the database that has the audit.
  std::string audit_url() const { return absl::StrReplaceAll(url(), {{"ledger.db", "audit.db"}}); }
  std::unique_ptr<AuditStore> OpenAudit() { return ledger::Must(AuditStore::Open(url(), "")); }
  // Whether the store itself accepts `statement`.
  absl::Status TryInAudit(const std::string& statement) {
    return OpenStoreOf(audit_url())
        ->Write([&](ledger::sql::Transaction& transaction) { return transaction.ExecuteScript(statement); })
        .status;
  }

  static int64_t DaysAgo(int64_t days) { return absl::ToUnixMicros(absl::Now() - absl::Hours(24 * days)); }
};

}  // namespace curator::audit
