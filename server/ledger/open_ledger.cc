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

absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const LedgerOptions& options) {
  std::string schemes;
  for (const LedgerBackend& backend : LedgerBackends()) {
    if (!backend.accepts(options.url)) {
      absl::StrAppend(&schemes, schemes.empty() ? "" : " or ", std::string(backend.schemes));
      continue;
    }
    const std::string anchor_dir =
        options.anchor_dir.empty() ? backend.default_anchor_dir(options.url) : options.anchor_dir;
    if (anchor_dir.empty()) {
      return InvalidField("anchor",
                          "name a folder for the anchor, on a disk that is not restored with the database");
    }
    ASSIGN_OR_RETURN(std::unique_ptr<sql::Database> database, backend.open(options.url));
    RETURN_IF_ERROR(sql::Migrate(*database, sql::EmbeddedMigrations()));
    return sql::SqlLedger::Open(std::move(database), anchor_dir, options.entropy);
  }
  return InvalidField("ledger", absl::StrCat("write ", schemes));
}

}  // namespace curator::ledger
