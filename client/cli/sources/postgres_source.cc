#include "client/cli/sources/postgres_source.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>
#include <pqxx/connection>
#include <pqxx/errorhandler>
#include <pqxx/except>
#include <pqxx/nontransaction>
#include <pqxx/result>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/postgres_url.h"
#include "base/status_macros.h"
#include "client/cli/sources/row_condition.h"

namespace curator::cli {
namespace {

constexpr int kOldestServer = 100000;  // PostgreSQL 10

// The system notices a host that has vanished. A standby will do.
constexpr char kConnectionDefaults[] =
    "connect_timeout=10&fallback_application_name=curator&keepalives_idle=5&keepalives_interval=3&"
    "keepalives_count=3&tcp_user_timeout=12000";

// What the text of values depends on, and bounds for how long a statement runs and an idle session is kept.
// The server of the dataset may be slow to take rows.
constexpr char kBegin[] =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    "SET LOCAL client_encoding = 'UTF8'; SET LOCAL client_min_messages = error;"
    "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = iso_8601; SET LOCAL TimeZone = 'UTC';"
    "SET LOCAL bytea_output = hex; SET LOCAL lc_monetary = 'C'; SET LOCAL standard_conforming_strings = on;"
    "SET LOCAL transform_null_equals = off; SET LOCAL synchronize_seqscans = off;"
    "SET LOCAL cursor_tuple_fraction = 1; SET LOCAL statement_timeout = '30min';"
    "SET LOCAL lock_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = '30min';"
    "SET LOCAL extra_float_digits = ";

// A table is read as a whole, or not at all; the operators of a condition are those of PostgreSQL.
constexpr char kForTable[] = "SET LOCAL row_security = off; SET LOCAL search_path = pg_catalog";

// How many rows are fetched at once.
constexpr size_t kFirstRows = 100;
constexpr size_t kMostRows = 1000;
constexpr size_t kBytesAtOnce = size_t{1} << 20;

// ---- Errors

struct StateMeaning {
  std::string_view prefix;  // of SQLSTATEs: five characters, or the two of a class
  std::string_view meaning;
};
// The first that fits counts.
constexpr StateMeaning kMeanings[] = {
    {"08", "the connection to the database was lost"},
    {"0A", "the database does not support this"},
    {"22P02", "a value is not of the type of the column that it is compared with or converted to"},
    {"22", "a value does not fit its type or its function"},
    {"25006", "it would change the database, which is only read here"},
    {"25", "the transaction ended before all rows were read"},
    {"28", "the database does not accept this identity"},
    {"3D", "there is no such database"},
    {"3F", "there is no such schema"},
    {"40", "the database ended the transaction in favour of another"},
    {"42501", "this identity may not read it"},
    {"42601", "the query is not correct SQL, or is not one statement"},
    {"42702", "a name of a column means several columns"},
    {"42703", "there is no such column"},
    {"42883", "there is no such function or operator for these types"},
    {"42P01", "there is no such table"},
    {"42", "the query is not valid: its syntax, names, types or rights"},
    {"53300", "the database has too many connections"},
    {"53", "the database is short of memory, disk space or connections"},
    {"54", "the query is too large"},
    {"55P03", "another transaction holds a lock on it"},
    {"57014", "it took too long and was ended"},
    {"57", "the database is shutting down or was stopped"},
    {"58", "the database could not read its files"},
    {"P0", "a function of the database refused it"},
    {"XX", "the database found an error or damage of its own"},
};

// Of a message of the library in the form that names it: "ERROR:  42P01: relation ...".
std::string StateIn(std::string_view message) {
  const size_t colon = message.find(":  ");
  if (colon == std::string_view::npos) return "";
  const std::string_view rest = message.substr(colon + 3);
  constexpr size_t kLength = 5;
  const std::string_view state = rest.substr(0, kLength);
  const bool is_state =
      rest.size() > kLength && rest[kLength] == ':' &&
      state.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos;
  return is_state ? std::string(state) : "";
}

absl::StatusCode CodeOfState(std::string_view state) {
  if (state.starts_with("28") || state == "42501") return absl::StatusCode::kPermissionDenied;
  if (state.starts_with("22") || state.starts_with("42")) return absl::StatusCode::kInvalidArgument;
  return absl::StatusCode::kFailedPrecondition;
}

absl::Status DatabaseError(std::string_view state, std::string_view doing) {
  if (state.empty()) state = "08006";
  return {CodeOfState(state),
          absl::StrCat("the database failed while ", std::string(doing), ": ", DescribeSqlState(state))};
}

// Runs `call` and returns what its exception says.
template <typename Call>
absl::Status Caught(std::string_view doing, const Call& call) {
  try {
    call();
    return absl::OkStatus();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const pqxx::sql_error& error) {
    const std::string state = StateIn(error.what());
    return DatabaseError(state.empty() ? error.sqlstate() : state, doing);
  } catch (const std::exception& error) {
    return DatabaseError(StateIn(error.what()), doing);
  }
}

absl::Status FromError(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--from ", std::string(what)));
}

absl::StatusOr<PostgresUrl> ParsedUrl(std::string_view url) {
  absl::StatusOr<PostgresUrl> parsed = ParsePostgresUrl(url);
  if (!parsed.ok()) return FromError(std::string(parsed.status().message()));
  return parsed;
}

// ---- The session

// A connection in its transaction.
class PostgresSession {
 public:
  static absl::StatusOr<std::unique_ptr<PostgresSession>> Open(std::string_view url) {
    ASSIGN_OR_RETURN(const PostgresUrl parsed, ParsedUrl(url));
    std::string connection = UrlWithDefaults(parsed, kConnectionDefaults);
    if (!parsed.options.empty()) absl::StrAppend(&connection, "&options=", PercentEncoded(parsed.options));
    std::unique_ptr<PostgresSession> session;
    try {
      session.reset(new PostgresSession(connection));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return NotOpened(error.what(), parsed.where);
    }
    if (session->version() < kOldestServer) return FromError("names a server older than PostgreSQL 10");
    RETURN_IF_ERROR(session->Begin());
    return session;
  }

  // Ends the transaction and begins another, whose rows are those of its first query's moment.
  absl::Status BeginAgain() {
    RETURN_IF_ERROR(Run("beginning to read", "ROLLBACK"));
    return Begin();
  }

  // Runs statements without parameters. An error has `doing` for what was done.
  absl::Status Run(std::string_view doing, const std::string& statements) {
    return Caught(doing, [&] { session_.exec(statements); });
  }

  // Runs one statement. More than one are an error of the database, too.
  absl::StatusOr<pqxx::result> Query(std::string_view doing, const std::string& statement,
                                     const std::vector<std::string>& values = {}) {
    pqxx::result result;
    RETURN_IF_ERROR(Caught(doing, [&] {
      result = session_.exec_params(statement, pqxx::prepare::make_dynamic_params(values));
    }));
    return result;
  }

 private:
  explicit PostgresSession(const std::string& url)
      : connection_(url), quiet_(connection_), session_(connection_) {
#include "pqxx/internal/ignore-deprecated-pre.hxx"
    connection_.inhibit_reactivation(true);
#include "pqxx/internal/ignore-deprecated-post.hxx"
    connection_.set_verbosity(pqxx::connection_base::verbose);  // with the SQLSTATE
  }

  absl::Status Begin() {
    return Run("beginning to read", absl::StrCat(kBegin, FloatDigits()));
  }

  int version() const {
    return connection_.server_version();
  }
  // As many as it takes to read the same number back.
  int FloatDigits() const {
    return version() < 120000 ? 3 : 1;
  }

  // The library's words for a connection that was not made: hosts, the database and the user, but no values.
  static absl::Status NotOpened(std::string_view message, const std::string& where) {
    std::string line =
        absl::StrReplaceAll(absl::string_view(message.data(), message.size()), {{"\n", " "}, {"\t", " "}});
    while (line.ends_with(' ')) line.pop_back();
    if (line.starts_with("invalid ")) return FromError(absl::StrCat("is malformed: ", line));
    const char* const advice = absl::StrContains(line, "password")
                                   ? ". A password is read from ~/.pgpass, the file that PGPASSFILE names, a "
                                     "service file, or PGPASSWORD"
                                   : "";
    return absl::FailedPreconditionError(
        absl::StrCat("the database does not answer at ", where, ": ", line, advice));
  }

  pqxx::connection connection_;
  const pqxx::quiet_errorhandler quiet_;
  pqxx::nontransaction session_;
};

// ---- Rows

CellType CellTypeOf(pqxx::oid type) {
  switch (type) {
    case 16:
      return CellType::kBoolean;
    case 700:   // float4
    case 701:   // float8
    case 1700:  // numeric
      return CellType::kNumber;
    case 1184:  // timestamp with time zone
      return CellType::kInstant;
    default:
      return CellType::kText;
  }
}

class PostgresSource final : public CsvSource {
 public:
  // `select` is one statement, with `values` for its $1, $2, ...
  static absl::StatusOr<std::unique_ptr<CsvSource>> Open(std::unique_ptr<PostgresSession> session,
                                                         const std::string& select,
                                                         const std::vector<std::string>& values,
                                                         const CsvForm& form, std::string_view doing) {
    RETURN_IF_ERROR(
        session->Query(doing, absl::StrCat("DECLARE curator_rows NO SCROLL CURSOR FOR ", select), values)
            .status());
    std::unique_ptr<PostgresSource> source(new PostgresSource(std::move(session), doing));
    ASSIGN_OR_RETURN(const pqxx::result first, source->Fetch());
    std::vector<std::string> names;
    std::vector<CellType> types;
    for (pqxx::row::size_type column = 0; column < first.columns(); ++column) {
      names.emplace_back(first.column_name(column));
      types.push_back(CellTypeOf(first.column_type(column)));
    }
    if (names.empty()) return absl::InvalidArgumentError("the query has no columns");
    source->lines_.emplace(form, names, types);
    source->Append(first);
    return source;
  }

  absl::StatusOr<std::string> NextLines() override {
    if (lines_->size() == 0 && !is_at_end_) {
      ASSIGN_OR_RETURN(const pqxx::result rows, Fetch());
      Append(rows);
    }
    return lines_->Take();
  }

 private:
  PostgresSource(std::unique_ptr<PostgresSession> session, std::string_view doing)
      : session_(std::move(session)), doing_(doing) {}

  absl::StatusOr<pqxx::result> Fetch() {
    return session_->Query(doing_, absl::StrCat("FETCH FORWARD ", rows_at_once_, " FROM curator_rows"));
  }

  void Append(const pqxx::result& rows) {
    const size_t before = lines_->size();
    for (const pqxx::row& row : rows) {
      for (const pqxx::field& field : row) {
        if (field.is_null()) {
          lines_->AppendNull();
        } else {
          lines_->AppendCell(std::string_view(field.c_str(), field.size()));
        }
      }
    }
    is_at_end_ = static_cast<size_t>(rows.size()) < rows_at_once_;
    if (rows.empty()) return;
    const size_t bytes_of_a_row = (lines_->size() - before) / static_cast<size_t>(rows.size()) + 1;
    rows_at_once_ = std::clamp(kBytesAtOnce / bytes_of_a_row, size_t{1}, kMostRows);
  }

  const std::unique_ptr<PostgresSession> session_;
  const std::string doing_;
  std::optional<CsvLines> lines_;
  size_t rows_at_once_ = kFirstRows;
  bool is_at_end_ = false;
};

// ---- Tables

// "people", "clinic.people", "\"My schema\".people": one name or two.
absl::StatusOr<std::vector<std::string>> NamesIn(std::string_view table) {
  const absl::Status malformed = absl::InvalidArgumentError(
      "--table is not SCHEMA.TABLE; a name with other characters than letters, digits and _ goes in double "
      "quotes");
  std::vector<std::string> names(1);
  bool is_quoted = false;
  for (size_t i = 0; i < table.size(); ++i) {
    const char c = table[i];
    if (c == '"') {
      const bool is_doubled = is_quoted && i + 1 < table.size() && table[i + 1] == '"';
      if (is_doubled) {
        names.back() += '"';
        ++i;
      } else {
        is_quoted = !is_quoted;
      }
    } else if (c == '.' && !is_quoted) {
      names.emplace_back();
    } else if (c == '\0') {
      return malformed;
    } else {
      names.back() += c;
    }
  }
  const bool has_empty =
      std::any_of(names.begin(), names.end(), [](const auto& name) { return name.empty(); });
  if (is_quoted || has_empty || names.size() > 2) return malformed;
  return names;
}

struct TableFacts {
  std::string oid;
  std::string name;  // quoted, with its schema
};

absl::Status NotRowByRow(const std::string& table, std::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--table ", table, " ", std::string(reason),
      ": one person may change the rows of others in it. Name an ordinary table; or read it with --query and "
      "--yes, and then the guarantee is about the imported rows, not about the people"));
}

const char* KindOfRelation(std::string_view relkind) {
  if (relkind == "v") return "is a view";
  if (relkind == "m") return "is a materialized view";
  if (relkind == "f") return "is a foreign table";
  return "is no table";
}

// The table, if each of its rows depends on nothing but itself.
absl::StatusOr<TableFacts> CheckedTable(PostgresSession& session, const TableChoice& choice) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(choice.table));
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(QuotedName(name));
  constexpr char kFacts[] =
      "SELECT c.oid, n.nspname, c.relname, c.relkind, pg_catalog.row_security_active(c.oid),"
      " n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')"
      " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
      " WHERE c.oid = pg_catalog.to_regclass($1)";
  ASSIGN_OR_RETURN(const pqxx::result facts,
                   session.Query("looking for the table", kFacts, {absl::StrJoin(quoted, ".")}));
  if (facts.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no table ", choice.table,
                     names.size() == 1 ? " in the search path of this database; write SCHEMA.TABLE"
                                       : " in this database; names are written exactly as they are there"));
  }
  const pqxx::row row = facts[0];
  const std::string relkind = row[3].c_str();
  if (relkind != "r" && relkind != "p") return NotRowByRow(choice.table, KindOfRelation(relkind));
  if (std::string_view(row[5].c_str()) == "t") return NotRowByRow(choice.table, "is a table of the system");
  if (std::string_view(row[4].c_str()) == "t") {
    return NotRowByRow(choice.table, "has row security, whose policies may read other rows");
  }
  // Partitions and tables that inherit from it are read with it.
  constexpr char kBelow[] =
      "WITH RECURSIVE below(oid) AS (SELECT $1::oid UNION"
      " SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN below ON i.inhparent = below.oid)"
      " SELECT 1 FROM below JOIN pg_catalog.pg_class c ON c.oid = below.oid"
      " WHERE c.relkind NOT IN ('r', 'p') LIMIT 1";
  ASSIGN_OR_RETURN(const pqxx::result other_kinds,
                   session.Query("looking for the table", kBelow, {row[0].c_str()}));
  if (!other_kinds.empty()) return NotRowByRow(choice.table, "has a part that is a foreign table");
  return TableFacts{row[0].c_str(),
                    absl::StrCat(QuotedName(row[1].c_str()), ".", QuotedName(row[2].c_str()))};
}

absl::Status CheckColumns(PostgresSession& session, const TableFacts& table,
                          const std::vector<std::string>& columns, std::string_view chosen_by) {
  constexpr char kColumns[] =
      "SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND NOT "
      "attisdropped";
  ASSIGN_OR_RETURN(const pqxx::result rows, session.Query("looking for the columns", kColumns, {table.oid}));
  std::set<std::string> known;
  for (const pqxx::row& row : rows) known.insert(row[0].c_str());
  std::vector<std::string> unknown;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(unknown),
               [&known](const std::string& column) { return !known.contains(column); });
  if (unknown.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the table lacks ", absl::StrJoin(unknown, ", "), ", which ",
                                                 std::string(chosen_by), " names; it has ",
                                                 absl::StrJoin(known, ", ")));
}

}  // namespace

std::string DescribeSqlState(std::string_view sqlstate) {
  const auto* const found =
      std::find_if(std::begin(kMeanings), std::end(kMeanings),
                   [&](const StateMeaning& known) { return sqlstate.starts_with(known.prefix); });
  const std::string_view meaning =
      found == std::end(kMeanings) ? "an error that the manual of PostgreSQL describes" : found->meaning;
  return absl::StrCat("SQLSTATE ", std::string(sqlstate), ": ", std::string(meaning));
}

absl::Status CheckDatabaseUrl(std::string_view url) {
  return ParsedUrl(url).status();
}

absl::StatusOr<std::unique_ptr<CsvSource>> OpenPostgresTable(std::string_view url, const TableChoice& choice,
                                                             const CsvForm& form) {
  RowCondition where;
  if (!choice.where.empty()) {
    ASSIGN_OR_RETURN(where, ParseRowCondition(choice.where));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresSession> session, PostgresSession::Open(url));
  // Its kind cannot change once it is locked. The lock comes first in its transaction: to one whose moment is
  // earlier, a table that is rewritten while the lock is awaited would be empty.
  ASSIGN_OR_RETURN(const TableFacts before, CheckedTable(*session, choice));
  RETURN_IF_ERROR(session->BeginAgain());
  RETURN_IF_ERROR(session->Run("locking the table against changes of its kind",
                               absl::StrCat("LOCK TABLE ", before.name, " IN ACCESS SHARE MODE")));
  ASSIGN_OR_RETURN(const TableFacts table, CheckedTable(*session, choice));
  RETURN_IF_ERROR(session->Run("beginning to read", kForTable));
  const std::vector<std::string>& columns = choice.columns.empty() ? form.columns : choice.columns;
  RETURN_IF_ERROR(
      CheckColumns(*session, table, columns, choice.columns.empty() ? "the dataset's schema" : "--columns"));
  RETURN_IF_ERROR(CheckColumns(*session, table, where.columns, "--where"));
  std::vector<std::string> quoted;
  for (const std::string& column : columns) quoted.push_back(QuotedName(column));
  const std::string select = absl::StrCat("SELECT ", absl::StrJoin(quoted, ", "), " FROM ", table.name,
                                          where.sql.empty() ? "" : " WHERE ", where.sql);
  return PostgresSource::Open(std::move(session), select, where.values, form, "reading the table");
}

absl::StatusOr<std::unique_ptr<CsvSource>> OpenPostgresQuery(std::string_view url, const std::string& query,
                                                             const CsvForm& form) {
  if (query.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("--query contains a character with the code 0");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresSession> session, PostgresSession::Open(url));
  return PostgresSource::Open(std::move(session), query, {}, form, "running the query");
}

}  // namespace curator::cli
