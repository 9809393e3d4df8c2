#include "ledger/sqlite/sqlite_connection.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::ledger::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

// Durable on every commit; readers never wait for the writer.
constexpr char kSettings[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = "
    "OFF;"
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

}  // namespace

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
    return absl::Status(status, absl::StrCat("cannot open the ledger file ", path, ": ", reason));
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

sql::Outcome SqliteConnection::Run(const char* begin, const sql::Body& body) {
  failure_ = sql::Ending::kDone;
  absl::Status status = ExecuteScript(begin);
  if (!status.ok()) return {failure_, status};
  try {
    status = body(*this);
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
  if (sqlite3_get_autocommit(connection_) == 0)
    sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
  return {ending, status};
}

absl::Status SqliteConnection::Fail(int code) {
  // The first failure is the cause.
  if (failure_ == sql::Ending::kDone) failure_ = EndingOf(code);
  return StatusOf(code, absl::StrCat("the ledger's store answered: ", sqlite3_errmsg(connection_)));
}

absl::StatusOr<SqliteConnection::PreparedStatement*> SqliteConnection::Prepared(std::string_view statement) {
  const auto [entry, is_new] = prepared_.try_emplace(std::string(statement));
  if (!is_new) return &entry->second;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(connection_, statement.data(), static_cast<int>(statement.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  entry->second.handle.reset(raw);
  if (code != SQLITE_OK) {
    prepared_.erase(entry);
    return Fail(code);
  }
  constexpr int kMostParameters = 32;
  for (int i = 1; i <= kMostParameters; ++i) {
    entry->second.places.push_back(sqlite3_bind_parameter_index(raw, absl::StrCat("$", i).c_str()));
  }
  return &entry->second;
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

absl::StatusOr<std::vector<sql::Row>> SqliteConnection::RunOnce(const PreparedStatement& statement,
                                                                const sql::Parameters& parameters) {
  RETURN_IF_ERROR(Bind(statement, parameters));
  sqlite3_stmt* const handle = statement.handle.get();
  std::vector<sql::Row> rows;
  int code = sqlite3_step(handle);
  for (; code == SQLITE_ROW; code = sqlite3_step(handle)) {
    std::vector<sql::Value> values;
    const int columns = sqlite3_column_count(handle);
    for (int column = 0; column < columns; ++column) values.push_back(ColumnOf(handle, column));
    rows.emplace_back(std::move(values));
  }
  const absl::Status status = code == SQLITE_DONE ? absl::OkStatus() : Fail(code);
  sqlite3_reset(handle);
  sqlite3_clear_bindings(handle);
  RETURN_IF_ERROR(status);
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

}  // namespace curator::ledger::sqlite
