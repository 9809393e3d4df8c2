#include "ledger/postgres/postgres_connection.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "ledger/postgres/wire_values.h"

namespace curator::ledger::postgres {
namespace {

constexpr int kBinaryResult = 1;

// A stopped server must not keep a row locked for ever, and nobody waits for ever.
constexpr char kSettings[] =
    "SET client_min_messages = warning; SET idle_in_transaction_session_timeout = '30s'; "
    "SET lock_timeout = '20s'; SET statement_timeout = '120s'";

std::string OneLine(const char* message) {
  std::string line = absl::StrReplaceAll(message == nullptr ? "" : message, {{"\n", " "}, {"\t", " "}});
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string SqlState(const PGresult* result) {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

bool IsOneOf(const std::string& state, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return absl::StartsWith(state, prefix); });
}

// By SQLSTATE (appendix A of PostgreSQL's manual).
sql::Ending EndingOf(const std::string& state) {
  // serialization_failure, deadlock_detected, unique_violation
  if (IsOneOf(state, {"40001", "40P01", "23505"})) return sql::Ending::kConflict;
  // No state: the connection broke. 08: connection exceptions; 40003: statement_completion_unknown; 57P:
  // shutdown, crash, still starting; 25P03: cut after idling in a transaction; 58: input or output failed
  // below the server.
  if (state.empty() || IsOneOf(state, {"08", "40003", "57P", "25P03", "58"})) return sql::Ending::kUnknown;
  return sql::Ending::kFailed;
}

absl::StatusCode CodeOf(const std::string& state) {
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
  // What stands before dbname can be overridden by the URL.
  constexpr std::array<const char*, 5> keywords = {"connect_timeout", "fallback_application_name", "dbname",
                                                   "client_encoding", nullptr};
  const std::array<const char*, 5> values = {"10", "curatord", url.c_str(), "UTF8", nullptr};
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(PQconnectdbParams(keywords.data(), values.data(), 1)));
  PGconn* raw = connection->connection_.get();
  if (PQstatus(raw) != CONNECTION_OK) {
    return absl::UnavailableError(absl::StrCat("the PostgreSQL ledger does not answer at ", where, ": ",
                                               OneLine(PQerrorMessage(raw)),
                                               ". Start the server there, or give another --ledger"));
  }
  PQsetNoticeProcessor(
      raw, [](void*, const char*) {}, nullptr);
  RETURN_IF_ERROR(connection->ExecuteScript(kSettings));
  RETURN_IF_ERROR(connection->CheckDurability());
  return connection;
}

absl::Status PostgresConnection::CheckDurability() {
  ASSIGN_OR_RETURN(const std::vector<sql::Row> rows,
                   Execute("SELECT current_setting('fsync'), current_setting('full_page_writes'), "
                           "current_setting('synchronous_commit'), pg_is_in_recovery()",
                           {}));
  const sql::Row& row = rows.at(0);
  if (row.Integer(3) != 0) {
    return absl::UnavailableError(
        "the PostgreSQL server is a standby in recovery: charges are decided on the primary only");
  }
  constexpr std::array<const char*, 3> kNames = {"fsync", "full_page_writes", "synchronous_commit"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (row.Text(i) != "off") continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the PostgreSQL server has ", kNames[i],
                     " = off and could forget a charge it has acknowledged: set it to on"));
  }
  return absl::OkStatus();
}

sql::Outcome PostgresConnection::Run(const char* begin, const sql::Body& body) {
  failure_ = sql::Ending::kDone;
  absl::Status status = ExecuteScript(begin);
  if (!status.ok()) return {failure_, status};
  try {
    status = body(*this);
  } catch (const std::exception& error) {
    status =
        absl::InternalError(absl::StrCat("the ledger holds a value of an unexpected type: ", error.what()));
    failure_ = sql::Ending::kFailed;
  }
  if (status.ok() && failure_ == sql::Ending::kDone) {
    const Result result(PQexec(connection_.get(), "COMMIT"));
    status = Check(result.get());
    if (status.ok() && std::string_view(PQcmdStatus(result.get())) == "COMMIT")
      return {sql::Ending::kDone, status};
    if (status.ok()) return {sql::Ending::kFailed, absl::InternalError("PostgreSQL rolled back at COMMIT")};
  }
  const sql::Ending ending = failure_ == sql::Ending::kDone ? sql::Ending::kRefused : failure_;
  if (status.ok()) status = absl::InternalError("a failed statement was passed over");
  if (ending != sql::Ending::kUnknown && PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) {
    const Result rolled_back(PQexec(connection_.get(), "ROLLBACK"));
  }
  return {ending, status};
}

absl::Status PostgresConnection::Check(const PGresult* result) {
  const ExecStatusType type = PQresultStatus(result);
  if (type == PGRES_COMMAND_OK || type == PGRES_TUPLES_OK) return absl::OkStatus();
  const std::string state = SqlState(result);
  // The first failure is the cause; what follows in a broken transaction only says that it is broken.
  if (failure_ == sql::Ending::kDone) failure_ = EndingOf(state);
  const char* primary = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return absl::Status(
      CodeOf(state), absl::StrCat("the ledger's store answered: ",
                                  OneLine(primary != nullptr ? primary : PQerrorMessage(connection_.get()))));
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
  const WireParameters wire(parameters);
  const Result result(PQexecPrepared(connection_.get(), name.c_str(), wire.count(), wire.values(),
                                     wire.lengths(), wire.formats(), kBinaryResult));
  RETURN_IF_ERROR(Check(result.get()));
  return RowsOf(result.get());
}

absl::StatusOr<std::vector<std::vector<sql::Row>>> PostgresConnection::ExecuteEach(
    std::string_view statement, const std::vector<sql::Parameters>& each) {
  // Answers wait in the socket's buffers until all is sent, so what is sent at once is bounded.
  constexpr size_t kMostAtOnce = 128;
  Answers answers;
  if (each.empty()) return answers;
  if (each.size() == 1) {
    ASSIGN_OR_RETURN(std::vector<sql::Row> rows, Execute(statement, each.front()));
    answers.push_back(std::move(rows));
    return answers;
  }
  ASSIGN_OR_RETURN(const std::string name, Prepared(statement));
  for (size_t start = 0; start < each.size(); start += kMostAtOnce) {
    ASSIGN_OR_RETURN(Answers some,
                     RunInPipeline(name, &each[start], std::min(kMostAtOnce, each.size() - start)));
    std::move(some.begin(), some.end(), std::back_inserter(answers));
  }
  return answers;
}

absl::StatusOr<PostgresConnection::Answers> PostgresConnection::RunInPipeline(const std::string& name,
                                                                              const sql::Parameters* first,
                                                                              size_t count) {
  PGconn* raw = connection_.get();
  if (PQenterPipelineMode(raw) != 1) return Check(nullptr);
  for (size_t i = 0; i < count; ++i) {
    const WireParameters wire(first[i]);
    if (PQsendQueryPrepared(raw, name.c_str(), wire.count(), wire.values(), wire.lengths(), wire.formats(),
                            kBinaryResult) != 1) {
      return Check(nullptr);
    }
  }
  if (PQpipelineSync(raw) != 1) return Check(nullptr);
  ASSIGN_OR_RETURN(Answers answers, ReadPipeline());
  if (PQexitPipelineMode(raw) != 1) return Check(nullptr);
  return answers;
}

absl::StatusOr<PostgresConnection::Answers> PostgresConnection::ReadPipeline() {
  Answers answers;
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
    if (one.ok()) answers.push_back(RowsOf(result.get()));
  }
  if (status.ok()) return answers;
  PQexitPipelineMode(raw);
  return status;
}

absl::Status PostgresConnection::InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                                            const std::vector<sql::Parameters>& rows) {
  if (rows.empty()) return absl::OkStatus();
  std::string names;
  std::string arrays;
  sql::Parameters parameters;
  for (size_t i = 0; i < columns.size(); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", std::string(columns[i].name));
    absl::StrAppend(&arrays, i == 0 ? "$" : ", $", i + 1, "::", std::string(ArrayTypeOf(columns[i].type)));
    parameters.emplace_back(ArrayText(rows, i));
  }
  // One statement for all rows: its rows keep their order, so generated numbers follow it.
  return Execute(absl::StrCat("INSERT INTO ", std::string(table), " (", names, ") SELECT * FROM unnest(",
                              arrays, ")"),
                 parameters)
      .status();
}

absl::Status PostgresConnection::ExecuteScript(const std::string& script) {
  const Result result(PQexec(connection_.get(), script.c_str()));
  return Check(result.get());
}

}  // namespace curator::ledger::postgres
