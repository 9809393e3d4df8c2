#include "ledger/postgres/postgres_database.h"

#include <string>

#include "base/status_macros.h"
#include "ledger/postgres/postgres_connection.h"
#include "ledger/sql/connection_pool.h"

namespace curator::ledger::postgres {
namespace {

constexpr size_t kConnections = 8;

constexpr sql::Dialect kDialect = {
    .name = "postgres",
    .now_us = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
    .for_update_of = " FOR UPDATE OF",
    .overriding_identity = "OVERRIDING SYSTEM VALUE ",
    // The lock's number is arbitrary; it makes servers that start together migrate one after the other, no
    // matter how long that takes. A step may take hours and may scan; what it locks it gets soon or not at
    // all, because every charge waits behind it.
    .migration_prologue =
        "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; "
        "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(7142030917); SET LOCAL lock_timeout = "
        "'30s'; "
        "SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_hashjoin TO DEFAULT; "
        "SET LOCAL enable_mergejoin TO DEFAULT; SET LOCAL plan_cache_mode TO DEFAULT; "
        "SET LOCAL work_mem = '64MB'; SET LOCAL maintenance_work_mem = '256MB'; "
        "CREATE TABLE IF NOT EXISTS schema_migrations "
        "(version BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, "
        "applied_at_us BIGINT NOT NULL);",
    .fence = "LOCK TABLE chain_heads IN EXCLUSIVE MODE",
    .has_migrations = "SELECT CASE WHEN to_regclass('schema_migrations') IS NULL THEN 0 ELSE 1 END",
};

class PostgresDatabase final : public sql::Database {
 public:
  explicit PostgresDatabase(const std::string& url)
      : pool_(kConnections, [url] { return PostgresConnection::Open(url); }) {}

  const sql::Dialect& dialect() const override { return kDialect; }
  sql::Outcome Write(const sql::Body& body) override {
    return Run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", body);
  }
  sql::Outcome Read(const sql::Body& body) override {
    return Run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body);
  }
  absl::Status Connect() { return pool_.Take().status(); }

 private:
  sql::Outcome Run(const char* begin, const sql::Body& body) {
    absl::StatusOr<sql::ConnectionPool<PostgresConnection>::Lease> lease = pool_.Take();
    if (!lease.ok()) return {sql::Ending::kFailed, lease.status()};
    sql::Outcome outcome = (*lease)->Run(begin, body);
    if (!(*lease)->IsIdle()) lease->Drop();
    if (outcome.ending == sql::Ending::kUnknown) {
      lease->Drop();
      pool_.DropIdle();
    }
    return outcome;
  }

  sql::ConnectionPool<PostgresConnection> pool_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<sql::Database>> OpenPostgresDatabase(std::string_view url) {
  auto database = std::make_unique<PostgresDatabase>(std::string(url));
  RETURN_IF_ERROR(database->Connect());
  return database;
}

}  // namespace curator::ledger::postgres
