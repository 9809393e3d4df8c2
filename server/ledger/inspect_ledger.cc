#include "ledger/inspect_ledger.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/anchor/anchor_directory.h"
#include "ledger/open_ledger.h"
#include "ledger/pseudonyms/pseudonym.h"
#include "ledger/sql/migrations.h"
#include "ledger/sql/server_history.h"
#include "ledger/sql/verify.h"

namespace curator::ledger {
namespace {

absl::StatusOr<std::vector<SchemaStep>> StepsOf(absl::StatusOr<std::vector<sql::Migration>> migrations) {
  RETURN_IF_ERROR(migrations.status());
  std::vector<SchemaStep> steps;
  for (const sql::Migration& migration : *migrations) {
    steps.push_back({migration.version, migration.name, migration.script});
  }
  return steps;
}

// A lineage with its datasets.
struct Lineage {
  std::string id;
  std::vector<InspectedDataset> datasets;
};

absl::StatusOr<std::vector<Lineage>> LineagesOf(sql::Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                   transaction.Execute("SELECT lineage_id, id, COALESCE(NULLIF(deleted_name, ''), name) FROM "
                                       "datasets ORDER BY lineage_id, name",
                                       {}));
  std::vector<Lineage> lineages;
  for (const sql::Row& row : rows) {
    if (lineages.empty() || lineages.back().id != row.Text(0)) lineages.push_back({row.Text(0), {}});
    lineages.back().datasets.push_back({row.Text(2), row.Text(1), {}});
  }
  return lineages;
}

absl::Status Inspect(sql::Database& database, const AmountText& amount_text, Inspection& inspection) {
  const auto read = [&database](const sql::Body& body) { return database.ReadLong(body).status; };
  std::vector<Lineage> lineages;
  std::vector<std::string> lost;
  RETURN_IF_ERROR(read([&](sql::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(lineages, LineagesOf(transaction));
    ASSIGN_OR_RETURN(lost, sql::LostDatasets(transaction, inspection.anchored));
    return absl::OkStatus();
  }));
  inspection.findings.insert(inspection.findings.end(), lost.begin(), lost.end());
  ASSIGN_OR_RETURN(inspection.server_history, sql::VerifyServerEntries(read, inspection.anchored));
  for (Lineage& lineage : lineages) {
    ASSIGN_OR_RETURN(const sql::VerifiedLineage verified,
                     sql::VerifyLineage(read, inspection.anchored, lineage.id, {.amount_text = amount_text}));
    for (InspectedDataset& dataset : lineage.datasets) {
      dataset.verification = sql::VerificationOf(verified, inspection.anchored, dataset.id);
      inspection.datasets.push_back(std::move(dataset));
    }
  }
  std::sort(inspection.datasets.begin(), inspection.datasets.end(),
            [](const InspectedDataset& a, const InspectedDataset& b) { return a.name < b.name; });
  return absl::OkStatus();
}

// Findings about rows of the table of pseudonyms that were changed; and all findings with names in the place
// of the pseudonyms that it has.
absl::Status NameFindings(sql::Database& database, Inspection& inspection) {
  std::map<std::string, std::string> names;
  std::vector<std::string> changed;
  const sql::Outcome read = database.ReadLong([&](sql::Transaction& transaction) -> absl::Status {
    names.clear();
    changed.clear();
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                     transaction.Execute("SELECT name, pseudonym, key FROM pseudonyms ORDER BY name", {}));
    for (const sql::Row& row : rows) {
      const absl::Status checked =
          CheckPseudonymRow({.name = row.Text(0), .pseudonym = row.Text(1), .key = row.Blob(2)});
      if (checked.ok()) names[row.Text(1)] = row.Text(0);
      if (!checked.ok()) changed.emplace_back(checked.message());
    }
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(read.status);
  const auto name_all = [&](std::vector<std::string>& findings) {
    for (std::string& finding : findings) {
      finding = WithNames(finding, [&](const std::string& pseudonym) {
        const auto found = names.find(pseudonym);
        return found == names.end() ? pseudonym : found->second;
      });
    }
  };
  name_all(inspection.findings);
  for (InspectedDataset& dataset : inspection.datasets) name_all(dataset.verification.findings);
  inspection.findings.insert(inspection.findings.end(), changed.begin(), changed.end());
  return absl::OkStatus();
}

}  // namespace

bool Inspection::ok() const {
  return findings.empty() && server_history.ok &&
         std::all_of(datasets.begin(), datasets.end(),
                     [](const InspectedDataset& dataset) { return dataset.verification.ok; });
}

absl::StatusOr<std::vector<SchemaStep>> PendingSteps(std::string_view url) {
  ASSIGN_OR_RETURN(const std::unique_ptr<sql::Database> database, OpenLedgerDatabase(url));
  return StepsOf(sql::PendingMigrations(*database, sql::EmbeddedMigrations()));
}

absl::StatusOr<std::vector<SchemaStep>> MigrateLedger(std::string_view url, const Report& report) {
  ASSIGN_OR_RETURN(const std::unique_ptr<sql::Database> database, OpenLedgerDatabase(url));
  ASSIGN_OR_RETURN(std::vector<SchemaStep> pending,
                   StepsOf(sql::PendingMigrations(*database, sql::EmbeddedMigrations())));
  RETURN_IF_ERROR(sql::Migrate(*database, sql::EmbeddedMigrations(), report));
  if (pending.empty()) return pending;
  // Without the anchor, whose folder only a server knows: it compares when it starts.
  Inspection inspection;
  RETURN_IF_ERROR(Inspect(*database, IntegerText, inspection));
  for (const InspectedDataset& dataset : inspection.datasets) {
    Notify(report, "history_verified",
           absl::StrCat("dataset \"", dataset.name, "\": ", dataset.verification.entries_checked,
                        " entries, ", dataset.verification.findings.size(), " findings"));
  }
  if (inspection.ok()) return pending;
  return absl::DataLossError(
      "the ledger's schema was upgraded, and its histories contradict its tables: the datasets that "
      "`curatord check-ledger` names are read-only");
}

absl::StatusOr<Inspection> InspectLedger(std::string_view url, std::string_view anchor_dir,
                                         const AmountText& amount_text) {
  ASSIGN_OR_RETURN(const std::string anchor, AnchorDirOf(url, anchor_dir));
  ASSIGN_OR_RETURN(const std::unique_ptr<sql::Database> database, OpenLedgerDatabase(url));
  ASSIGN_OR_RETURN(const std::vector<sql::Migration> pending,
                   sql::PendingMigrations(*database, sql::EmbeddedMigrations()));
  if (!pending.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the ledger's schema lacks ", pending.size(),
                     " migrations of this program: run `curatord migrate` first"));
  }
  Inspection inspection;
  const sql::Outcome named = database->Read([&](sql::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                     transaction.Execute("SELECT ledger_uuid FROM ledger_identity", {}));
    if (!rows.empty()) inspection.ledger_uuid = rows.front().Text(0);
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(named.status);
  // The anchor is read first: a server that runs meanwhile only moves the store further.
  absl::StatusOr<AnchorState> anchored = AnchorDirectory::ReadOnly(anchor, inspection.ledger_uuid);
  if (absl::IsDataLoss(anchored.status())) {
    inspection.findings.emplace_back(anchored.status().message());
  } else {
    RETURN_IF_ERROR(anchored.status());
    inspection.anchored = *std::move(anchored);
  }
  RETURN_IF_ERROR(Inspect(*database, amount_text, inspection));
  RETURN_IF_ERROR(NameFindings(*database, inspection));
  return inspection;
}

}  // namespace curator::ledger
