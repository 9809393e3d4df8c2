// The embedded store: one SQLite file, for one machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sqlite {

// Opens or creates the file at `path`, readable and writable for its owner alone (the rights of an existing
// file are corrected): write-ahead log, every commit fsynced, foreign keys on. Other processes may have it
// open, too; they exclude each other while they write. Errors: FAILED_PRECONDITION (the path cannot be
// written, lies on a network file system, is not a database, or can be opened by others and is not ours to
// correct; the message names it), UNAVAILABLE (the file is busy), INVALID_ARGUMENT (an empty path).
absl::StatusOr<std::unique_ptr<sql::Database>> OpenSqliteDatabase(std::string_view path);

// FAILED_PRECONDITION, which names `path`, for a network file system (statfs f_type), where SQLite's locks
// and shared memory are unreliable.
absl::Status CheckFileSystem(std::string_view path, int64_t file_system_type);

}  // namespace curator::ledger::sqlite
