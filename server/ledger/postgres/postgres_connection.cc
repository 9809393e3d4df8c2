#include "ledger/postgres/postgres_connection.h"

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <new>
#include <pqxx/pipeline>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/store_errors.h"

namespace curator::ledger::postgres {
namespace {

// A text is longer than the binary form of the same values, but several texts share a message.
constexpr size_t kMostBytesInText = size_t{64} << 10;

// COMMIT alone succeeds in a transaction that a statement has broken, and rolls it back.
constexpr char kCommitAlone[] = "SELECT 1; COMMIT";

// The buffers of a connection keep the size that its largest message has needed.
constexpr size_t kMostBytesKept = size_t{16} << 20;
constexpr size_t kMostPrepared = 256;

std::string ExecuteText(const std::string& name, const std::vector<Argument>& arguments) {
  std::string text = absl::StrCat("EXECUTE ", name);
  for (size_t i = 0; i < arguments.size(); ++i) {
    text += i == 0 ? "(" : ",";
    arguments[i].AppendLiteral(text);
  }
  if (!arguments.empty()) text += ')';
  return text;
}

std::vector<pqxx::binarystring> BinaryOf(const std::vector<Argument>& arguments) {
  std::vector<pqxx::binarystring> binary;
  binary.reserve(arguments.size());
  for (const Argument& argument : arguments) binary.push_back(argument.Binary());
  return binary;
}

size_t BytesOf(const std::vector<Argument>& arguments) {
  size_t bytes = 0;
  for (const Argument& argument : arguments) bytes += argument.Bytes();
  return bytes;
}

// A pipeline that is destroyed with queries in flight asks the server, over a connection of its own, to
// cancel them. What is left after an error is read instead.
void ReadTheRest(pqxx::pipeline& pipeline) noexcept {
  try {
    pipeline.flush();
  } catch (const std::exception&) {
    // The connection is lost, and with it all that was in flight.
  }
}

}  // namespace

// ---- Opening

PostgresConnection::PostgresConnection(const std::string& connection_string, SilenceWatch& watch,
                                       std::chrono::milliseconds longest_silence)
    : watch_(watch),
      longest_silence_(longest_silence),
      connection_(connection_string),
      warnings_(connection_),
      session_(connection_),
      process_(connection_.backendpid()) {
#include "pqxx/internal/ignore-deprecated-pre.hxx"
  connection_.inhibit_reactivation(true);
#include "pqxx/internal/ignore-deprecated-post.hxx"
  connection_.set_verbosity(pqxx::connection_base::terse);
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresConnection::Open(
    const LedgerUrl& url, Isolation isolation, SilenceWatch& watch,
    std::chrono::milliseconds longest_silence) {
  // A connection that is lost while it is opened has done nothing.
  constexpr std::chrono::seconds kAtOnce(1);
  const auto begin = std::chrono::steady_clock::now();
  auto opened = OpenOnce(url, isolation, watch, longest_silence);
  const bool was_at_once = std::chrono::steady_clock::now() - begin < kAtOnce;
  if (!absl::IsUnavailable(opened.status()) || !was_at_once) return opened;
  return OpenOnce(url, isolation, watch, longest_silence);
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresConnection::OpenOnce(
    const LedgerUrl& url, Isolation isolation, SilenceWatch& watch,
    std::chrono::milliseconds longest_silence) {
  std::unique_ptr<PostgresConnection> connection;
  try {
    connection.reset(new PostgresConnection(ConnectionString(url, isolation), watch, longest_silence));
  } catch (const std::bad_alloc&) {
    return absl::UnavailableError("the server is short of memory");  // not covered: no test starves it here
  } catch (const std::exception& error) {
    // The client library's words for a URL that it does not understand; a server is not asked.
    if (absl::StartsWith(error.what(), "invalid ")) {
      return InvalidField("ledger", absl::StrCat("is malformed: ", OneLine(error.what())));
    }
    return sql::HideStore(absl::UnavailableError(
        absl::StrCat("the PostgreSQL ledger does not answer at ", url.where, ": ", OneLine(error.what()),
                     ". Start the server there, or give another --ledger")));
  }
  const sql::Outcome checked = connection->Run("BEGIN READ ONLY", [&](sql::Transaction&) -> absl::Status {
    RETURN_IF_ERROR(connection->CheckServer());
    RETURN_IF_ERROR(connection->CheckDurability());
    RETURN_IF_ERROR(connection->CheckCollation());
    return connection->NoticeLostClient();
  });
  RETURN_IF_ERROR(checked.status);
  return connection;
}

absl::Status PostgresConnection::NoticeLostClient() {
  // Earlier servers finish the statements of clients that are gone, and hold their locks as long.
  constexpr int kNotices = 140000;
  if (connection_.server_version() < kNotices) return absl::OkStatus();
  return Execute("SELECT set_config('client_connection_check_interval', '2s', false)", {}).status();
}

absl::Status PostgresConnection::CheckServer() {
  ASSIGN_OR_RETURN(const std::vector<sql::Row> rows, Execute("SELECT version(), pg_backend_pid()", {}));
  const sql::Row& row = rows.at(0);
  const absl::Status another = absl::FailedPreconditionError(
      absl::StrCat("the ledger's server is not PostgreSQL: ", OneLine(row.Text(0))));
  if (!absl::StartsWith(row.Text(0), "PostgreSQL ")) {
    return sql::HideStore(another);  // not covered: no test has such a server
  }
  // Behind a pooler, statements of one transaction, prepared ones and settings may meet different servers.
  static constexpr char kPooler[] =
      "there is a connection pooler before the PostgreSQL server, which breaks prepared statements and "
      "settings: name the server itself in --ledger";
  if (row.Integer(1) != process_) {
    return sql::HideStore(absl::FailedPreconditionError(kPooler));  // not covered: no test has a pooler
  }
  return absl::OkStatus();
}

absl::Status PostgresConnection::CheckCollation() {
  // Earlier servers do not record the version.
  constexpr int kRecordsVersions = 150000;
  if (connection_.server_version() < kRecordsVersions) return absl::OkStatus();
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
      "owner run REINDEX DATABASE ",
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
    return sql::HideStore(absl::UnavailableError(kStandby));
  }
  constexpr std::array<const char*, 3> kNames = {"fsync", "full_page_writes", "synchronous_commit"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    const std::string& value = row.Text(i);
    // With a synchronous standby, a failover would lose what these do not wait for.
    const bool is_too_early = value == "local" || value == "remote_write";
    if (value != "off" && !is_too_early) continue;
    return sql::HideStore(absl::FailedPreconditionError(
        absl::StrCat("the PostgreSQL server has ", kNames[i], " = ", value,
                     " and could lose a charge that it has acknowledged: set it to on")));
  }
  return absl::OkStatus();
}

// ---- Transactions

sql::Outcome PostgresConnection::Run(const char* begin, const sql::Body& body) {
  begin_ = begin;
  has_begun_ = false;
  last_.reset();
  failure_.reset();
  absl::Status status;
  bool is_committing = false;
  try {
    status = body(*this);
    is_committing = status.ok() && !failure_.has_value();
    if (is_committing) status = Commit();
    if (is_committing && status.ok()) return {sql::Ending::kDone, status};
  } catch (const std::bad_alloc&) {
    // Perhaps between a statement and its result.
    status = absl::UnavailableError("the server is short of memory");
    failure_ = {is_committing ? sql::Ending::kUnknown : sql::Ending::kFailed, status};
    is_doubtful_ = true;
  } catch (const std::exception& error) {
    status =
        absl::InternalError(absl::StrCat("the ledger holds a value of an unexpected type: ", error.what()));
    failure_ = {sql::Ending::kFailed, status};
  }
  const sql::Ending ending = failure_.has_value() ? failure_->ending : sql::Ending::kRefused;
  if (status.ok()) status = absl::InternalError("a failed statement was ignored");
  if (has_begun_ && !is_doubtful_ && !Call([this] { session_.exec("ROLLBACK"); }).ok()) is_doubtful_ = true;
  return {ending, status};
}

absl::Status PostgresConnection::Call(const std::function<void()>& call, size_t bytes) {
  // A server may work silently on what it has received: 4 MiB a second.
  const std::chrono::milliseconds work(bytes >> 12);
  if (bytes > kMostBytesKept) has_large_buffers_ = true;
  Failure failure;
  try {
    const SilenceWatch::Call watched(watch_, connection_.sock(), longest_silence_ + work);
    if (connection_.backendpid() == process_) {
      call();
      return absl::OkStatus();
    }
    static constexpr char kReplaced[] = "the connection to the ledger's store was replaced";
    failure = {sql::Ending::kUnknown, absl::UnavailableError(kReplaced)};  // not covered: it is inhibited
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    failure = FailureOfCurrentException();
  }
  // Whatever an error says that came before the end of the connection.
  if (!connection_.is_open() && failure.ending != sql::Ending::kUnknown) {
    failure = {sql::Ending::kUnknown,
               sql::HideStore(absl::UnavailableError("the ledger's store ended the connection"))};
  }
  if (failure.ending == sql::Ending::kUnknown) is_doubtful_ = true;
  // The first failure is the cause; what follows in a broken transaction only says that it is broken.
  if (!failure_.has_value()) failure_ = failure;
  return failure.status;
}

absl::StatusOr<std::string> PostgresConnection::Prepared(std::string_view statement) {
  std::string text(statement);
  if (const auto known = prepared_.find(text); known != prepared_.end()) return known->second;
  std::string name = absl::StrCat("s", names_++);
  RETURN_IF_ERROR(Call([&] {
    connection_.prepare(name, text);
    connection_.prepare_now(name);
  }));
  prepared_.emplace(std::move(text), name);
  return name;
}

absl::Status PostgresConnection::Begin() {
  if (begin_.empty() || std::exchange(has_begun_, true)) return absl::OkStatus();
  return Call([this] { session_.exec(begin_); });
}

absl::StatusOr<pqxx::result> PostgresConnection::RunOne(const std::string& statement,
                                                        const std::vector<Argument>& arguments) {
  ASSIGN_OR_RETURN(const std::string name, Prepared(statement));
  pqxx::result result;
  if (!begin_.empty() && !has_begun_ && BytesOf(arguments) <= kMostBytesInText) {
    // The transaction begins with its first statement, without a round trip of its own.
    has_begun_ = true;
    RETURN_IF_ERROR(
        Call([&] { result = session_.exec(absl::StrCat(begin_, "; ", ExecuteText(name, arguments))); }));
    return result;
  }
  RETURN_IF_ERROR(Begin());
  const std::vector<pqxx::binarystring> binary = BinaryOf(arguments);
  RETURN_IF_ERROR(
      Call([&] { result = session_.exec_prepared(name, pqxx::prepare::make_dynamic_params(binary)); },
           BytesOf(arguments)));
  return result;
}

absl::StatusOr<std::vector<pqxx::result>> PostgresConnection::RunInPipeline(
    const std::vector<std::string>& texts) {
  // Results wait in the socket's buffers until everything is sent, so the number sent at once is bounded.
  constexpr size_t kMostAtOnce = 128;
  std::vector<pqxx::result> results;
  for (size_t start = 0; start < texts.size(); start += kMostAtOnce) {
    const size_t end = std::min(start + kMostAtOnce, texts.size());
    const bool begins = !begin_.empty() && !std::exchange(has_begun_, true);
    RETURN_IF_ERROR(Call([&] {
      pqxx::pipeline pipeline(session_);
      pipeline.retain(static_cast<int>(kMostAtOnce) + 1);
      if (begins) pipeline.insert(begin_);
      for (size_t i = start; i < end; ++i) pipeline.insert(texts[i]);
      try {
        if (begins) pipeline.retrieve();
        for (size_t i = start; i < end; ++i) results.push_back(pipeline.retrieve().second);
      } catch (...) {
        ReadTheRest(pipeline);
        throw;
      }
    }));
  }
  return results;
}

absl::Status PostgresConnection::Commit() {
  const int warned = warnings_.count();
  if (last_.has_value()) {
    RETURN_IF_ERROR(CommitLast(*last_));
  } else if (has_begun_) {
    RETURN_IF_ERROR(Call([this] { session_.exec(kCommitAlone); }));
  }
  if (warnings_.count() == warned) return absl::OkStatus();
  is_doubtful_ = true;
  failure_ = {sql::Ending::kUnknown,
              sql::HideStore(absl::UnavailableError("the ledger's store warned of its commit"))};
  return failure_->status;
}

absl::Status PostgresConnection::CommitLast(const PreparedRun& last) {
  if (!last.text.empty()) {
    return Call([&] { session_.exec(absl::StrCat(last.text, "; COMMIT")); });
  }
  size_t bytes = 0;
  for (const pqxx::binarystring& argument : last.binary) bytes += argument.size();
  RETURN_IF_ERROR(Call(
      [&] { session_.exec_prepared(last.name, pqxx::prepare::make_dynamic_params(last.binary)); }, bytes));
  if (!has_begun_) return absl::OkStatus();
  return Call([this] { session_.exec(kCommitAlone); });
}

bool PostgresConnection::is_usable() const {
  return !is_doubtful_ && !has_large_buffers_ && prepared_.size() <= kMostPrepared;
}

// ---- Statements

absl::StatusOr<std::vector<sql::Row>> PostgresConnection::Execute(std::string_view statement,
                                                                  const sql::Parameters& parameters) {
  ASSIGN_OR_RETURN(const pqxx::result result, RunOne(std::string(statement), ArgumentsOf(parameters)));
  return RowsOf(result);
}

absl::StatusOr<sql::Answers> PostgresConnection::ExecuteEach(std::string_view statement,
                                                             const std::vector<sql::Parameters>& each) {
  ASSIGN_OR_RETURN(std::vector<sql::Answers> answers, ExecuteTogether({{statement, each}}));
  return std::move(answers.front());
}

absl::StatusOr<std::vector<sql::Answers>> PostgresConnection::ExecuteTogether(
    const std::vector<sql::Statement>& statements) {
  const auto is_array = [](const sql::Statement& statement) {
    return !statement.key_types.empty() && statement.each.size() > 1;
  };
  std::vector<std::string> texts;
  for (const sql::Statement& statement : statements) {
    if (is_array(statement)) {
      const ArrayStatement look_up = LookUpAll(statement);
      ASSIGN_OR_RETURN(const std::string name, Prepared(look_up.text));
      texts.push_back(ExecuteText(name, look_up.arguments));
      continue;
    }
    if (statement.each.empty()) continue;
    ASSIGN_OR_RETURN(const std::string name, Prepared(statement.text));
    for (const sql::Parameters& parameters : statement.each) {
      texts.push_back(ExecuteText(name, ArgumentsOf(parameters)));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<pqxx::result> results, RunInPipeline(texts));
  std::vector<sql::Answers> of_each;
  auto next = results.begin();
  for (const sql::Statement& statement : statements) {
    if (is_array(statement)) {
      of_each.push_back(AnswersByKey(RowsOf(*next++), statement.each.size()));
      continue;
    }
    const auto end = next + static_cast<std::ptrdiff_t>(statement.each.size());
    std::transform(next, end, std::back_inserter(of_each.emplace_back()), RowsOf);
    next = end;
  }
  return of_each;
}

absl::Status PostgresConnection::InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                                            const std::vector<sql::Parameters>& rows) {
  if (rows.empty()) return absl::OkStatus();
  const sql::Insertion insertion{table, &columns, rows};
  const ArrayStatement insert = InsertAll(insertion);
  return RunOne(insert.text, insert.arguments).status();
}

absl::Status PostgresConnection::ExecuteLast(const std::vector<sql::Step>& steps) {
  const ArrayStatement write = WriteAll(steps);
  if (write.text.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::string name, Prepared(write.text));
  // Together with COMMIT it must be text, else binary costs less; alone it is its own transaction.
  const bool is_text = has_begun_ && BytesOf(write.arguments) <= kMostBytesInText;
  if (is_text) {
    last_ = {.name = {}, .binary = {}, .text = ExecuteText(name, write.arguments)};
  } else {
    last_ = {.name = std::move(name), .binary = BinaryOf(write.arguments), .text = {}};
  }
  return absl::OkStatus();
}

absl::Status PostgresConnection::ExecuteScript(const std::string& script) {
  RETURN_IF_ERROR(Begin());
  RETURN_IF_ERROR(Call([&] { session_.exec(script); }));
  // A script may change the types that prepared statements return, which PostgreSQL refuses from then on.
  prepared_.clear();
  return Call([this] { session_.exec("DEALLOCATE ALL"); });
}

}  // namespace curator::ledger::postgres
