// The schema migrations that are built into this program, and their application.
//
// Forward only, one transaction each. A database whose applied migrations are not exactly a prefix of the
// built-in ones, text for text (SHA-256), is refused.
//
// Thread-safe. Servers that start together apply migrations one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ledger/report.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

struct Migration {
  std::string dialect;  // "sqlite", "postgres"
  int64_t version = 0;  // 1, 2, 3, ...
  std::string name;
  std::string sha256;  // of `script`, hexadecimal, computed when the program was built
  std::string script;
};

// All files of migrations/, by dialect and version. Generated at build time.
const std::vector<Migration>& EmbeddedMigrations();

// Those of `migrations` for the database's dialect that are not applied yet, in order. Changes nothing and
// needs only the right to read. Errors as of Migrate().
absl::StatusOr<std::vector<Migration>> PendingMigrations(Database& database,
                                                         const std::vector<Migration>& migrations);

// Applies PendingMigrations(). Errors: FAILED_PRECONDITION (drift: an applied migration differs or is unknown
// to this program, or a built-in text does not match its checksum; or no right to change the schema), or the
// store's.
//
// Reports "migration_begins" and "migration_applied" for each. A transaction that loses against another one
// is repeated a few times; UNAVAILABLE when what a step locks stays locked. A server of an older program that
// runs meanwhile is refused from then on (WriteSet).
absl::Status Migrate(Database& database, const std::vector<Migration>& migrations, const Report& report = {});

// The version of the newest of `migrations` for this dialect: the schema that this program knows.
int64_t NewestSchema(const Dialect& dialect, const std::vector<Migration>& migrations);

}  // namespace curator::ledger::sql
