#include "ledger/postgres/wire_values.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace curator::ledger::postgres {
namespace {

// pg_type.h of PostgreSQL: the types' numbers never change.
constexpr Oid kBool = 16;
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr int kBinary = 1;

std::string BigEndian(int64_t value) {
  std::string bytes(8, '\0');
  auto bits = static_cast<uint64_t>(value);
  for (size_t i = 8; i-- > 0; bits >>= 8) bytes[i] = static_cast<char>(bits & 0xff);
  return bytes;
}

int64_t FromBigEndian(const char* bytes, size_t size) {
  uint64_t bits = size > 0 && (static_cast<unsigned char>(bytes[0]) & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < size; ++i) bits = (bits << 8) | static_cast<unsigned char>(bytes[i]);
  return static_cast<int64_t>(bits);
}

sql::Value ValueOf(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column) != 0) return sql::Null();
  const char* bytes = PQgetvalue(result, row, column);
  const auto size = static_cast<size_t>(PQgetlength(result, row, column));
  switch (PQftype(result, column)) {
    case kBool:
    case kInt2:
    case kInt4:
    case kInt8:
      return FromBigEndian(bytes, size);
    case kBytea:
      return sql::Bytes{std::string(bytes, size)};
    default:
      return std::string(bytes, size);
  }
}

// Quoted, because NULL, braces and commas mean something where they are not.
void AppendElement(std::string& text, const sql::Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    absl::StrAppend(&text, *integer);
  } else if (const auto* bytes = std::get_if<sql::Bytes>(&value)) {
    absl::StrAppend(&text, "\"\\\\x", absl::BytesToHexString(bytes->value), "\"");
  } else if (const auto* characters = std::get_if<std::string>(&value)) {
    text.push_back('"');
    for (const char c : *characters) {
      if (c == '"' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
    text.push_back('"');
  } else {
    text.append("NULL");
  }
}

}  // namespace

WireParameters::WireParameters(const sql::Parameters& parameters) {
  integers_.reserve(parameters.size());  // no element moves: values_ points into them
  for (const sql::Value& value : parameters) {
    const std::string* bytes = std::get_if<std::string>(&value);
    int format = 0;
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      bytes = &integers_.emplace_back(BigEndian(*integer));
      format = kBinary;
    } else if (const auto* blob = std::get_if<sql::Bytes>(&value)) {
      bytes = &blob->value;
      format = kBinary;
    }
    values_.push_back(bytes == nullptr ? nullptr : bytes->c_str());
    lengths_.push_back(bytes == nullptr ? 0 : static_cast<int>(bytes->size()));
    formats_.push_back(format);
  }
}

std::string_view ArrayTypeOf(sql::ColumnType type) {
  switch (type) {
    case sql::ColumnType::kInteger:
      return "bigint[]";
    case sql::ColumnType::kText:
      return "text[]";
    case sql::ColumnType::kBytes:
      return "bytea[]";
  }
  return "text[]";
}

std::string ArrayText(const std::vector<sql::Parameters>& rows, size_t column) {
  std::string text = "{";
  for (const sql::Parameters& row : rows) {
    if (text.size() > 1) text.push_back(',');
    AppendElement(text, row.at(column));
  }
  text.push_back('}');
  return text;
}

std::vector<sql::Row> RowsOf(const PGresult* result) {
  std::vector<sql::Row> rows;
  const int columns = PQnfields(result);
  for (int row = 0; row < PQntuples(result); ++row) {
    std::vector<sql::Value> values;
    for (int column = 0; column < columns; ++column) values.push_back(ValueOf(result, row, column));
    rows.emplace_back(std::move(values));
  }
  return rows;
}

}  // namespace curator::ledger::postgres
