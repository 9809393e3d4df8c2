#include "ledger/sqlite/sqlite_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/sql/connection_pool.h"
#include "ledger/sql/store_errors.h"

namespace curator::ledger::sqlite {
namespace {

// ---- A connection

constexpr int kBusyTimeoutMs = 10'000;

// Durable on every commit; readers never wait for the writer.
constexpr char kSettings[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = "
    "OFF;"
    // What is deleted is overwritten: names are forgotten (pseudonyms/pseudonym.h), and keys of draws erased.
    "PRAGMA secure_delete = ON;"
    // A cache of 64 MB, because the keys of charges are spread over their index. The log is written back to
    // the file after 16 MB, so that a page that many charges change is written once.
    "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4096;";

sql::Ending EndingOf(int code) {
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
      return code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ? sql::Ending::kConflict
                                                                                      : sql::Ending::kFailed;
    case SQLITE_IOERR:
      return sql::Ending::kUnknown;
    default:
      return sql::Ending::kFailed;
  }
}

absl::Status StatusOf(int code, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
      return EndingOf(code) == sql::Ending::kConflict ? absl::AbortedError(message)
                                                      : absl::InternalError(message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
      return absl::UnavailableError(message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(message);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return absl::FailedPreconditionError(message);
    default:
      return absl::InternalError(message);
  }
}

sql::Value ColumnOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      if (text == nullptr) throw std::bad_alloc();
      return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
      return sql::Bytes{size == 0 ? std::string() : std::string(bytes, size)};
    }
    default:
      return sql::Null();
  }
}

int BindValue(sqlite3_stmt* statement, int index, const sql::Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value))
    return sqlite3_bind_int64(statement, index, *integer);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  if (const auto* bytes = std::get_if<sql::Bytes>(&value)) {
    if (bytes->value.empty()) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob64(statement, index, bytes->value.data(), bytes->value.size(), SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, index);
}

// One connection to the file, with its prepared statements. Not thread-safe.
class SqliteConnection final : public sql::Transaction {
 public:
  // UNAVAILABLE when the file is busy or cannot be read, else FAILED_PRECONDITION.
  static absl::StatusOr<std::unique_ptr<SqliteConnection>> Open(const std::string& path);
  ~SqliteConnection() override;
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  // Runs `body` between `begin` ("BEGIN IMMEDIATE") and COMMIT, or ROLLBACK when it fails.
  sql::Outcome Run(const char* begin, const sql::Body& body);

  absl::StatusOr<std::vector<sql::Row>> Execute(std::string_view statement,
                                                const sql::Parameters& parameters) override;
  absl::StatusOr<std::vector<std::vector<sql::Row>>> ExecuteEach(
      std::string_view statement, const std::vector<sql::Parameters>& each) override;
  absl::Status InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                          const std::vector<sql::Parameters>& rows) override;
  absl::Status ExecuteScript(const std::string& script) override;

 private:
  struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

  explicit SqliteConnection(sqlite3* connection) : connection_(connection) {}
  struct PreparedStatement {
    Statement handle;
    std::vector<int> places;  // of $1, $2, ...; 0: not used
  };
  absl::StatusOr<PreparedStatement*> Prepared(std::string_view statement);
  absl::Status Bind(const PreparedStatement& statement, const sql::Parameters& parameters);
  absl::StatusOr<std::vector<sql::Row>> RunOnce(const PreparedStatement& statement,
                                                const sql::Parameters& parameters);
  // Records how the running transaction failed, for Run(), and returns the status.
  absl::Status Fail(int code);

  sqlite3* connection_;
  std::unordered_map<std::string, PreparedStatement> prepared_;
  sql::Ending failure_ = sql::Ending::kDone;
};

absl::StatusOr<std::unique_ptr<SqliteConnection>> SqliteConnection::Open(const std::string& path) {
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &raw,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(raw));
  if (code == SQLITE_OK) {
    sqlite3_extended_result_codes(raw, 1);
    sqlite3_busy_timeout(raw, kBusyTimeoutMs);
    code = sqlite3_exec(raw, kSettings, nullptr, nullptr, nullptr);
  }
  if (code == SQLITE_OK && sqlite3_db_readonly(raw, "main") == 1) code = SQLITE_READONLY;
  if (code != SQLITE_OK) {
    const std::string reason = raw == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(raw);
    const absl::StatusCode status = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_IOERR
                                        ? absl::StatusCode::kUnavailable
                                        : absl::StatusCode::kFailedPrecondition;
    return sql::HideStore(
        absl::Status(status, absl::StrCat("cannot open the ledger file ", path, ": ", reason)));
  }
  return connection;
}

void SqliteConnection::FinalizeStatement::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteConnection::~SqliteConnection() {
  prepared_.clear();
  sqlite3_close(connection_);
}

// Ends a transaction that was not committed, also when an exception leaves it.
struct RollbackAtEnd {
  sqlite3* connection;
  ~RollbackAtEnd() {
    if (sqlite3_get_autocommit(connection) == 0)
      sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr);
  }
};

sql::Outcome SqliteConnection::Run(const char* begin, const sql::Body& body) {
  failure_ = sql::Ending::kDone;
  absl::Status status = ExecuteScript(begin);
  if (!status.ok()) return {failure_, status};
  const RollbackAtEnd rollback{connection_};
  try {
    status = body(*this);
  } catch (const std::bad_alloc&) {
    status = absl::UnavailableError("the server is short of memory; nothing was written");
    failure_ = sql::Ending::kFailed;
  } catch (const std::exception& error) {
    status =
        absl::InternalError(absl::StrCat("the ledger holds a value of an unexpected type: ", error.what()));
    failure_ = sql::Ending::kFailed;
  }
  if (status.ok() && failure_ == sql::Ending::kDone) {
    status = ExecuteScript("COMMIT");
    if (status.ok()) return {sql::Ending::kDone, status};
  }
  const sql::Ending ending = failure_ == sql::Ending::kDone ? sql::Ending::kRefused : failure_;
  if (status.ok()) status = absl::InternalError("a failed statement was ignored");
  return {ending, status};
}

absl::Status SqliteConnection::Fail(int code) {
  // The first failure is the cause.
  if (failure_ == sql::Ending::kDone) failure_ = EndingOf(code);
  const absl::Status status =
      StatusOf(code, absl::StrCat("the ledger's store answered: ", sqlite3_errmsg(connection_)));
  return (code & 0xff) == SQLITE_FULL ? sql::StoreIsFull(status) : sql::HideStore(status);
}

absl::StatusOr<SqliteConnection::PreparedStatement*> SqliteConnection::Prepared(std::string_view statement) {
  std::string text(statement);
  const auto found = prepared_.find(text);
  if (found != prepared_.end()) return &found->second;
  PreparedStatement prepared;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(connection_, statement.data(), static_cast<int>(statement.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  prepared.handle.reset(raw);
  if (code != SQLITE_OK) return Fail(code);
  constexpr int kMostParameters = 32;
  for (int i = 1; i <= kMostParameters; ++i) {
    prepared.places.push_back(sqlite3_bind_parameter_index(raw, absl::StrCat("$", i).c_str()));
  }
  return &prepared_.emplace(std::move(text), std::move(prepared)).first->second;
}

absl::Status SqliteConnection::Bind(const PreparedStatement& statement, const sql::Parameters& parameters) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const int index = statement.places.at(i);
    if (index == 0) continue;
    const int code = BindValue(statement.handle.get(), index, parameters[i]);
    if (code != SQLITE_OK) return Fail(code);
  }
  return absl::OkStatus();
}

// Makes a statement ready for its next use, also when an exception leaves this one.
struct ResetAtEnd {
  sqlite3_stmt* statement;
  ~ResetAtEnd() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

absl::StatusOr<std::vector<sql::Row>> SqliteConnection::RunOnce(const PreparedStatement& statement,
                                                                const sql::Parameters& parameters) {
  sqlite3_stmt* const handle = statement.handle.get();
  const ResetAtEnd reset{handle};
  RETURN_IF_ERROR(Bind(statement, parameters));
  std::vector<sql::Row> rows;
  int code = sqlite3_step(handle);
  for (; code == SQLITE_ROW; code = sqlite3_step(handle)) {
    std::vector<sql::Value> values;
    const int columns = sqlite3_column_count(handle);
    for (int column = 0; column < columns; ++column) values.push_back(ColumnOf(handle, column));
    rows.emplace_back(std::move(values));
  }
  if (code != SQLITE_DONE) return Fail(code);
  return rows;
}

absl::StatusOr<std::vector<sql::Row>> SqliteConnection::Execute(std::string_view statement,
                                                                const sql::Parameters& parameters) {
  ASSIGN_OR_RETURN(const PreparedStatement* const prepared, Prepared(statement));
  return RunOnce(*prepared, parameters);
}

absl::StatusOr<std::vector<std::vector<sql::Row>>> SqliteConnection::ExecuteEach(
    std::string_view statement, const std::vector<sql::Parameters>& each) {
  std::vector<std::vector<sql::Row>> answers;
  if (each.empty()) return answers;
  ASSIGN_OR_RETURN(const PreparedStatement* const prepared, Prepared(statement));
  for (const sql::Parameters& parameters : each) {
    ASSIGN_OR_RETURN(std::vector<sql::Row> rows, RunOnce(*prepared, parameters));
    answers.push_back(std::move(rows));
  }
  return answers;
}

absl::Status SqliteConnection::InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                                          const std::vector<sql::Parameters>& rows) {
  if (rows.empty()) return absl::OkStatus();
  std::string names;
  std::string places;
  for (size_t i = 0; i < columns.size(); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", std::string(columns[i].name));
    absl::StrAppend(&places, i == 0 ? "$" : ", $", i + 1);
  }
  const std::string insert =
      absl::StrCat("INSERT INTO ", std::string(table), " (", names, ") VALUES (", places, ")");
  return ExecuteEach(insert, rows).status();
}

absl::Status SqliteConnection::ExecuteScript(const std::string& script) {
  const int code = sqlite3_exec(connection_, script.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Fail(code);
}

// ---- The database

// Writers queue here instead of polling the file's lock; readers run concurrently.
constexpr size_t kWriters = 1;
constexpr size_t kReaders = 4;

constexpr sql::Dialect kDialect = {
    .name = "sqlite",
    .now_us = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000",
    .for_update_of = "",
    .overriding_identity = "",
    .migration_prologue =
        "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
        "sha256 TEXT NOT NULL, applied_at_us INTEGER NOT NULL) STRICT;",
    .fence = "SELECT 1",
    .has_migrations =
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'",
};

class SqliteDatabase final : public sql::Database {
 public:
  explicit SqliteDatabase(const std::string& path)
      : path_(path),
        writers_(kWriters, [path] { return SqliteConnection::Open(path); }),
        readers_(kReaders, [path] { return SqliteConnection::Open(path); }) {}

  const sql::Dialect& dialect() const override { return kDialect; }
  sql::Outcome Write(const sql::Body& body) override { return Run(writers_, "BEGIN IMMEDIATE", body); }
  sql::Outcome Read(const sql::Body& body) override { return Run(readers_, "BEGIN", body); }
  // A table to which others refer is replaced by a new one, which SQLite allows only where it does not check
  // references meanwhile. They are checked at the end.
  sql::Outcome WriteLong(const sql::Body& body) override {
    absl::StatusOr<std::unique_ptr<SqliteConnection>> connection = SqliteConnection::Open(path_);
    if (!connection.ok()) return {sql::Ending::kFailed, connection.status()};
    if (const absl::Status off = (*connection)->ExecuteScript("PRAGMA foreign_keys = OFF"); !off.ok()) {
      return {sql::Ending::kFailed, off};
    }
    return (*connection)->Run("BEGIN IMMEDIATE", [&](sql::Transaction& transaction) -> absl::Status {
      RETURN_IF_ERROR(body(transaction));
      ASSIGN_OR_RETURN(const std::vector<sql::Row> dangling,
                       transaction.Execute("PRAGMA foreign_key_check", {}));
      if (dangling.empty()) return absl::OkStatus();
      return absl::DataLossError(
          absl::StrCat("a row of table ", dangling.front().Text(0), " refers to nothing"));
    });
  }

  absl::Status DropRemains() override {
    ASSIGN_OR_RETURN(const Pool::Lease lease, writers_.Take());
    // Writers wait meanwhile, so it waits for readers no longer than a second.
    return lease->ExecuteScript(absl::StrCat("PRAGMA busy_timeout = 1000; PRAGMA wal_checkpoint(TRUNCATE); ",
                                             "PRAGMA busy_timeout = ", kBusyTimeoutMs));
  }

 private:
  using Pool = sql::ConnectionPool<SqliteConnection>;

  static sql::Outcome Run(Pool& pool, const char* begin, const sql::Body& body) {
    absl::StatusOr<Pool::Lease> lease = pool.Take();
    if (!lease.ok()) return {sql::Ending::kFailed, lease.status()};
    sql::Outcome outcome = (*lease)->Run(begin, body);
    if (outcome.ending == sql::Ending::kUnknown) lease->Drop();
    return outcome;
  }

  const std::string path_;
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

// The file holds answers and sealed keys, so only its owner may read it. SQLite gives the files beside it
// (-wal, -shm) the rights of the file when it makes them.
absl::Status CloseToOthers(const std::string& path) {
  const int made = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (made >= 0) {
    close(made);
    return absl::OkStatus();
  }
  for (const char* const suffix : {"", "-wal", "-shm"}) {
    const std::string file = absl::StrCat(path, suffix);
    struct stat found = {};
    if (stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) == 0) continue;
    if (chmod(file.c_str(), S_IRUSR | S_IWUSR) == 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the ledger file ", file,
                     " can be opened by other users of this machine, and its rights cannot be "
                     "changed: ",
                     std::strerror(errno), ". Make it yours with mode 0600"));
  }
  return absl::OkStatus();
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
  RETURN_IF_ERROR(CloseToOthers(file));
  // Opened only to report a path that cannot be written now.
  RETURN_IF_ERROR(SqliteConnection::Open(file).status());
  return std::make_unique<SqliteDatabase>(file);
}

}  // namespace curator::ledger::sqlite
