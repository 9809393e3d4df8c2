#include "audit/audit_store.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/open_ledger.h"
#include "ledger/pseudonyms/pseudonym.h"
#include "ledger/sql/migrations.h"

namespace curator::audit {
namespace {

namespace sql = ledger::sql;

constexpr std::string_view kSqlite = "sqlite:";
// Before the name of an analyst, in the name of its account (ledger/types.h, AccountName()).
constexpr std::string_view kOfAnalyst = "/analyst/";

constexpr char kColumns[] =
    "id, kind, time_us, server, principal, identity, credential_id, peer, method, dataset, decision, status, "
    "reason, request_id, count, since_us, full_accounts";

const std::vector<sql::Column>& Columns() {
  using sql::ColumnType;
  static const std::vector<sql::Column> columns = {
      {"id", ColumnType::kInteger},         {"kind", ColumnType::kText},
      {"time_us", ColumnType::kInteger},    {"server", ColumnType::kText},
      {"principal", ColumnType::kText},     {"identity", ColumnType::kText},
      {"credential_id", ColumnType::kText}, {"peer", ColumnType::kText},
      {"method", ColumnType::kText},        {"dataset", ColumnType::kText},
      {"decision", ColumnType::kText},      {"status", ColumnType::kInteger},
      {"reason", ColumnType::kText},        {"request_id", ColumnType::kText},
      {"count", ColumnType::kInteger},      {"since_us", ColumnType::kInteger},
      {"full_accounts", ColumnType::kText}};
  return columns;
}

sql::Parameters RowOfRecord(int64_t id, const AuditRecord& record) {
  return sql::RowOf(id, std::string(WordOf(record.kind)), record.time_us, record.server, record.principal,
                    std::string(WordOf(record.identity)), record.credential_id,
                    std::string(WordOf(record.peer)), record.method, record.dataset,
                    std::string(WordOf(record.decision)), static_cast<int64_t>(record.status), record.reason,
                    record.request_id, record.count, record.since_us, TextOf(record.full_accounts));
}

absl::StatusOr<AuditRecord> RecordOfRow(const sql::Row& row) {
  AuditRecord record;
  record.id = row.Integer(0);
  ASSIGN_OR_RETURN(record.kind, ParseRecordKind(row.Text(1)));
  record.time_us = row.Integer(2);
  record.server = row.Text(3);
  record.principal = row.Text(4);
  ASSIGN_OR_RETURN(record.identity, ParseIdentityKind(row.Text(5)));
  record.credential_id = row.Text(6);
  ASSIGN_OR_RETURN(record.peer, ParsePeerClass(row.Text(7)));
  record.method = row.Text(8);
  record.dataset = row.Text(9);
  ASSIGN_OR_RETURN(record.decision, ParseDecision(row.Text(10)));
  record.status = static_cast<absl::StatusCode>(row.Integer(11));
  record.reason = row.Text(12);
  record.request_id = row.Text(13);
  record.count = row.Integer(14);
  record.since_us = row.Integer(15);
  ASSIGN_OR_RETURN(record.full_accounts, ParseFullAccounts(row.Text(16)));
  return record;
}

// The records that one statement finds.
absl::StatusOr<std::vector<AuditRecord>> Read(sql::Database& database, std::string_view select,
                                              const sql::Parameters& parameters) {
  std::vector<AuditRecord> records;
  const sql::Outcome outcome = database.ReadOnce([&](sql::Transaction& transaction) -> absl::Status {
    records.clear();
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows, transaction.Execute(select, parameters));
    for (const sql::Row& row : rows) {
      ASSIGN_OR_RETURN(AuditRecord record, RecordOfRow(row));
      records.push_back(std::move(record));
    }
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(outcome.status);
  return records;
}

absl::StatusOr<int64_t> ReadNewestId(sql::Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                   transaction.Execute("SELECT COALESCE(MAX(id), 0) FROM audit", {}));
  return rows.at(0).Integer(0);
}

// Ids must grow in the order of commits, so that a follower misses none. Servers take turns by a lock of
// which charges know nothing; its number is arbitrary. SQLite has one writer anyway.
absl::Status WaitForTurn(sql::Transaction& transaction, const sql::Dialect& dialect) {
  if (sql::HasOneWriter(dialect)) return absl::OkStatus();
  return transaction.ExecuteScript("SELECT pg_advisory_xact_lock(7142030918)");
}

// Statements of one shape, of which each goes by another index: $1 to $4 say where the page is, and $5 whose
// records are looked at.
struct Selection {
  std::string select;
  sql::Parameters parameters;
};

Selection SelectionOf(const AuditFilter& filter, const AuditPlace& place, int64_t looked_at) {
  const AuditPlace from = std::min(place, AuditPlace{.time_us = filter.until_us, .id = 0});
  sql::Parameters parameters = sql::RowOf(filter.since_us, from.time_us, from.id, looked_at);
  std::string_view whose;
  if (!filter.principal.empty()) {
    whose = "principal = $5 AND principal <> '' AND ";
    parameters.emplace_back(filter.principal);
  } else if (!filter.dataset.empty()) {
    whose = "dataset = $5 AND dataset <> '' AND ";
    parameters.emplace_back(filter.dataset);
  }
  return {absl::StrCat("SELECT ", kColumns, " FROM audit WHERE ", std::string(whose),
                       "time_us >= $1 AND (time_us, id) < ($2, $3) ORDER BY time_us DESC, id DESC LIMIT $4"),
          std::move(parameters)};
}

// Whether the statement of SelectionOf() finds nothing but what the filter has.
bool GoesByAnIndexAlone(const AuditFilter& filter) {
  const bool has_both = !filter.principal.empty() && !filter.dataset.empty();
  return !has_both && filter.method.empty() && !filter.decision.has_value();
}

bool Has(const AuditFilter& filter, const AuditRecord& record) {
  return (filter.dataset.empty() || record.dataset == filter.dataset) &&
         (filter.method.empty() || record.method == filter.method) &&
         (!filter.decision.has_value() || record.decision == *filter.decision);
}

AuditPlace PlaceOf(const AuditRecord& record) {
  return {record.time_us, record.id};
}

// Adds records to others, of which the newest `most` stay, newest first. Both are newest first.
void AddNewest(std::vector<AuditRecord> more, int64_t most, std::vector<AuditRecord>& records) {
  records.insert(records.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  std::ranges::stable_sort(records, std::ranges::greater(), PlaceOf);
  if (std::cmp_greater(records.size(), most)) records.erase(records.begin() + most, records.end());
}

// In the place of a principal's name that nobody can tell any more.
constexpr char kUnknownPrincipal[] = "@unknown";

AuditRecord WithoutNames(AuditRecord record) {
  record.principal = kUnknownPrincipal;
  record.full_accounts.clear();
  return record;
}

// The schema of the file is a chain of migrations of its own, in the dialect of SQLite.
std::vector<sql::Migration> MigrationsOfTheFile() {
  std::vector<sql::Migration> migrations;
  for (const sql::Migration& each : sql::EmbeddedMigrations()) {
    if (each.dialect != "audit") continue;
    migrations.push_back(each);
    migrations.back().dialect = "sqlite";
  }
  return migrations;
}

absl::Status InFile(const std::string& file, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("the audit ", file, ": ", std::string(status.message())));
}

absl::StatusOr<std::unique_ptr<sql::Database>> OpenFile(const std::string& file) {
  absl::StatusOr<std::unique_ptr<sql::Database>> database =
      ledger::OpenLedgerDatabase(absl::StrCat(std::string(kSqlite), file));
  if (!database.ok()) return InFile(file, database.status());
  if (const absl::Status migrated = sql::Migrate(**database, MigrationsOfTheFile()); !migrated.ok()) {
    return InFile(file, migrated);
  }
  return database;
}

absl::StatusOr<AuditStore::Connect> ConnectOf(const std::string& ledger_url, std::string_view file) {
  if (!ledger_url.starts_with(kSqlite)) {
    if (file.empty()) return [ledger_url] { return ledger::OpenLedgerDatabase(ledger_url); };
    return InvalidField("audit.path", "is for a ledger in SQLite: in PostgreSQL the audit is a table of it");
  }
  namespace fs = std::filesystem;
  const fs::path ledger = fs::absolute(ledger_url.substr(kSqlite.size())).lexically_normal();
  const fs::path audit =
      file.empty() ? ledger.parent_path() / "audit.db" : fs::absolute(file).lexically_normal();
  if (audit == ledger) {
    return InvalidField("audit.path", absl::StrCat("must be another file than the ledger ", ledger.string()));
  }
  return [audit] { return OpenFile(audit.string()); };
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditStore>> AuditStore::Open(std::string_view ledger_url,
                                                             std::string_view file, ledger::Ledger* names) {
  ASSIGN_OR_RETURN(Connect connect, ConnectOf(std::string(ledger_url), file));
  auto store = std::make_unique<AuditStore>(std::move(connect), names);
  const absl::Status opened = store->Opened().status();
  if (!opened.ok() && !absl::IsUnavailable(opened)) return opened;
  return store;
}

absl::StatusOr<sql::Database*> AuditStore::Opened() {
  const absl::MutexLock lock(&mutex_);
  if (database_ == nullptr) {
    ASSIGN_OR_RETURN(database_, connect_());
  }
  return database_.get();
}

absl::StatusOr<std::string> AuditStore::AsStored(const std::string& principal) {
  if (names_ == nullptr) return principal;
  absl::StatusOr<std::string> stored = names_->PseudonymOf(principal);
  // No principal has this name.
  if (absl::IsInvalidArgument(stored.status())) return principal;
  return stored;
}

absl::StatusOr<std::vector<std::string>> AuditStore::NamesInRecords(const std::string& principal) {
  std::vector<std::string> names = {principal};
  if (names_ == nullptr || principal.empty()) return names;
  ASSIGN_OR_RETURN(std::string pseudonym, names_->FindPseudonym(principal));
  if (pseudonym != principal) names.push_back(std::move(pseudonym));
  return names;
}

absl::StatusOr<AuditRecord> AuditStore::AsStored(AuditRecord record) {
  ASSIGN_OR_RETURN(record.principal, AsStored(record.principal));
  for (FullAccount& full : record.full_accounts) {
    const size_t at = full.account.find(kOfAnalyst);
    if (at == std::string::npos) continue;
    const size_t begin = at + kOfAnalyst.size();
    ASSIGN_OR_RETURN(const std::string stored, AsStored(full.account.substr(begin)));
    full.account.replace(begin, std::string::npos, stored);
  }
  return record;
}

absl::StatusOr<std::vector<AuditRecord>> AuditStore::AsNamed(std::vector<AuditRecord> records) {
  if (names_ == nullptr) return records;
  std::vector<std::string> pseudonyms;
  for (const AuditRecord& record : records) {
    if (ledger::IsPseudonym(record.principal)) pseudonyms.push_back(record.principal);
    for (const FullAccount& full : record.full_accounts) {
      std::ranges::copy(ledger::PseudonymsIn(full.account), std::back_inserter(pseudonyms));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, names_->NamesOf(pseudonyms));
  std::map<std::string, std::string> name_of;
  for (size_t i = 0; i < pseudonyms.size(); ++i) name_of[pseudonyms[i]] = names.at(i);
  const auto named = [&](std::string_view text) {
    return ledger::WithNames(text, [&](const std::string& pseudonym) { return name_of.at(pseudonym); });
  };
  for (AuditRecord& record : records) {
    if (ledger::IsPseudonym(record.principal)) record.principal = name_of.at(record.principal);
    for (FullAccount& full : record.full_accounts) full.account = named(full.account);
  }
  return records;
}

absl::Status AuditStore::Append(const std::vector<AuditRecord>& records) {
  ASSIGN_OR_RETURN(sql::Database* const database, Opened());
  std::vector<AuditRecord> stored;
  stored.reserve(records.size());
  for (const AuditRecord& record : records) {
    absl::StatusOr<AuditRecord> each = AsStored(record);
    // The row of one pseudonym was changed: the records of others are stored all the same.
    if (absl::IsDataLoss(each.status())) each = WithoutNames(record);
    RETURN_IF_ERROR(each.status());
    stored.push_back(*std::move(each));
  }
  const sql::Outcome outcome = database->Write([&](sql::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(WaitForTurn(transaction, database->dialect()));
    ASSIGN_OR_RETURN(int64_t id, ReadNewestId(transaction));
    std::vector<sql::Parameters> rows;
    rows.reserve(records.size());
    for (const AuditRecord& record : stored) rows.push_back(RowOfRecord(++id, record));
    return transaction.InsertRows("audit", Columns(), rows);
  });
  return outcome.status;
}

absl::StatusOr<AuditPage> AuditStore::List(const AuditFilter& filter, const AuditPlace& place,
                                           int64_t limit) {
  ASSIGN_OR_RETURN(sql::Database* const database, Opened());
  const int64_t looked_at = GoesByAnIndexAlone(filter) ? limit : std::max(limit, kMostLookedAt);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInRecords(filter.principal));
  std::vector<AuditRecord> found;
  for (const std::string& name : names) {
    AuditFilter stored = filter;
    stored.principal = name;
    const Selection selection = SelectionOf(stored, place, looked_at);
    ASSIGN_OR_RETURN(std::vector<AuditRecord> more, Read(*database, selection.select, selection.parameters));
    AddNewest(std::move(more), looked_at, found);
  }
  AuditPage page;
  if (std::cmp_equal(found.size(), looked_at)) page.next = PlaceOf(found.back());
  for (AuditRecord& record : found) {
    if (!Has(filter, record)) continue;
    if (std::cmp_equal(page.records.size(), limit)) {
      page.next = PlaceOf(page.records.back());
      break;
    }
    page.records.push_back(std::move(record));
  }
  ASSIGN_OR_RETURN(page.records, AsNamed(std::move(page.records)));
  return page;
}

absl::StatusOr<AuditPage> AuditStore::ListBudgetRefusals(std::string_view dataset, std::string_view principal,
                                                         const AuditPlace& place, int64_t limit) {
  ASSIGN_OR_RETURN(sql::Database* const database, Opened());
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInRecords(std::string(principal)));
  const std::string select =
      absl::StrCat("SELECT ", kColumns, " FROM audit WHERE dataset = $1 AND full_accounts <> '' AND ",
                   principal.empty() ? "" : "principal = $5 AND ",
                   "(time_us, id) < ($2, $3) ORDER BY time_us DESC, id DESC LIMIT $4");
  AuditPage page;
  for (const std::string& name : names) {
    sql::Parameters parameters = sql::RowOf(std::string(dataset), place.time_us, place.id, limit);
    if (!name.empty()) parameters.emplace_back(name);
    ASSIGN_OR_RETURN(std::vector<AuditRecord> more, Read(*database, select, parameters));
    AddNewest(std::move(more), limit, page.records);
  }
  if (std::cmp_equal(page.records.size(), limit)) page.next = PlaceOf(page.records.back());
  ASSIGN_OR_RETURN(page.records, AsNamed(std::move(page.records)));
  return page;
}

absl::StatusOr<std::vector<AuditRecord>> AuditStore::ReadAfter(int64_t id, int64_t limit) {
  ASSIGN_OR_RETURN(sql::Database* const database, Opened());
  static const std::string select =
      absl::StrCat("SELECT ", kColumns, " FROM audit WHERE id > $1 ORDER BY id LIMIT $2");
  ASSIGN_OR_RETURN(std::vector<AuditRecord> records, Read(*database, select, {id, limit}));
  return AsNamed(std::move(records));
}

absl::StatusOr<int64_t> AuditStore::NewestId() {
  ASSIGN_OR_RETURN(sql::Database* const database, Opened());
  int64_t newest = 0;
  const sql::Outcome outcome = database->ReadOnce([&](sql::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(newest, ReadNewestId(transaction));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(outcome.status);
  return newest;
}

absl::StatusOr<int64_t> AuditStore::RemoveNames(int64_t before_us, int64_t most) {
  ASSIGN_OR_RETURN(sql::Database* const database, Opened());
  int64_t removed = 0;
  const sql::Outcome outcome = database->Write([&](sql::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                     transaction.Execute(
                         "UPDATE audit SET principal = '', credential_id = '', request_id = '' WHERE id IN "
                         "(SELECT id FROM audit WHERE time_us < $1 AND (principal <> '' OR credential_id "
                         "<> '' OR request_id <> '') ORDER BY time_us LIMIT $2) RETURNING id",
                         {before_us, most}));
    removed = static_cast<int64_t>(rows.size());
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(outcome.status);
  return removed;
}

}  // namespace curator::audit
