// The embedded store: one SQLite file, for one machine.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sqlite {

// Opens or creates the file at `path`: write-ahead log, every commit fsynced, foreign keys on. Other
// processes may have it open too; writers take turns. Errors: FAILED_PRECONDITION (the path cannot be
// written, lies on a network file system, or is no database; the message names it).
absl::StatusOr<std::unique_ptr<sql::Database>> OpenSqliteDatabase(std::string_view path);

// Whether a file system (statfs f_type) keeps its files on another machine, where SQLite's locks and shared
// memory cannot be trusted.
bool IsNetworkFileSystem(int64_t file_system_type);

}  // namespace curator::ledger::sqlite
