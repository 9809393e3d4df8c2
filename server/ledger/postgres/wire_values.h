// Values in PostgreSQL's binary form.
//
// Thread-safe: pure functions.
#pragma once

#include <libpq-fe.h>

#include <string>
#include <string_view>
#include <vector>

#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

// Parameters as libpq wants them. Points into the sql::Parameters it was made from, and into itself: neither
// may move.
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

// The rows of a binary result. Integers and booleans come as integers, bytea as bytes, everything else as
// text.
std::vector<sql::Row> RowsOf(const PGresult* result);

}  // namespace curator::ledger::postgres
