// The interface of a SQL store. Everything that is not a driver (keys, chains, admission, states) is written
// once on top of it, in SQL that all stores understand; a backend provides connections, transactions and its
// dialect.
//
// Statements have numbered parameters ($1, $2, ...) and are prepared once per connection and text, so texts
// must be few and constant.
//
// Database is thread-safe. A Transaction belongs to the thread that runs the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::ledger::sql {

// A byte string, as opposed to text.
struct Bytes {
  std::string value;
  bool operator==(const Bytes&) const = default;
};

using Null = std::monostate;
using Value = std::variant<Null, int64_t, std::string, Bytes>;
using Parameters = std::vector<Value>;

// A row of these values, moved; a braced list would copy each.
template <typename... Values>
Parameters RowOf(Values&&... values) {
  Parameters row;
  row.reserve(sizeof...(values));
  (row.emplace_back(std::forward<Values>(values)), ...);
  return row;
}

// One row of a result. Reading a column as another type than its own throws; the transaction then fails as
// INTERNAL (Database::Write(), Read()).
class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}

  bool IsNull(size_t column) const { return std::holds_alternative<Null>(values_.at(column)); }
  int64_t Integer(size_t column) const { return std::get<int64_t>(values_.at(column)); }
  const std::string& Text(size_t column) const { return std::get<std::string>(values_.at(column)); }
  const std::string& Blob(size_t column) const { return std::get<Bytes>(values_.at(column)).value; }
  // The row without its first `columns` columns.
  Row Without(size_t columns) const {
    return Row({values_.begin() + static_cast<std::ptrdiff_t>(columns), values_.end()});
  }

 private:
  std::vector<Value> values_;
};

enum class ColumnType { kInteger, kText, kBytes };
struct Column {
  std::string_view name;
  ColumnType type = ColumnType::kText;
};

// One statement, and the sets of parameters with which it runs, in order.
struct Statement {
  std::string_view text;
  std::vector<Parameters> each;
  // Set for a SELECT that finds few rows by a key: the types of its parameters, none of which is null. The
  // driver then runs all keys at about the cost of one.
  std::vector<ColumnType> key_types = {};
};

// One change of one row for each of `rows`: UPDATE `table` SET `set` WHERE `where`, with these parameters.
// Fails unless each changes exactly one row, which is another one than that of every other.
struct Update {
  std::string_view table;
  std::string set;
  std::string where;
  std::vector<ColumnType> types;  // of the parameters, none of which is null
  std::vector<Parameters> rows;
};

// The deletion of one row for each of `rows`: DELETE FROM `table` WHERE `where`, with these parameters. Fails
// unless each deletes exactly one row, which is another one than that of every other.
struct Deletion {
  std::string_view table;
  std::string_view where;
  std::vector<ColumnType> types;  // of the parameters, none of which is null
  std::vector<Parameters> rows;
};

// Rows to be inserted into `table`, each with one value per column. Columns state their types because a value
// may be null.
struct Insertion {
  std::string_view table;
  const std::vector<Column>* columns = nullptr;  // a constant list
  std::vector<Parameters> rows;
};

using Step = std::variant<Update, Deletion, Insertion>;

// The rows of each run of a statement.
using Answers = std::vector<std::vector<Row>>;

class Transaction {
 public:
  virtual ~Transaction() = default;

  // Runs one statement and returns its rows. After an error the transaction cannot continue: return the
  // status.
  virtual absl::StatusOr<std::vector<Row>> Execute(std::string_view statement,
                                                   const Parameters& parameters) = 0;

  // Runs one statement once for each set of parameters, in order, in as few round trips as the driver can.
  // Returns the rows of each run.
  virtual absl::StatusOr<std::vector<std::vector<Row>>> ExecuteEach(std::string_view statement,
                                                                    const std::vector<Parameters>& each) = 0;

  // Runs one Insertion at once.
  virtual absl::Status InsertRows(std::string_view table, const std::vector<Column>& columns,
                                  const std::vector<Parameters>& rows) = 0;

  // Runs these statements, in order, in as few round trips as the driver can. Returns the rows of each. Every
  // statement sees what was committed before it began, so one that follows a lock sees the changes for which
  // the lock waited.
  virtual absl::StatusOr<std::vector<Answers>> ExecuteTogether(const std::vector<Statement>& statements);

  // The last steps of a body, in order; a driver may send them together with COMMIT. An insertion must fail
  // by itself where its failure matters: by a CHECK, a key, a trigger.
  virtual absl::Status ExecuteLast(const std::vector<Step>& steps);

  // Runs several statements without parameters, as of a migration.
  virtual absl::Status ExecuteScript(const std::string& script) = 0;
};

// How a transaction ended. Its status alone does not distinguish these.
enum class Ending {
  kDone,      // committed, or read
  kRefused,   // the body returned an error of its own; rolled back
  kConflict,  // lost against another transaction (serialization, deadlock, a key taken meanwhile);
              // nothing was written
  kUnknown,   // the connection broke, perhaps after COMMIT was sent: only a look-up by key shows what was
              // written
  kFailed,    // the store refused (disk full, no rights, corrupt); nothing was written, and a retry would
              // fail again
};

struct Outcome {
  Ending ending = Ending::kDone;
  absl::Status status;
};

// A transaction's body. It may run several times and must keep no state between runs.
using Body = std::function<absl::Status(Transaction&)>;

// The texts in which dialects differ.
struct Dialect {
  std::string_view name;    // the folder below migrations/
  std::string_view now_us;  // an expression: microseconds since 1970 by the database's clock, now
  // Followed by a table's alias, ends a SELECT that locks that table's rows; empty where there is one writer.
  std::string_view for_update_of;
  // In an INSERT, before VALUES, where the rows have ids of their own instead of the table's next ones.
  std::string_view overriding_identity;
  // A script that creates the table of applied migrations, makes concurrent migrators wait, and gives the
  // transaction the settings of a migration instead of those of a charge.
  std::string_view migration_prologue;
  // A script that waits for every change of the ledger that has begun, and lets none begin before the
  // transaction ends: each locks a row of chain_heads first.
  std::string_view fence;
  // A query for one integer: whether that table exists. Needs no right to create it.
  std::string_view has_migrations;
  // Queries for texts: what the role of the connection lacks for a server's work ("INSERT entries"), and
  // what it could do to the history ("the role curator may ..."). Empty in a store without roles.
  std::string_view missing_rights = {};
  std::string_view excessive_rights = {};
};

// Microseconds since 1970 by the database's clock.
absl::StatusOr<int64_t> ReadClock(Transaction& transaction, const Dialect& dialect);

// The end of a SELECT that locks the rows of `alias` until the transaction ends.
std::string LockingRowsOf(const Dialect& dialect, std::string_view alias);

// Whether one transaction writes at a time, whatever it changes.
inline bool HasOneWriter(const Dialect& dialect) {
  return dialect.for_update_of.empty();
}

class Database {
 public:
  virtual ~Database() = default;

  virtual const Dialect& dialect() const = 0;

  // Runs `body` in one durable read-write transaction.
  virtual Outcome Write(const Body& body) = 0;
  // Runs `body` in one read-only transaction that sees one state of the store throughout.
  virtual Outcome Read(const Body& body) = 0;

  // Read() for a body that calls its transaction once: Execute(), or ExecuteTogether() with at most 100 runs,
  // of which a statement with `key_types` counts as one. A driver needs one round trip for it.
  virtual Outcome ReadOnce(const Body& body) { return Read(body); }

  // The same for a body that takes long, over a history, and which delays no other.
  virtual Outcome ReadLong(const Body& body) { return Read(body); }
  // The same for a step of a migration, which may take hours.
  virtual Outcome WriteLong(const Body& body) { return Write(body); }

  // After deletions: empties those of the store's own files that may still have the deleted rows, where it
  // has such files and no reader needs them for longer.
  virtual absl::Status DropRemains() { return absl::OkStatus(); }
};

}  // namespace curator::ledger::sql
