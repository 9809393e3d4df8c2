#include "ledger/sqlite/sqlite_database.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/sql/connection_pool.h"
#include "ledger/sqlite/sqlite_connection.h"

namespace curator::ledger::sqlite {
namespace {

// Writers queue here instead of polling the file's lock; readers run concurrently.
constexpr size_t kWriters = 1;
constexpr size_t kReaders = 4;

constexpr sql::Dialect kDialect = {
    .name = "sqlite",
    .now_us = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000",
    .for_update_of = "",
    .next_account_id = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'accounts' RETURNING seq",
    .migration_prologue =
        "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
        "sha256 TEXT NOT NULL, applied_at_us INTEGER NOT NULL) STRICT;",
    .has_migrations =
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'",
};

class SqliteDatabase final : public sql::Database {
 public:
  explicit SqliteDatabase(const std::string& path)
      : writers_(kWriters, [path] { return SqliteConnection::Open(path); }),
        readers_(kReaders, [path] { return SqliteConnection::Open(path); }) {}

  const sql::Dialect& dialect() const override { return kDialect; }
  sql::Outcome Write(const sql::Body& body) override { return Run(writers_, "BEGIN IMMEDIATE", body); }
  sql::Outcome Read(const sql::Body& body) override { return Run(readers_, "BEGIN", body); }

 private:
  using Pool = sql::ConnectionPool<SqliteConnection>;

  static sql::Outcome Run(Pool& pool, const char* begin, const sql::Body& body) {
    absl::StatusOr<Pool::Lease> lease = pool.Take();
    if (!lease.ok()) return {sql::Ending::kFailed, lease.status()};
    sql::Outcome outcome = (*lease)->Run(begin, body);
    if (outcome.ending == sql::Ending::kUnknown) lease->Drop();
    return outcome;
  }

  Pool writers_;
  Pool readers_;
};

absl::Status CheckPlace(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  struct statfs file_system = {};
  if (statfs(folder.c_str(), &file_system) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("cannot open the ledger file ", path, ": its folder ",
                                                      folder.string(), ": ", std::strerror(errno)));
  }
  return CheckFileSystem(path, file_system.f_type);
}

}  // namespace

absl::Status CheckFileSystem(std::string_view path, int64_t file_system_type) {
  // statfs(2) and linux/magic.h: NFS, SMB, CIFS, SMB2, AFS (two), Coda, NCP, 9P, Ceph, Lustre, OCFS2, GFS2.
  constexpr std::array<int64_t, 13> kNetwork = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42, 0x5346414F,
                                                0x6B414653, 0x73757245, 0x564C,     0x01021997, 0x00C36400,
                                                0x0BD00BD0, 0x7461636F, 0x01161970};
  // f_type is a signed word on some machines: compare its low 32 bits.
  if (std::find(kNetwork.begin(), kNetwork.end(), file_system_type & 0xFFFFFFFF) == kNetwork.end()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the ledger file ", std::string(path),
                   " lies on a network file system, where SQLite cannot lock safely; use a local disk, or "
                   "PostgreSQL"));
}

absl::StatusOr<std::unique_ptr<sql::Database>> OpenSqliteDatabase(std::string_view path) {
  const std::string file(path);
  if (file.empty()) return absl::InvalidArgumentError("the ledger's URL names no file: write sqlite:PATH");
  RETURN_IF_ERROR(CheckPlace(file));
  // Opened only to report a path that cannot be written now.
  RETURN_IF_ERROR(SqliteConnection::Open(file).status());
  return std::make_unique<SqliteDatabase>(file);
}

}  // namespace curator::ledger::sqlite
