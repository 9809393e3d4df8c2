// The schema changes that are built into this program, and the act of applying them.
//
// Forward only, one transaction each. A database whose applied migrations are not exactly a prefix of the
// ones built in, text for text (SHA-256), is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

// What is missing of `migrations` (those of the database's dialect), in order; changes nothing and needs no
// right but to read. Errors as of Migrate().
absl::StatusOr<std::vector<Migration>> PendingMigrations(Database& database,
                                                         const std::vector<Migration>& migrations);

// Applies what is missing of `migrations` (those of the database's dialect). Errors: FAILED_PRECONDITION
// (drift: an applied migration differs or is unknown here; or an embedded text does not have its checksum),
// or the store's.
absl::Status Migrate(Database& database, const std::vector<Migration>& migrations);

}  // namespace curator::ledger::sql
