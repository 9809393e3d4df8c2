#include "app_server_history.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "directory/changes.h"
#include "directory/describe.h"
#include "ledger/history/entry_payload.h"
#include "ledger/open_ledger.h"

namespace curator {
namespace {

int StatusOf(const absl::Status& status, std::ostream& error) {
  if (status.ok()) return 0;
  error << "curatord: " << absl::StatusCodeToString(status.code()) << ": " << status.message() << "\n";
  return absl::IsDataLoss(status) ? 3 : 1;
}

// The change with the names of principals; with the pseudonyms of those that are forgotten.
absl::StatusOr<directory::Change> NamedChange(ledger::Ledger& ledger, const ledger::Entry& entry) {
  ASSIGN_OR_RETURN(directory::Change change, directory::ParseChange(entry.kind, entry.payload));
  std::vector<std::string> stored;
  VisitNames(change, [&](const std::string& name) { stored.push_back(name); });
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ledger.NamesOf(stored));
  auto next = names.begin();
  VisitNames(change, [&](std::string& name) { name = *next++; });
  return change;
}

absl::StatusOr<std::string> TextOf(ledger::Ledger& ledger, const ledger::Entry& entry) {
  if (entry.kind == ledger::kRepaired) {
    ASSIGN_OR_RETURN(const ledger::Repair repair, ledger::ParseRepair(entry.payload));
    return absl::StrFormat("entries %d to %d are lost: %s", repair.last_kept_seq + 1, entry.seq - 1,
                           repair.reason);
  }
  ASSIGN_OR_RETURN(const directory::Change change, NamedChange(ledger, entry));
  return directory::Describe(change);
}

absl::Status Print(ledger::Ledger& ledger, const ledger::Entry& entry, std::ostream& out) {
  ASSIGN_OR_RETURN(const std::string text, TextOf(ledger, entry));
  const absl::Time time = absl::FromUnixMicros(entry.created_at_us);
  out << absl::StrFormat("%5d  %s  %-16s  %-20s  %s\n", entry.seq,
                         absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone()), ActorName(entry),
                         entry.kind, text);
  return absl::OkStatus();
}

absl::Status PrintAll(const LedgerCommandOptions& options, std::ostream& out) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ledger::Ledger> ledger, ledger::OpenLedger(OpenOptionsOf(options)));
  int64_t printed = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<ledger::Entry> entries,
                     ledger->ListServerEntries({.after_seq = printed}));
    if (entries.empty()) return ledger->ServerHead().status();
    for (const ledger::Entry& entry : entries) RETURN_IF_ERROR(Print(*ledger, entry, out));
    printed = entries.back().seq;
  }
}

absl::Status Repair(const LedgerCommandOptions& options, const std::string& reason, std::ostream& out) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ledger::Ledger> ledger, ledger::OpenLedger(OpenOptionsOf(options)));
  ASSIGN_OR_RETURN(const std::optional<ledger::Entry> entry,
                   ledger->RepairServerHistory(directory::kHostActor, reason));
  if (!entry.has_value()) {
    out << "nothing of the server's history is missing, and nothing was changed; curatord server-history "
           "shows "
           "earlier repairs\n";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(Print(*ledger, *entry, out));
  out << "\nNobody who was known can call the server now: what is lost may have disabled anybody, or ended "
         "any "
         "credential or role.\nMake two new administrators with curatord bootstrap and --break-glass, who "
         "enable principals again and link their identities.\n";
  return absl::OkStatus();
}

}  // namespace

int RunServerHistory(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error) {
  return StatusOf(PrintAll(options, out), error);
}

int RunRepairServer(const LedgerCommandOptions& options, const std::string& reason, std::ostream& out,
                    std::ostream& error) {
  return StatusOf(Repair(options, reason, out), error);
}

}  // namespace curator
