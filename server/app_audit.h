// The audit of a running server (server/audit), with its lines in the log.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "audit/audit_followers.h"
#include "audit/audit_log.h"
#include "audit/audit_store.h"
#include "audit/name_removal.h"
#include "config/server_config.h"
#include "ledger/ledger.h"
#include "rpc/call_observer.h"

namespace curator {

class AppAudit {
 public:
  // Of the ledger at this URL, which is open already, and outlives it. Errors as of AuditStore::Open().
  static absl::StatusOr<std::unique_ptr<AppAudit>> Open(const std::string& ledger_url, ledger::Ledger& ledger,
                                                        const config::AuditConfig& config);

  explicit AppAudit(std::unique_ptr<audit::AuditStore> store, int64_t name_days);

  // Records a call that ended. Does not block.
  void Note(const rpc::CallEnd& call);

  // For tests: a round of removing names from old records, which come by themselves otherwise.
  void RemoveOldNames() { name_removal_.RunOnce(); }

  // How many records of calls were dropped since the start.
  int64_t dropped() const { return log_.dropped(); }

  audit::AuditStore& store() { return *store_; }
  audit::AuditFollowers& followers() { return followers_; }

 private:
  const std::unique_ptr<audit::AuditStore> store_;
  audit::AuditFollowers followers_;
  audit::NameRemoval name_removal_;
  audit::AuditLog log_;  // destroyed first: it writes what is queued
};

}  // namespace curator
