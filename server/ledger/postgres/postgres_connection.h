// One connection to a PostgreSQL server, with its prepared statements. Not thread-safe.
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
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Open(const std::string& url);
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Runs `body` between `begin` and COMMIT, or ROLLBACK when it fails.
  sql::Outcome Run(const char* begin, const sql::Body& body);

  absl::StatusOr<std::vector<sql::Row>> Execute(std::string_view statement,
                                                const sql::Parameters& parameters) override;
  absl::StatusOr<std::vector<std::vector<sql::Row>>> ExecuteEach(
      std::string_view statement, const std::vector<sql::Parameters>& each) override;
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
  absl::StatusOr<std::string> Prepared(std::string_view statement);
  using Answers = std::vector<std::vector<sql::Row>>;  // the rows of each of several statements
  // Sends `count` runs of a prepared statement at once, then reads their answers.
  absl::StatusOr<Answers> RunInPipeline(const std::string& name, const sql::Parameters* first, size_t count);
  absl::StatusOr<Answers> ReadPipeline();
  // OK for a result that succeeded; else remembers how the running transaction failed, for Run().
  absl::Status Check(const PGresult* result);

  std::unique_ptr<PGconn, FinishConnection> connection_;
  std::unordered_map<std::string, std::string> prepared_;  // statement -> name
  sql::Ending failure_ = sql::Ending::kDone;
};

}  // namespace curator::ledger::postgres
