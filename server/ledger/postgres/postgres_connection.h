// One connection to a PostgreSQL server, with its prepared statements.
//
// Not thread-safe.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

class PostgresConnection final : public sql::Transaction {
 public:
  // Errors: those of OpenPostgresDatabase().
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Open(const std::string& url);
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Runs `body` between `begin` and COMMIT, or ROLLBACK when it fails.
  sql::Outcome Run(const char* begin, const sql::Body& body);
  // Whether it can run another transaction. An exception may leave it between a statement and its results.
  bool IsIdle() const;

  absl::StatusOr<std::vector<sql::Row>> Execute(std::string_view statement,
                                                const sql::Parameters& parameters) override;
  absl::StatusOr<sql::Answers> ExecuteEach(std::string_view statement,
                                           const std::vector<sql::Parameters>& each) override;
  absl::StatusOr<std::vector<sql::Answers>> ExecuteTogether(
      const std::vector<sql::Statement>& statements) override;
  absl::Status ExecuteLast(const std::vector<sql::Step>& steps) override;
  absl::Status InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                          const std::vector<sql::Parameters>& rows) override;
  absl::Status ExecuteScript(const std::string& script) override;

 private:
  struct FinishConnection {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct ClearResult {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Result = std::unique_ptr<PGresult, ClearResult>;

  explicit PostgresConnection(PGconn* connection) : connection_(connection) {}
  absl::Status CheckDurability();
  absl::Status CheckCollation();
  absl::StatusOr<std::string> Prepared(std::string_view statement);
  absl::Status Commit();
  // One run of a prepared statement.
  struct PreparedRun {
    std::string name;
    const sql::Parameters* parameters = nullptr;
  };
  struct OwnedRun {
    std::string name;
    sql::Parameters parameters;
  };
  // Sends all runs, after BEGIN if that has not been sent, then reads their results.
  absl::StatusOr<sql::Answers> RunInPipeline(const std::vector<PreparedRun>& runs);
  absl::StatusOr<sql::Answers> ReadPipeline();
  // OK for a result that succeeded; else records how the running transaction failed, for Run().
  absl::Status Check(const PGresult* result);

  std::unique_ptr<PGconn, FinishConnection> connection_;
  std::unordered_map<std::string, std::string> prepared_;  // statement -> name
  std::string begin_;           // the name of the BEGIN of the running transaction, until it is sent
  std::vector<OwnedRun> last_;  // sent together with its COMMIT
  std::string last_command_;    // the tag of the last statement that succeeded
  sql::Ending failure_ = sql::Ending::kDone;
};

}  // namespace curator::ledger::postgres
