// One connection to a SQLite file, with its prepared statements.
//
// Not thread-safe.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sqlite {

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

}  // namespace curator::ledger::sqlite
