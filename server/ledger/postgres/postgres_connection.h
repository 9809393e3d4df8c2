// One connection to a PostgreSQL server, with its prepared statements.
//
// libpqxx 6.4 would replace a lost connection by itself, in the middle of a transaction. Here it may not:
// after any failure that leaves the outcome or the connection in doubt, the connection is dropped as a whole.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <pqxx/connection>
#include <pqxx/errorhandler>
#include <pqxx/nontransaction>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/postgres/array_statements.h"
#include "ledger/postgres/failure.h"
#include "ledger/postgres/ledger_url.h"
#include "ledger/postgres/silence_watch.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

class PostgresConnection final : public sql::Transaction {
 public:
  // Tries twice if the first attempt fails at once. Errors: those of OpenPostgresDatabase(). `watch` outlives
  // the connection and ends every call in which the server is silent for `longest_silence`.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Open(const LedgerUrl& url, Isolation isolation,
                                                                  SilenceWatch& watch,
                                                                  std::chrono::milliseconds longest_silence);
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Runs `body` between `begin` and COMMIT, or ROLLBACK when it fails. A body that only writes its last steps
  // is one statement, in a transaction of its own; where `begin` is empty, so is each message.
  sql::Outcome Run(const char* begin, const sql::Body& body);
  // Whether it should run another transaction; else drop it: its state is in doubt, or it has grown large.
  bool is_usable() const;

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
  // Counts what the server has warned of. A warning at COMMIT ("canceling wait for synchronous replication")
  // says that the transaction may be lost although it is committed.
  class WarningCounter final : public pqxx::errorhandler {
   public:
    explicit WarningCounter(pqxx::connection_base& connection) : errorhandler(connection) {}
    bool operator()(const char[]) noexcept override {
      ++count_;
      return false;
    }
    int count() const { return count_; }

   private:
    int count_ = 0;
  };
  // A prepared statement with its arguments: in binary, or in the text of an EXECUTE.
  struct PreparedRun {
    std::string name;
    std::vector<pqxx::binarystring> binary;
    std::string text;  // preferred unless empty
  };

  PostgresConnection(const std::string& connection_string, SilenceWatch& watch,
                     std::chrono::milliseconds longest_silence);
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> OpenOnce(
      const LedgerUrl& url, Isolation isolation, SilenceWatch& watch,
      std::chrono::milliseconds longest_silence);
  absl::Status CheckServer();
  absl::Status CheckDurability();
  absl::Status CheckCollation();
  // Has the server end what it does for this connection when that is lost.
  absl::Status NoticeLostClient();

  // Calls the library. An exception becomes the failure of the running transaction unless it has one.
  // `bytes` are sent.
  absl::Status Call(const std::function<void()>& call, size_t bytes = 0);
  absl::StatusOr<std::string> Prepared(std::string_view statement);
  absl::Status Begin();
  absl::StatusOr<pqxx::result> RunOne(const std::string& statement, const std::vector<Argument>& arguments);
  // Runs the texts, after BEGIN if that has not been sent, in as few messages as are allowed.
  absl::StatusOr<std::vector<pqxx::result>> RunInPipeline(const std::vector<std::string>& texts);
  absl::Status Commit();
  absl::Status CommitLast(const PreparedRun& last);

  SilenceWatch& watch_;
  const std::chrono::milliseconds longest_silence_;
  pqxx::connection connection_;
  WarningCounter warnings_;
  pqxx::nontransaction session_;  // for as long as the connection: BEGIN and COMMIT are sent by this class
  const int process_;             // of the server, for this connection
  std::unordered_map<std::string, std::string> prepared_;  // statement -> name
  size_t names_ = 0;                                       // of prepared statements; none is used twice
  std::string begin_;                                      // of the running transaction
  bool has_begun_ = false;                                 // BEGIN was sent
  std::optional<PreparedRun> last_;                        // the last steps, sent together with their COMMIT
  std::optional<Failure> failure_;                         // of the running transaction: the first
  bool is_doubtful_ = false;
  bool has_large_buffers_ = false;
};

}  // namespace curator::ledger::postgres
