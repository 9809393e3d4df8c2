#include "ledger/sql/migrations.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::ledger::sql {
namespace {

absl::Status Drift(const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the ledger's schema is not the one this program was built with: ", what, ". Nothing was changed"));
}

absl::StatusOr<std::vector<Migration>> OfDialect(std::string_view dialect,
                                                 const std::vector<Migration>& all) {
  std::vector<Migration> chosen;
  for (const Migration& migration : all) {
    if (migration.dialect != dialect) continue;
    if (absl::BytesToHexString(Sha256(migration.script)) != migration.sha256) {
      return Drift(
          absl::StrCat("the built-in migration ", migration.version, " does not match its checksum"));
    }
    if (migration.version != static_cast<int64_t>(chosen.size()) + 1) {
      return Drift(absl::StrCat("the built-in migration ", migration.version, " is out of order"));
    }
    chosen.push_back(migration);
  }
  return chosen;
}

// How many of `migrations` are applied. FAILED_PRECONDITION when the applied ones are not the same.
absl::StatusOr<size_t> CountApplied(Transaction& transaction, const std::vector<Migration>& migrations) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT version, sha256 FROM schema_migrations ORDER BY version", {}));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i >= migrations.size()) {
      return Drift(absl::StrCat("migration ", rows[i].Integer(0), " was applied by a newer program"));
    }
    if (rows[i].Integer(0) != migrations[i].version) {
      return Drift(absl::StrCat("migration ", migrations[i].version, " was skipped"));
    }
    if (rows[i].Text(1) != migrations[i].sha256) {
      return Drift(absl::StrCat("migration ", migrations[i].version, " was applied with another text"));
    }
  }
  return rows.size();
}

}  // namespace

absl::StatusOr<std::vector<Migration>> PendingMigrations(Database& database,
                                                         const std::vector<Migration>& migrations) {
  ASSIGN_OR_RETURN(const std::vector<Migration> mine, OfDialect(database.dialect().name, migrations));
  size_t applied = 0;
  const Outcome outcome = database.Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute(database.dialect().has_migrations, {}));
    if (rows.at(0).Integer(0) == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(applied, CountApplied(transaction, mine));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(outcome.status);
  return std::vector<Migration>(mine.begin() + static_cast<std::ptrdiff_t>(applied), mine.end());
}

absl::Status Migrate(Database& database, const std::vector<Migration>& migrations) {
  ASSIGN_OR_RETURN(const std::vector<Migration> pending, PendingMigrations(database, migrations));
  if (pending.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Migration> mine, OfDialect(database.dialect().name, migrations));
  bool complete = false;
  while (!complete) {
    const Outcome outcome = database.Write([&](Transaction& transaction) -> absl::Status {
      RETURN_IF_ERROR(transaction.ExecuteScript(std::string(database.dialect().migration_prologue)));
      ASSIGN_OR_RETURN(const size_t applied, CountApplied(transaction, mine));
      complete = applied + 1 >= mine.size();
      if (applied == mine.size()) return absl::OkStatus();
      const Migration& next = mine[applied];
      RETURN_IF_ERROR(transaction.ExecuteScript(next.script));
      const std::string record = absl::StrCat(
          "INSERT INTO schema_migrations (version, name, sha256, applied_at_us) VALUES ($1, $2, $3, ",
          std::string(database.dialect().now_us), ")");
      return transaction.Execute(record, {next.version, next.name, next.sha256}).status();
    });
    if (outcome.ending == Ending::kFailed && absl::IsFailedPrecondition(outcome.status)) {
      return absl::FailedPreconditionError(
          absl::StrCat(std::string(outcome.status.message()),
                       ". The schema is not up to date: run `curatord migrate` as the owner of its tables"));
    }
    RETURN_IF_ERROR(outcome.status);
  }
  return absl::OkStatus();
}

}  // namespace curator::ledger::sql
