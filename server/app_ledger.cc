#include "app_ledger.h"

#include <filesystem>
#include <map>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dp/accounting/rule.h"
#include "host/entropy.h"
#include "ledger/inspect_ledger.h"

namespace curator {
namespace {

constexpr int kFailed = 1;
constexpr int kContradiction = 3;
constexpr int kMissingAnchor = 4;

int Fail(const absl::Status& status, std::ostream& error) {
  error << "curatord: " << absl::StatusCodeToString(status.code()) << ": " << status.message() << "\n";
  return absl::IsDataLoss(status) ? kContradiction : kFailed;
}

std::string AnchorOf(const LedgerCommandOptions& options) {
  if (!options.anchor_directory.empty() || options.data_directory.empty()) return options.anchor_directory;
  return absl::StrCat(options.data_directory, "/anchor");
}

// `folder` if it contains folders; else empty.
std::string FolderIfUsed(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) return folder;
  }
  return {};
}

void PrintFindings(const std::vector<std::string>& findings, std::ostream& out) {
  for (const std::string& finding : findings) out << "  " << finding << "\n";
}

void PrintVerification(std::string_view name, const ledger::Verification& verification, std::ostream& out) {
  out << name << ": " << (verification.ok ? "sound" : "CONTRADICTS ITSELF") << ", "
      << verification.entries_checked << " entries, head " << absl::BytesToHexString(verification.head_hash)
      << ", anchored up to entry " << verification.anchored_seq << "\n";
  PrintFindings(verification.findings, out);
}

}  // namespace

ledger::LedgerOptions OpenOptionsOf(const LedgerCommandOptions& places) {
  return {.url = places.ledger,
          .anchor_dir = AnchorOf(places),
          .entropy = host::RandomBytes,
          .amount_text = dp::FormatCounter,
          .kept_datasets = FolderIfUsed(std::filesystem::path(places.data_directory) / "datasets")};
}

int RunMigrate(const std::string& ledger, MigrateMode mode, std::ostream& out, std::ostream& error) {
  const ledger::Report progress = [&out](std::string_view event, std::string_view detail) {
    out << event << ": " << detail << std::endl;
  };
  const auto steps =
      mode == MigrateMode::kPrint ? ledger::PendingSteps(ledger) : ledger::MigrateLedger(ledger, progress);
  if (!steps.ok()) return Fail(steps.status(), error);
  for (const ledger::SchemaStep& step : *steps) {
    if (mode == MigrateMode::kPrint) {
      out << "-- " << step.version << " " << step.name << "\n" << step.script << "\n";
    } else {
      out << "applied " << step.version << " " << step.name << "\n";
    }
  }
  if (steps->empty()) out << (mode == MigrateMode::kPrint ? "-- " : "") << "the schema is up to date\n";
  return 0;
}

int RunCheckLedger(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error) {
  const auto inspection = ledger::InspectLedger(options.ledger, AnchorOf(options), dp::FormatCounter);
  if (!inspection.ok()) return Fail(inspection.status(), error);
  for (const ledger::InspectedDataset& dataset : inspection->datasets) {
    PrintVerification(dataset.name, dataset.verification, out);
  }
  const ledger::Verification& server = inspection->server_history;
  const bool has_server_history = server.entries_checked > 0 || !server.ok;
  if (has_server_history) PrintVerification(ledger::kServerHistory, server, out);
  const bool has_history = has_server_history || !inspection->datasets.empty();
  const bool lacks_anchor = inspection->anchored.heads.empty() && has_history;
  if (lacks_anchor) {
    out << "this ledger has a history and no anchor: a restored backup would not be detected, and a server "
           "starts "
           "only with --accept-missing-anchor\n";
  }
  if (!inspection->findings.empty()) out << "the ledger contradicts its anchor:\n";
  PrintFindings(inspection->findings, out);
  if (!inspection->ok()) {
    out << "the ledger is NOT sound\n";
    return kContradiction;
  }
  out << (lacks_anchor ? "the ledger does not contradict itself\n" : "the ledger is sound\n");
  return lacks_anchor ? kMissingAnchor : 0;
}

int RunBackupNote(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error) {
  const auto inspection = ledger::InspectLedger(options.ledger, AnchorOf(options), dp::FormatCounter);
  if (!inspection.ok()) return Fail(inspection.status(), error);
  const auto anchor = ledger::AnchorDirOf(options.ledger, AnchorOf(options));
  if (!anchor.ok()) return Fail(anchor.status(), error);
  const bool is_file = options.ledger.rfind("sqlite:", 0) == 0;
  out << "A backup contains, in this order:\n"
      << "  1. the ledger " << ledger::UrlWithoutPassword(options.ledger)
      << (is_file
              ? "  (sqlite3 FILE \".backup COPY\": never the file alone, its -wal holds the newest charges)\n"
              : "  (pg_dump, or a base backup with its write-ahead log)\n")
      << "  2. the anchor " << *anchor << "  (after the ledger; never restored over a newer one)\n";
  if (!options.data_directory.empty()) {
    out << "  3. the records " << options.data_directory << "/datasets  (private)\n"
        << "  4. the server's key " << options.data_directory
        << "/server.key  (secret; apart from the ledger)\n";
  }
  out << "\nLedger " << inspection->ledger_uuid
      << " has come this far. A restored ledger that is not as far must not be "
      << "charged.\n";
  std::map<std::string, std::string> names;
  for (const ledger::InspectedDataset& dataset : inspection->datasets) names[dataset.id] = dataset.name;
  for (const auto& [dataset_id, head] : inspection->anchored.heads) {
    out << "  head " << dataset_id << " " << head.seq << " " << absl::BytesToHexString(head.hash) << "  "
        << names[dataset_id] << "\n";
  }
  for (const auto& [key, spent] : inspection->anchored.spent) {
    out << "  spent " << key.first << " " << key.second << " " << spent << "\n";
  }
  if (inspection->ok()) return 0;
  error << "curatord: DATA_LOSS: this ledger is not sound, see curatord check-ledger\n";
  return kContradiction;
}

}  // namespace curator
