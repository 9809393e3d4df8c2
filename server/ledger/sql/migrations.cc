#include "ledger/sql/migrations.h"

#include <algorithm>
#include <chrono>

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

// How many of `migrations` are applied. FAILED_PRECONDITION when the applied ones are not the same. A store
// keeps a prepared text together with the types of its columns, which a migration may change: after one the
// text must be another, so it names the step.
absl::StatusOr<size_t> CountApplied(Transaction& transaction, const std::vector<Migration>& migrations,
                                    int step) {
  const std::string select =
      absl::StrCat("SELECT version, sha256 FROM schema_migrations ORDER BY version -- step ", step);
  ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute(select, {}));
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

// Applies the first of `mine` that is not applied. `complete`: no further one is missing then.
absl::Status ApplyNext(Transaction& transaction, const Dialect& dialect, const std::vector<Migration>& mine,
                       const Report& report, int step, bool& complete) {
  RETURN_IF_ERROR(transaction.ExecuteScript(std::string(dialect.migration_prologue)));
  ASSIGN_OR_RETURN(const size_t applied, CountApplied(transaction, mine, step));
  complete = applied + 1 >= mine.size();
  if (applied == mine.size()) return absl::OkStatus();
  const Migration& next = mine[applied];
  const std::string name = absl::StrCat(next.version, " ", next.name);
  Notify(report, "migration_begins", name);
  const auto begin = std::chrono::steady_clock::now();
  if (applied > 0) RETURN_IF_ERROR(transaction.ExecuteScript(std::string(dialect.fence)));
  RETURN_IF_ERROR(transaction.ExecuteScript(next.script));
  const std::string record = absl::StrCat(
      "INSERT INTO schema_migrations (version, name, sha256, applied_at_us) VALUES ($1, $2, $3, ",
      std::string(dialect.now_us), ")");
  RETURN_IF_ERROR(transaction.Execute(record, {next.version, next.name, next.sha256}).status());
  const auto took = std::chrono::steady_clock::now() - begin;
  Notify(
      report, "migration_applied",
      absl::StrCat(name, " in ", std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), " ms"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Migration>> PendingMigrations(Database& database,
                                                         const std::vector<Migration>& migrations) {
  ASSIGN_OR_RETURN(const std::vector<Migration> mine, OfDialect(database.dialect().name, migrations));
  size_t applied = 0;
  const Outcome outcome = database.Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute(database.dialect().has_migrations, {}));
    if (rows.at(0).Integer(0) == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(applied, CountApplied(transaction, mine, 0));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(outcome.status);
  return std::vector<Migration>(mine.begin() + static_cast<std::ptrdiff_t>(applied), mine.end());
}

int64_t NewestSchema(const Dialect& dialect, const std::vector<Migration>& migrations) {
  int64_t newest = 0;
  for (const Migration& migration : migrations) {
    if (migration.dialect == dialect.name) newest = std::max(newest, migration.version);
  }
  return newest;
}

absl::Status Migrate(Database& database, const std::vector<Migration>& migrations, const Report& report) {
  // Against a reader that holds what the step needs, and waits for what it has.
  constexpr int kMostConflicts = 5;
  ASSIGN_OR_RETURN(const std::vector<Migration> pending, PendingMigrations(database, migrations));
  if (pending.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Migration> mine, OfDialect(database.dialect().name, migrations));
  bool complete = false;
  int conflicts = 0;
  for (int step = 1; !complete; ++step) {
    const Outcome outcome = database.WriteLong([&](Transaction& transaction) {
      return ApplyNext(transaction, database.dialect(), mine, report, step, complete);
    });
    if (outcome.ending == Ending::kConflict && ++conflicts < kMostConflicts) {
      complete = false;
      continue;
    }
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
