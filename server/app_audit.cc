#include "app_audit.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "host/entropy.h"
#include "host/logging.h"

namespace curator {
namespace {

int64_t MicrosecondsNow() {
  return absl::ToUnixMicros(absl::Now());
}

// The host, and a part that no other run has.
std::string NameOfThisRun() {
  std::array<char, 65> host = {};
  gethostname(host.data(), host.size() - 1);
  return absl::StrCat(host.data(), "-", absl::BytesToHexString(host::RandomBytes(4)));
}

void LogRecord(const audit::AuditRecord& record) {
  host::Log(host::LogLevel::kInfo, "audit",
            {{"kind", WordOf(record.kind)},
             {"began_us", record.time_us},
             {"server", record.server},
             {"principal", record.principal},
             {"identity", WordOf(record.identity)},
             {"credential_id", record.credential_id},
             {"peer", WordOf(record.peer)},
             {"method", record.method},
             {"dataset", record.dataset},
             {"decision", WordOf(record.decision)},
             {"status", absl::StatusCodeToString(record.status)},
             {"reason", record.reason},
             {"request_id", record.request_id},
             {"trace_id", record.trace_id},
             {"count", record.count},
             {"since_us", record.since_us}});
}

void LogAuditError(const absl::Status& status) {
  host::Log(
      host::LogLevel::kError, "audit_failed",
      {{"status", absl::StatusCodeToString(status.code())}, {"message", std::string(status.message())}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<AppAudit>> AppAudit::Open(const std::string& ledger_url,
                                                         ledger::Ledger& ledger,
                                                         const config::AuditConfig& config) {
  ASSIGN_OR_RETURN(std::unique_ptr<audit::AuditStore> store,
                   audit::AuditStore::Open(ledger_url, config.path, &ledger));
  return std::make_unique<AppAudit>(std::move(store), config.name_days);
}

AppAudit::AppAudit(std::unique_ptr<audit::AuditStore> store, int64_t name_days)
    : store_(std::move(store)),
      followers_(*store_),
      name_removal_(*store_, {.days = name_days, .now_us = MicrosecondsNow, .on_error = LogAuditError}),
      log_(*store_, {.server = NameOfThisRun(),
                     .now_us = MicrosecondsNow,
                     .on_record = LogRecord,
                     .on_error = LogAuditError}) {}

void AppAudit::Note(const rpc::CallEnd& call) {
  if (!call.is_audited()) return;
  for (audit::AuditRecord& record : call.Records()) log_.Add(std::move(record));
}

}  // namespace curator
