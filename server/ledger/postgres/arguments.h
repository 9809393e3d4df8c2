// Values in the forms in which PostgreSQL takes and gives them.
//
// Thread-safe: pure functions on values that outlive them.
#pragma once

#include <cstddef>
#include <pqxx/binarystring>
#include <pqxx/result>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

// "bigint", "text", "bytea".
std::string_view TypeOf(sql::ColumnType type);

// An argument of a prepared statement: one value, or one column of many rows as an array. Refers to what it
// was made from.
class Argument {
 public:
  // `value` is not null: a null has no bytes that libpqxx 6.4 could send in binary.
  explicit Argument(const sql::Value& value) : value_(&value) {}
  Argument(const std::vector<sql::Parameters>& rows, size_t column, sql::ColumnType type)
      : rows_(&rows), column_(column), type_(type) {}

  // As a parameter in binary. Integers have 8 bytes.
  pqxx::binarystring Binary() const;
  // Appends a literal for the list of EXECUTE, where PostgreSQL knows the type.
  void AppendLiteral(std::string& text) const;
  // About as many bytes as the binary form has.
  size_t Bytes() const;

 private:
  std::string ArrayBytes() const;

  const sql::Value* value_ = nullptr;
  const std::vector<sql::Parameters>* rows_ = nullptr;
  size_t column_ = 0;
  sql::ColumnType type_ = sql::ColumnType::kText;
};

std::vector<Argument> ArgumentsOf(const sql::Parameters& parameters);

// The rows of a result: integers and booleans as integers, bytea as bytes, all other types as text.
std::vector<sql::Row> RowsOf(const pqxx::result& result);

}  // namespace curator::ledger::postgres
