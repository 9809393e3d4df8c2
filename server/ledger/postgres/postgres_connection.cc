#include "ledger/postgres/postgres_connection.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "ledger/postgres/wire_format.h"
#include "ledger/sql/store_errors.h"

namespace curator::ledger::postgres {
namespace {

constexpr int kBinaryResult = 1;
constexpr char kDiskFull[] = "53100";

// The timeouts bound how long a stopped server keeps a row locked and how long a query waits. Every query has
// an index, which a plan made while a table was small must not ignore (docs/adr/0009).
constexpr char kSettings[] =
    "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET "
    "plan_cache_mode = force_generic_plan; "
    "SET client_min_messages = warning; SET idle_in_transaction_session_timeout = '30s'; "
    "SET lock_timeout = '20s'; SET statement_timeout = '120s'";

bool IsOneOf(const std::string& state, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return absl::StartsWith(state, prefix); });
}

// A message of the server or of the library without line ends.
std::string OneLine(const char* message) {
  std::string line = absl::StrReplaceAll(message == nullptr ? "" : message, {{"\n", " "}, {"\t", " "}});
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// The five characters of a failed result's SQLSTATE; empty when the connection broke.
std::string SqlStateOf(const PGresult* result) {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

// How a transaction that failed with this SQLSTATE has ended (appendix A of PostgreSQL's manual).
sql::Ending EndingOf(const std::string& state) {
  // serialization_failure, deadlock_detected, unique_violation
  if (IsOneOf(state, {"40001", "40P01", "23505"})) return sql::Ending::kConflict;
  // No state: the connection broke. 08: connection exceptions; 40003: statement_completion_unknown; 57P:
  // shutdown, crash, still starting; 25P03: cut after idling in a transaction; 58: input or output failed
  // below the server.
  if (state.empty() || IsOneOf(state, {"08", "40003", "57P", "25P03", "58"})) return sql::Ending::kUnknown;
  return sql::Ending::kFailed;
}

absl::StatusCode StatusCodeOf(const std::string& state) {
  if (EndingOf(state) == sql::Ending::kConflict) return absl::StatusCode::kAborted;
  if (EndingOf(state) == sql::Ending::kUnknown) return absl::StatusCode::kUnavailable;
  // 53: disk full, out of memory, too many connections; 55P03 and 57014: waited too long; 25006: became a
  // standby.
  if (IsOneOf(state, {"53", "55P03", "57014", "25006"})) return absl::StatusCode::kUnavailable;
  if (IsOneOf(state, {"42501", "28", "3D000"})) return absl::StatusCode::kFailedPrecondition;
  if (IsOneOf(state, {"XX001", "XX002"})) return absl::StatusCode::kDataLoss;
  return absl::StatusCode::kInternal;
}

absl::StatusOr<std::string> WhereOf(const std::string& url) {
  char* error = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &error);
  if (options == nullptr) {
    // The library's message repeats parts of the URL, which may hold a password.
    PQfreemem(error);
    return absl::InvalidArgumentError(
        "the ledger's URL is malformed: write postgresql://USER@HOST:PORT/DATABASE");
  }
  std::string host = "the local socket";
  std::string port = "5432";
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    if (std::string_view(option->keyword) == "host") host = option->val;
    if (std::string_view(option->keyword) == "port") port = option->val;
  }
  PQconninfoFree(options);
  return absl::StrCat("host ", host, ", port ", port);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresConnection::Open(const std::string& url) {
  ASSIGN_OR_RETURN(const std::string where, WhereOf(url));
  // The URL can override the keywords before dbname.
  constexpr std::array<const char*, 5> keywords = {"connect_timeout", "fallback_application_name", "dbname",
                                                   "client_encoding", nullptr};
  const std::array<const char*, 5> values = {"10", "curatord", url.c_str(), "UTF8", nullptr};
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(PQconnectdbParams(keywords.data(), values.data(), 1)));
  PGconn* raw = connection->connection_.get();
  if (PQstatus(raw) != CONNECTION_OK) {
    return sql::HideStore(absl::UnavailableError(
        absl::StrCat("the PostgreSQL ledger does not answer at ", where, ": ", OneLine(PQerrorMessage(raw)),
                     ". Start the server there, or give another --ledger")));
  }
  PQsetNoticeProcessor(
      raw, [](void*, const char*) {}, nullptr);
  RETURN_IF_ERROR(connection->ExecuteScript(kSettings));
  RETURN_IF_ERROR(connection->CheckDurability());
  RETURN_IF_ERROR(connection->CheckCollation());
  return connection;
}

absl::Status PostgresConnection::CheckCollation() {
  // Earlier servers do not record the version.
  constexpr int kRecordsVersions = 150000;
  if (PQserverVersion(connection_.get()) < kRecordsVersions) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      const std::vector<sql::Row> rows,
      Execute("SELECT CAST(datname AS TEXT), datcollversion, pg_database_collation_actual_version(oid) "
              "FROM pg_database WHERE datname = current_database() "
              "AND datcollversion <> pg_database_collation_actual_version(oid)",
              {}));
  if (rows.empty()) return absl::OkStatus();
  const sql::Row& row = rows.front();
  return sql::HideStore(absl::FailedPreconditionError(absl::StrCat(
      "the PostgreSQL database ", row.Text(0), " was sorted by version ", row.Text(1),
      " of its collation, and this server provides version ", row.Text(2),
      ": an index may no longer find what it holds, and a request could be charged twice. As the database's "
      "owner "
      "run REINDEX DATABASE ",
      row.Text(0), ", then ALTER DATABASE ", row.Text(0), " REFRESH COLLATION VERSION, and start again")));
}

absl::Status PostgresConnection::CheckDurability() {
  ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                   Execute("SELECT current_setting('fsync'), current_setting('full_page_writes'), "
                           "current_setting('synchronous_commit'), pg_is_in_recovery()",
                           {}));
  const sql::Row& row = rows.at(0);
  if (row.Integer(3) != 0) {
    static constexpr char kStandby[] =
        "the PostgreSQL server is a standby in recovery: charges are decided on the primary only";
    return sql::HideStore(absl::UnavailableError(kStandby));  // not covered: no test has a standby
  }
  constexpr std::array<const char*, 3> kNames = {"fsync", "full_page_writes", "synchronous_commit"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (row.Text(i) != "off") continue;
    return sql::HideStore(absl::FailedPreconditionError(
        absl::StrCat("the PostgreSQL server has ", kNames[i],
                     " = off and could lose a charge that it has acknowledged: set it to on")));
  }
  return absl::OkStatus();
}

sql::Outcome PostgresConnection::Run(const char* begin, const sql::Body& body) {
  failure_ = sql::Ending::kDone;
  last_.clear();
  absl::StatusOr<std::string> prepared = Prepared(begin);
  if (!prepared.ok()) return {failure_, prepared.status()};
  begin_ = *std::move(prepared);
  absl::Status status;
  bool is_committing = false;
  try {
    status = body(*this);
    is_committing = status.ok() && failure_ == sql::Ending::kDone;
    if (is_committing) status = Commit();
    if (is_committing && status.ok()) return {sql::Ending::kDone, status};
  } catch (const std::bad_alloc&) {
    status = absl::UnavailableError("the server is short of memory");
    failure_ = is_committing ? sql::Ending::kUnknown : sql::Ending::kFailed;
  } catch (const std::exception& error) {
    status =
        absl::InternalError(absl::StrCat("the ledger holds a value of an unexpected type: ", error.what()));
    failure_ = sql::Ending::kFailed;
  }
  const sql::Ending ending = failure_ == sql::Ending::kDone ? sql::Ending::kRefused : failure_;
  if (status.ok()) status = absl::InternalError("a failed statement was ignored");
  if (ending != sql::Ending::kUnknown && PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) {
    const Result rolled_back(PQexec(connection_.get(), "ROLLBACK"));
  }
  return {ending, status};
}

bool PostgresConnection::IsIdle() const {
  return PQtransactionStatus(connection_.get()) == PQTRANS_IDLE &&
         PQpipelineStatus(connection_.get()) == PQ_PIPELINE_OFF;
}

absl::Status PostgresConnection::Commit() {
  ASSIGN_OR_RETURN(const std::string commit, Prepared("COMMIT"));
  const sql::Parameters none;
  std::vector<PreparedRun> runs;
  for (const auto& [name, parameters] : last_) runs.push_back({name, &parameters});
  runs.push_back({commit, &none});
  RETURN_IF_ERROR(RunInPipeline(runs).status());
  if (last_command_ == "COMMIT") return absl::OkStatus();
  failure_ = sql::Ending::kFailed;                                 // not covered: an error is reported before
  return absl::InternalError("PostgreSQL rolled back at COMMIT");  // not covered: an error is reported before
}

absl::Status PostgresConnection::Check(const PGresult* result) {
  const ExecStatusType type = PQresultStatus(result);
  if (type == PGRES_COMMAND_OK || type == PGRES_TUPLES_OK) return absl::OkStatus();
  const std::string state = SqlStateOf(result);
  // The first failure is the cause; what follows in a broken transaction only says that it is broken.
  if (failure_ == sql::Ending::kDone) failure_ = EndingOf(state);
  const char* primary = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const absl::Status status(
      StatusCodeOf(state),
      absl::StrCat("the ledger's store answered: ",
                   OneLine(primary != nullptr ? primary : PQerrorMessage(connection_.get()))));
  return state == kDiskFull ? sql::StoreIsFull(status) : sql::HideStore(status);
}

absl::StatusOr<std::string> PostgresConnection::Prepared(std::string_view statement) {
  const auto known = prepared_.find(std::string(statement));
  if (known != prepared_.end()) return known->second;
  const std::string name = absl::StrCat("s", prepared_.size());
  const std::string text(statement);
  const Result result(PQprepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr));
  RETURN_IF_ERROR(Check(result.get()));
  prepared_.emplace(text, name);
  return name;
}

absl::StatusOr<std::vector<sql::Row>> PostgresConnection::Execute(std::string_view statement,
                                                                  const sql::Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::string name, Prepared(statement));
  ASSIGN_OR_RETURN(sql::Answers answers, RunInPipeline({{name, &parameters}}));
  return std::move(answers.front());
}

absl::StatusOr<sql::Answers> PostgresConnection::ExecuteEach(std::string_view statement,
                                                             const std::vector<sql::Parameters>& each) {
  ASSIGN_OR_RETURN(std::vector<sql::Answers> answers, ExecuteTogether({{statement, each}}));
  return std::move(answers.front());
}

absl::StatusOr<std::vector<sql::Answers>> PostgresConnection::ExecuteTogether(
    const std::vector<sql::Statement>& statements) {
  std::vector<OwnedRun> keyed;
  keyed.reserve(statements.size());  // no element moves: runs point into them
  std::vector<PreparedRun> runs;
  for (const sql::Statement& statement : statements) {
    if (!statement.key_types.empty() && statement.each.size() > 1) {
      const ArrayStatement look_up = LookUpAll(statement);
      ASSIGN_OR_RETURN(std::string name, Prepared(look_up.text));
      keyed.push_back({std::move(name), look_up.arrays});
      runs.push_back({keyed.back().name, &keyed.back().parameters});
      continue;
    }
    if (statement.each.empty()) continue;
    ASSIGN_OR_RETURN(const std::string name, Prepared(statement.text));
    for (const sql::Parameters& parameters : statement.each) runs.push_back({name, &parameters});
  }
  ASSIGN_OR_RETURN(sql::Answers answers, RunInPipeline(runs));
  std::vector<sql::Answers> of_each;
  auto next = answers.begin();
  for (const sql::Statement& statement : statements) {
    const size_t count = statement.each.size();
    if (!statement.key_types.empty() && count > 1) {
      of_each.push_back(AnswersByKey(*next++, count));
      continue;
    }
    const auto end = next + static_cast<std::ptrdiff_t>(count);
    of_each.emplace_back(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
  }
  return of_each;
}

absl::StatusOr<sql::Answers> PostgresConnection::RunInPipeline(const std::vector<PreparedRun>& runs) {
  // Results wait in the socket's buffers until everything is sent, so the number sent at once is bounded.
  constexpr size_t kMostAtOnce = 128;
  sql::Answers answers;
  if (runs.empty()) return answers;
  PGconn* raw = connection_.get();
  const sql::Parameters none;
  const auto send = [raw](const std::string& name, const sql::Parameters& parameters) {
    const WireParameters wire(parameters);
    return PQsendQueryPrepared(raw, name.c_str(), wire.count(), wire.values(), wire.lengths(), wire.formats(),
                               kBinaryResult) == 1;
  };
  for (size_t start = 0; start < runs.size(); start += kMostAtOnce) {
    if (PQenterPipelineMode(raw) != 1) return Check(nullptr);
    // The transaction begins with its first statement, without a round trip of its own.
    const bool begins = !begin_.empty();
    if (begins && !send(std::exchange(begin_, {}), none)) return Check(nullptr);
    for (size_t i = start; i < std::min(start + kMostAtOnce, runs.size()); ++i) {
      if (!send(runs[i].name, *runs[i].parameters)) return Check(nullptr);
    }
    if (PQpipelineSync(raw) != 1) return Check(nullptr);
    ASSIGN_OR_RETURN(sql::Answers some, ReadPipeline());
    if (PQexitPipelineMode(raw) != 1) return Check(nullptr);
    std::move(some.begin() + (begins ? 1 : 0), some.end(), std::back_inserter(answers));
  }
  return answers;
}

absl::StatusOr<sql::Answers> PostgresConnection::ReadPipeline() {
  sql::Answers answers;
  PGconn* raw = connection_.get();
  absl::Status status;
  // Each statement answers with its result and a null; the sync point answers last.
  while (true) {
    const Result result(PQgetResult(raw));
    if (PQstatus(raw) != CONNECTION_OK) return Check(nullptr);
    const ExecStatusType type = result == nullptr ? PGRES_EMPTY_QUERY : PQresultStatus(result.get());
    if (type == PGRES_PIPELINE_SYNC) break;
    if (result == nullptr || type == PGRES_PIPELINE_ABORTED) continue;
    const absl::Status one = Check(result.get());
    if (status.ok()) status = one;
    if (!one.ok()) continue;
    answers.push_back(RowsOf(result.get()));
    last_command_ = PQcmdStatus(result.get());
  }
  if (status.ok()) return answers;
  PQexitPipelineMode(raw);
  return status;
}

absl::Status PostgresConnection::InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                                            const std::vector<sql::Parameters>& rows) {
  if (rows.empty()) return absl::OkStatus();
  const ArrayStatement insert = InsertAll({table, &columns, rows});
  return Execute(insert.text, insert.arrays).status();
}

absl::Status PostgresConnection::ExecuteLast(const std::vector<sql::Step>& steps) {
  for (const sql::Step& step : steps) {
    if (const auto* statement = std::get_if<sql::Statement>(&step)) {
      if (statement->each.empty()) continue;
      ASSIGN_OR_RETURN(const std::string name, Prepared(statement->text));
      for (const sql::Parameters& parameters : statement->each) last_.push_back({name, parameters});
    } else if (const auto& insertion = std::get<sql::Insertion>(step); !insertion.rows.empty()) {
      ArrayStatement insert = InsertAll(insertion);
      ASSIGN_OR_RETURN(std::string name, Prepared(insert.text));
      last_.push_back({std::move(name), std::move(insert.arrays)});
    }
  }
  return absl::OkStatus();
}

absl::Status PostgresConnection::ExecuteScript(const std::string& script) {
  if (!begin_.empty()) {
    const sql::Parameters none;
    RETURN_IF_ERROR(RunInPipeline({{std::exchange(begin_, {}), &none}}).status());
  }
  const Result result(PQexec(connection_.get(), script.c_str()));
  RETURN_IF_ERROR(Check(result.get()));
  // A script may change the types that prepared statements return, which PostgreSQL refuses from then on.
  prepared_.clear();
  const Result forgotten(PQexec(connection_.get(), "DEALLOCATE ALL"));
  return Check(forgotten.get());
}

}  // namespace curator::ledger::postgres
