// Tables and queries of a PostgreSQL database as sources of an import.
//
// All rows are of one moment: they are read through a cursor in a transaction that is READ ONLY and
// REPEATABLE READ. What is kept in memory does not grow with their number.
//
// The texts do not depend on the settings of the session: dates and times are ISO 8601, times with a zone in
// UTC, booleans "true" and "false", numbers in plain or exponent form, intervals ISO 8601, binary data
// hexadecimal. NULL is an empty cell.
//
// No error contains the text of a query, or a value of a row: of an error of the database it has the SQLSTATE
// and what that means.
//
// Not thread-safe: a source belongs to one import.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/sources/csv_source.h"

namespace curator::cli {

// What is read of one table. Each row of it becomes a record, or not, whatever the other rows are.
struct TableChoice {
  std::string table;                 // "schema.table", or "table" in the database's search path
  std::vector<std::string> columns;  // those of the form when empty
  std::string where;                 // see row_condition.h; all rows when empty
};

// Whether `url` can be one of a database; no server is asked. INVALID_ARGUMENT where it is malformed or has a
// password, which other users of the machine could read in the command line. The message begins with "--from"
// and has no password in it.
absl::Status CheckDatabaseUrl(std::string_view url);

// `url` is that of the database, with the identity that is used there (base/postgres_url.h). The first rows
// have been read when it returns.
//
// Errors: INVALID_ARGUMENT (the URL, also when it has a password; `where`; columns that are not there; what
// is no ordinary table: in a view, a foreign table or a table of the system, and where row security is in
// force, one row may depend on others), FAILED_PRECONDITION and PERMISSION_DENIED (of the database).
absl::StatusOr<std::unique_ptr<CsvSource>> OpenPostgresTable(std::string_view url, const TableChoice& choice,
                                                             const CsvForm& form);

// The same of one statement SELECT, VALUES, TABLE or WITH.
absl::StatusOr<std::unique_ptr<CsvSource>> OpenPostgresQuery(std::string_view url, const std::string& query,
                                                             const CsvForm& form);

// What an SQLSTATE (appendix A of PostgreSQL's manual) means: "SQLSTATE 42P01: there is no such table".
std::string DescribeSqlState(std::string_view sqlstate);

}  // namespace curator::cli
