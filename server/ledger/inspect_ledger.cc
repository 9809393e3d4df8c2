#include "ledger/inspect_ledger.h"

#include <algorithm>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/anchor/anchor_directory.h"
#include "ledger/open_ledger.h"
#include "ledger/sql/migrations.h"
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

struct Named {
  std::string id;
  std::string name;
};

absl::StatusOr<std::vector<Named>> DatasetsOf(sql::Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                   transaction.Execute("SELECT id, name FROM datasets ORDER BY name", {}));
  std::vector<Named> datasets;
  for (const sql::Row& row : rows) datasets.push_back({row.Text(0), row.Text(1)});
  return datasets;
}

absl::Status Inspect(sql::Transaction& transaction, Inspection& inspection) {
  const absl::Status compared = sql::CompareWithStore(transaction, inspection.anchored).status();
  if (absl::IsDataLoss(compared)) {
    inspection.findings.emplace_back(compared.message());
  } else {
    RETURN_IF_ERROR(compared);
  }
  ASSIGN_OR_RETURN(const std::vector<Named> datasets, DatasetsOf(transaction));
  for (const Named& dataset : datasets) {
    ASSIGN_OR_RETURN(Verification verification,
                     sql::VerifyDataset(transaction, inspection.anchored, dataset.id));
    inspection.datasets.push_back({dataset.name, dataset.id, std::move(verification)});
  }
  return absl::OkStatus();
}

}  // namespace

bool Inspection::ok() const {
  return findings.empty() &&
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
  ASSIGN_OR_RETURN(const std::vector<std::string> findings, sql::VerifyEveryHistory(*database, {}, report));
  if (!findings.empty()) return sql::UnsoundAfterUpgrade(findings);
  return pending;
}

absl::StatusOr<Inspection> InspectLedger(std::string_view url, std::string_view anchor_dir) {
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
  const sql::Outcome inspected =
      database->Read([&](sql::Transaction& transaction) { return Inspect(transaction, inspection); });
  RETURN_IF_ERROR(inspected.status);
  return inspection;
}

}  // namespace curator::ledger
