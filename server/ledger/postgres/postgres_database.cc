#include "ledger/postgres/postgres_database.h"

#include <chrono>
#include <string>

#include "base/status_macros.h"
#include "ledger/postgres/ledger_url.h"
#include "ledger/postgres/postgres_connection.h"
#include "ledger/postgres/silence_watch.h"
#include "ledger/sql/connection_pool.h"

namespace curator::ledger::postgres {
namespace {

// Connections, opened when first needed.
constexpr size_t kWriters = 14;
constexpr size_t kReaders = 6;
constexpr size_t kLongReaders = 2;

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
        "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; "
        "SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = auto; "
        "SET LOCAL work_mem = '64MB'; SET LOCAL maintenance_work_mem = '256MB'; "
        "CREATE TABLE IF NOT EXISTS schema_migrations "
        "(version BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, "
        "applied_at_us BIGINT NOT NULL);",
    .fence = "LOCK TABLE chain_heads IN EXCLUSIVE MODE",
    .has_migrations = "SELECT CASE WHEN to_regclass('schema_migrations') IS NULL THEN 0 ELSE 1 END",
    // As deploy/postgres-roles.sql grants them.
    .missing_rights =
        "SELECT privilege || ' ' || name FROM "
        "(SELECT t, p FROM unnest(ARRAY['ledger_identity', 'datasets', 'dataset_requests', "
        "'dataset_versions', "
        "'dataset_parts', 'part_bins', 'grants', 'accounts', 'account_counters', 'account_members', "
        "'charges', 'open_charges', 'endings', "
        "'entries', 'chain_heads', 'releases', 'release_shares', 'release_readers', 'release_measures', "
        "'limit_proposals', 'event_counts', 'event_counts_upto', 'staged_releases', 'release_pieces', "
        "'server_entries', 'audit', 'pseudonyms', 'quota_use', 'counter_points', 'seen_files']) t, "
        "unnest(ARRAY['SELECT', 'INSERT']) p "
        "UNION ALL SELECT 'schema_migrations', 'SELECT' "
        "UNION ALL SELECT unnest(ARRAY['event_counts', 'event_counts_upto', 'datasets', 'dataset_parts', "
        "'grants', 'accounts', 'account_counters', 'open_charges', 'chain_heads', 'limit_proposals', "
        "'staged_releases', 'audit', 'quota_use', 'counter_points']), 'UPDATE' "
        "UNION ALL SELECT unnest(ARRAY['open_charges', 'staged_releases', 'release_pieces', 'pseudonyms', "
        "'quota_use']), 'DELETE') "
        "AS needed (name, privilege) WHERE NOT CASE privilege "
        "WHEN 'UPDATE' THEN has_any_column_privilege(name, 'UPDATE') "
        "ELSE has_table_privilege(name, privilege) END ORDER BY 1",
    .excessive_rights =
        "SELECT CAST(CASE WHEN rolsuper THEN 'the role ' || rolname || ' is a superuser' ELSE 'the role ' || "
        "rolname || ' may change or delete entries of the history' END AS TEXT) FROM pg_roles "
        "WHERE rolname = current_user AND (rolsuper OR EXISTS (SELECT 1 FROM "
        "unnest(ARRAY['entries', 'server_entries']) t WHERE has_any_column_privilege(t, 'UPDATE') "
        "OR has_table_privilege(t, 'DELETE, TRUNCATE, TRIGGER')))",
};

// Statements end within the silence that they are allowed, or move bytes; the server itself ends a statement
// after statement_timeout, unless it is one of a migration.
constexpr std::chrono::milliseconds kSilence = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kLongSilence = std::chrono::seconds(150);
// A step may take hours and shows no progress. The system's own probes still notice a host that has vanished.
constexpr std::chrono::milliseconds kSilenceOfMigrations = std::chrono::hours(24 * 365);
// A connection is taken for a transaction.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::seconds(10);

using Pool = sql::ConnectionPool<PostgresConnection>;

class PostgresDatabase final : public sql::Database {
 public:
  explicit PostgresDatabase(const LedgerUrl& url)
      : writers_(kWriters, Connector(url, Isolation::kReadCommitted, kSilence)),
        readers_(kReaders, Connector(url, Isolation::kRepeatableRead, kSilence)),
        long_readers_(kLongReaders, Connector(url, Isolation::kRepeatableRead, kLongSilence)),
        migrators_(1, Connector(url, Isolation::kReadCommitted, kSilenceOfMigrations)) {}

  const sql::Dialect& dialect() const override { return kDialect; }
  sql::Outcome Write(const sql::Body& body) override { return Run(writers_, kWrite, body); }
  sql::Outcome Read(const sql::Body& body) override { return Run(readers_, kRead, body); }
  sql::Outcome ReadOnce(const sql::Body& body) override { return Run(readers_, kOneMessage, body); }
  sql::Outcome ReadLong(const sql::Body& body) override { return Run(long_readers_, kRead, body); }
  sql::Outcome WriteLong(const sql::Body& body) override { return Run(migrators_, kWrite, body); }
  absl::Status Connect() { return readers_.Take(kLongestWait).status(); }

 private:
  // The isolation is the session's: in a pipeline, BEGIN comes too late to change it.
  static constexpr char kWrite[] = "BEGIN READ WRITE";
  static constexpr char kRead[] = "BEGIN READ ONLY";
  // The server makes one transaction of the statements of one message.
  static constexpr char kOneMessage[] = "";

  Pool::Connect Connector(const LedgerUrl& url, Isolation isolation, std::chrono::milliseconds silence) {
    return
        [this, url, isolation, silence] { return PostgresConnection::Open(url, isolation, watch_, silence); };
  }

  sql::Outcome Run(Pool& pool, const char* begin, const sql::Body& body) {
    absl::StatusOr<Pool::Lease> lease = pool.Take(kLongestWait);
    if (!lease.ok()) return {sql::Ending::kFailed, lease.status()};
    sql::Outcome outcome = (*lease)->Run(begin, body);
    if (!(*lease)->is_usable()) lease->Drop();
    // After one has broken, the others have most likely broken too, and a request that goes on with one of
    // them would wait again.
    if (outcome.ending == sql::Ending::kUnknown) {
      for (Pool* const each : {&writers_, &readers_, &long_readers_, &migrators_}) each->DropIdle();
    }
    return outcome;
  }

  SilenceWatch watch_;  // outlives all connections
  Pool writers_;
  Pool readers_;
  Pool long_readers_;
  Pool migrators_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<sql::Database>> OpenPostgresDatabase(std::string_view url) {
  ASSIGN_OR_RETURN(const LedgerUrl parsed, ParseLedgerUrl(url));
  auto database = std::make_unique<PostgresDatabase>(parsed);
  RETURN_IF_ERROR(database->Connect());
  return database;
}

}  // namespace curator::ledger::postgres
