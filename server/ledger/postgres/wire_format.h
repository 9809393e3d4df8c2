// Values in PostgreSQL's binary form, and many runs of one statement as one statement over arrays.
//
// Thread-safe: pure functions.
#pragma once

#include <libpq-fe.h>

#include <string>
#include <string_view>
#include <vector>

#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

// Parameters as libpq takes them. Holds pointers into the sql::Parameters that it was made from and into
// itself: neither may move.
class WireParameters {
 public:
  explicit WireParameters(const sql::Parameters& parameters);
  WireParameters(const WireParameters&) = delete;
  WireParameters& operator=(const WireParameters&) = delete;

  int count() const { return static_cast<int>(values_.size()); }
  const char* const* values() const { return values_.data(); }
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  std::vector<std::string> integers_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

// "bigint[]", "text[]", "bytea[]".
std::string_view ArrayTypeOf(sql::ColumnType type);

// The `column`-th value of every row as a PostgreSQL array of such elements, in binary.
sql::Bytes ArrayOf(const std::vector<sql::Parameters>& rows, size_t column, sql::ColumnType type);

// The rows of a binary result: integers and booleans as integers, bytea as bytes, all other types as text.
std::vector<sql::Row> RowsOf(const PGresult* result);

// ---- Statements over arrays

struct ArrayStatement {
  std::string text;
  sql::Parameters arrays;
};

// INSERT ... SELECT $1, ..., unnest($9), ...: the rows keep their order, so generated numbers follow it.
// Leading columns that are equal in every row are sent once.
ArrayStatement InsertAll(const sql::Insertion& insertion);

// A SELECT that finds rows by a key, for all keys in their order, in which it also takes locks. Each row
// begins with the number of its key.
ArrayStatement LookUpAll(const sql::Statement& statement);
// The rows of such a SELECT, grouped by key, without that number.
sql::Answers AnswersByKey(const std::vector<sql::Row>& rows, size_t keys);

}  // namespace curator::ledger::postgres
