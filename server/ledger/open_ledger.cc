#include "ledger/open_ledger.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/anchor/anchor_directory.h"
#include "ledger/postgres/postgres_database.h"
#include "ledger/pseudonymous_ledger.h"
#include "ledger/sql/migrations.h"
#include "ledger/sql/rights.h"
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

namespace {

struct LedgerContents {
  std::string uuid;  // empty until a server has opened the ledger
  bool has_history = false;
};

absl::StatusOr<LedgerContents> ContentsOf(sql::Database& database) {
  LedgerContents contents;
  const sql::Outcome read = database.Read([&](sql::Transaction& transaction) -> absl::Status {
    contents = {};
    ASSIGN_OR_RETURN(const std::vector<sql::Row> identity,
                     transaction.Execute("SELECT ledger_uuid FROM ledger_identity", {}));
    if (!identity.empty()) contents.uuid = identity.front().Text(0);
    for (const char* select :
         {"SELECT id FROM datasets LIMIT 1", "SELECT kind FROM server_entries LIMIT 1"}) {
      ASSIGN_OR_RETURN(const std::vector<sql::Row> rows, transaction.Execute(select, {}));
      contents.has_history = contents.has_history || !rows.empty();
    }
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(read.status);
  return contents;
}

// What an old history without its anchor, or a new ledger beside the remains of another, would hide. The
// anchor's folder is read before the ledger: a server that starts beside this one writes its identity first.
absl::Status CheckBelongsTogether(sql::Database& database, const std::string& anchor_dir,
                                  const LedgerOptions& options) {
  ASSIGN_OR_RETURN(const std::set<std::string> anchored, AnchorDirectory::LedgersIn(anchor_dir));
  ASSIGN_OR_RETURN(const LedgerContents contents, ContentsOf(database));
  // An anchor of this ledger is here: an earlier start was accepted.
  if (anchored.count(contents.uuid) > 0) return absl::OkStatus();
  const std::string url = UrlWithoutPassword(options.url);
  if (contents.has_history) {
    const std::string finding = absl::StrCat("the ledger ", url, " has a history, and ", anchor_dir,
                                             " has no anchor of it, so a restored backup, which would reset "
                                             "budgets and enable disabled principals, cannot be detected");
    Notify(options.report, "missing_anchor", finding);
    if (options.accept_missing_anchor) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        finding,
        ". Bring the anchor's folder back (is its disk mounted?), or, if it is lost for good and the "
        "database is the newest copy, start once with --accept-missing-anchor"));
  }
  if (anchored.empty() && options.kept_datasets.empty()) return absl::OkStatus();
  const std::string finding =
      absl::StrCat("the ledger ", url, " is empty, and there is what is left of another one: ",
                   anchored.empty() ? "records in " : "anchors in ",
                   anchored.empty() ? options.kept_datasets : anchor_dir);
  Notify(options.report, "new_ledger_beside_another", finding);
  if (options.init) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      finding,
      ". A new ledger would forget what was spent. Is --ledger misspelt, or its disk not mounted? To "
      "begin a new ledger here, start once with --init"));
}

}  // namespace

std::string UrlWithoutPassword(std::string_view url) {
  std::string text(url);
  const size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const size_t begin = scheme + 3;
  // A password may contain "@" and "?", and the query a password, under a keyword with encoded letters.
  const size_t at = text.rfind('@', text.find('/', begin));
  const bool has_user = at != std::string::npos && at >= begin;
  const size_t colon = text.find(':', begin);
  text.resize(std::min(text.size(), text.find('?', has_user ? at : begin)));
  return has_user && colon < at ? absl::StrCat(text.substr(0, colon), text.substr(at)) : text;
}

absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const LedgerOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<sql::SqlLedger> stored, OpenStoredLedger(options));
  PseudonymTable& table = *stored;
  return std::make_unique<PseudonymousLedger>(std::move(stored), table, options.entropy);
}

absl::StatusOr<std::unique_ptr<sql::SqlLedger>> OpenStoredLedger(const LedgerOptions& options) {
  ASSIGN_OR_RETURN(const std::string anchor_dir, AnchorDirOf(options.url, options.anchor_dir));
  ASSIGN_OR_RETURN(std::unique_ptr<sql::Database> database, OpenLedgerDatabase(options.url));
  RETURN_IF_ERROR(sql::Migrate(*database, sql::EmbeddedMigrations(), options.report));
  RETURN_IF_ERROR(sql::CheckRights(*database, options.report));
  RETURN_IF_ERROR(CheckBelongsTogether(*database, anchor_dir, options));
  return sql::SqlLedger::Open(
      std::move(database), anchor_dir, options.entropy,
      {.amount_text = options.amount_text, .report = options.report, .observer = options.observer});
}

}  // namespace curator::ledger
