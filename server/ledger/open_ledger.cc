#include "ledger/open_ledger.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/postgres/postgres_database.h"
#include "ledger/sql/migrations.h"
#include "ledger/sql/sql_ledger.h"
#include "ledger/sqlite/sqlite_database.h"

namespace curator::ledger {
namespace {

constexpr std::string_view kSqliteScheme = "sqlite:";

bool HasPrefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

absl::StatusOr<const LedgerBackend*> BackendOf(std::string_view url) {
  std::string schemes;
  for (const LedgerBackend& backend : LedgerBackends()) {
    if (backend.accepts(url)) return &backend;
    absl::StrAppend(&schemes, schemes.empty() ? "" : " or ", std::string(backend.schemes));
  }
  return InvalidField("ledger", absl::StrCat("is not the URL of a ledger: write ", schemes));
}

}  // namespace

const std::vector<LedgerBackend>& LedgerBackends() {
  static const std::vector<LedgerBackend> backends = {
      {.name = "sqlite",
       .schemes = "sqlite:PATH",
       .accepts = [](std::string_view url) { return HasPrefix(url, kSqliteScheme); },
       .open =
           [](std::string_view url) { return sqlite::OpenSqliteDatabase(url.substr(kSqliteScheme.size())); },
       .default_anchor_dir =
           [](std::string_view url) {
             return absl::StrCat(std::string(url.substr(kSqliteScheme.size())), ".anchor");
           }},
      {.name = "postgres",
       .schemes = "postgresql://USER@HOST:PORT/DATABASE",
       .accepts =
           [](std::string_view url) {
             return HasPrefix(url, "postgresql://") || HasPrefix(url, "postgres://");
           },
       .open = postgres::OpenPostgresDatabase,
       .default_anchor_dir = [](std::string_view) { return std::string(); }},
  };
  return backends;
}

absl::StatusOr<std::unique_ptr<sql::Database>> OpenLedgerDatabase(std::string_view url) {
  ASSIGN_OR_RETURN(const LedgerBackend* const backend, BackendOf(url));
  return backend->open(url);
}

absl::StatusOr<std::string> AnchorDirOf(std::string_view url, std::string_view anchor_dir) {
  ASSIGN_OR_RETURN(const LedgerBackend* const backend, BackendOf(url));
  if (!anchor_dir.empty()) return std::string(anchor_dir);
  std::string beside = backend->default_anchor_dir(url);
  if (!beside.empty()) return beside;
  return InvalidField("anchor",
                      "is required: name a folder on a disk that is not restored together with the database");
}

absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const LedgerOptions& options) {
  ASSIGN_OR_RETURN(const std::string anchor_dir, AnchorDirOf(options.url, options.anchor_dir));
  ASSIGN_OR_RETURN(std::unique_ptr<sql::Database> database, OpenLedgerDatabase(options.url));
  ASSIGN_OR_RETURN(const std::vector<sql::Migration> pending,
                   sql::PendingMigrations(*database, sql::EmbeddedMigrations()));
  RETURN_IF_ERROR(sql::Migrate(*database, sql::EmbeddedMigrations(), options.report));
  ASSIGN_OR_RETURN(std::unique_ptr<sql::SqlLedger> ledger,
                   sql::SqlLedger::Open(std::move(database), anchor_dir, options.entropy, options.report));
  if (!pending.empty()) RETURN_IF_ERROR(ledger->VerifyAfterUpgrade());
  return ledger;
}

}  // namespace curator::ledger
