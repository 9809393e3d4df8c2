#include "ledger/postgres/arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace curator::ledger::postgres {
namespace {

// pg_type.h of PostgreSQL: the types' numbers never change.
constexpr pqxx::oid kBool = 16;
constexpr pqxx::oid kBytea = 17;
constexpr pqxx::oid kInt8 = 20;
constexpr pqxx::oid kInt2 = 21;
constexpr pqxx::oid kInt4 = 23;
constexpr pqxx::oid kText = 25;

constexpr size_t kWordBytes = 4;
constexpr size_t kIntegerBytes = 8;

// The highest byte first.
std::array<char, kIntegerBytes> BigEndian(int64_t value) {
  std::array<char, kIntegerBytes> bytes;
  const auto bits = static_cast<uint64_t>(value);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>((bits >> (8 * (bytes.size() - 1 - i))) & 0xff);
  }
  return bytes;
}
// Appends the lowest `size` bytes of `value`, the highest of them first.
void AppendBigEndian(std::string& bytes, int64_t value, size_t size) {
  bytes.append(BigEndian(value).data() + kIntegerBytes - size, size);
}
void AppendWord(std::string& bytes, int64_t value) {
  AppendBigEndian(bytes, value, kWordBytes);
}

const std::string* TextOrBytesOf(const sql::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text;
  const auto* bytes = std::get_if<sql::Bytes>(&value);
  return bytes == nullptr ? nullptr : &bytes->value;
}

size_t BytesOf(const sql::Value& value) {
  const std::string* const bytes = TextOrBytesOf(value);
  return bytes == nullptr ? kIntegerBytes : bytes->size();
}

pqxx::oid OidOf(sql::ColumnType type) {
  switch (type) {
    case sql::ColumnType::kInteger:
      return kInt8;
    case sql::ColumnType::kText:
      return kText;
    case sql::ColumnType::kBytes:
      return kBytea;
  }
  return kText;  // not covered: every type has its case
}

void AppendLiteralOf(const sql::Value& value, std::string& text) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    absl::StrAppend(&text, *integer);
  } else if (const auto* bytes = std::get_if<sql::Bytes>(&value)) {
    absl::StrAppend(&text, "'\\x", absl::BytesToHexString(bytes->value), "'");
  } else if (const auto* characters = std::get_if<std::string>(&value)) {
    text += '\'';
    for (const char c : *characters) {
      if (c == '\'') text += '\'';
      text += c;
    }
    text += '\'';
  } else {
    text += "NULL";
  }
}

int64_t IntegerOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("an integer that is none");  // not covered: PostgreSQL writes integers
  }
  return value;
}

sql::Value ValueOf(const pqxx::field& field, pqxx::oid type) {
  if (field.is_null()) return sql::Null();
  const absl::string_view text(field.c_str(), field.size());
  switch (type) {
    case kBool:
      return int64_t{text == "t"};
    case kInt2:
    case kInt4:
    case kInt8:
      return IntegerOf({text.data(), text.size()});
    case kBytea:
      return sql::Bytes{absl::HexStringToBytes(text.substr(2))};  // after "\x"
    default:
      return std::string(text);
  }
}

}  // namespace

std::string_view TypeOf(sql::ColumnType type) {
  switch (type) {
    case sql::ColumnType::kInteger:
      return "bigint";
    case sql::ColumnType::kText:
      return "text";
    case sql::ColumnType::kBytes:
      return "bytea";
  }
  return "text";  // not covered: every type has its case
}

std::string Argument::ArrayBytes() const {
  // array_recv() in PostgreSQL's arrayfuncs.c: dimensions, whether there are nulls, the elements' type; for
  // the only dimension its size and first index; then each element's length (-1: null) and bytes.
  const bool has_nulls = std::any_of(rows_->begin(), rows_->end(), [this](const sql::Parameters& row) {
    return std::holds_alternative<sql::Null>(row.at(column_));
  });
  std::string array;
  array.reserve(Bytes());
  AppendWord(array, 1);
  AppendWord(array, has_nulls ? 1 : 0);
  AppendWord(array, static_cast<int64_t>(OidOf(type_)));
  AppendWord(array, static_cast<int64_t>(rows_->size()));
  AppendWord(array, 1);
  for (const sql::Parameters& row : *rows_) {
    const sql::Value& value = row[column_];
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      AppendWord(array, kIntegerBytes);
      AppendBigEndian(array, *integer, kIntegerBytes);
    } else if (const std::string* const bytes = TextOrBytesOf(value)) {
      AppendWord(array, static_cast<int64_t>(bytes->size()));
      array += *bytes;
    } else {
      AppendWord(array, -1);
    }
  }
  return array;
}

pqxx::binarystring Argument::Binary() const {
  if (value_ == nullptr) return pqxx::binarystring(ArrayBytes());
  if (const auto* integer = std::get_if<int64_t>(value_)) {
    const std::array<char, kIntegerBytes> bytes = BigEndian(*integer);
    return {bytes.data(), bytes.size()};
  }
  const std::string* const bytes = TextOrBytesOf(*value_);
  if (bytes == nullptr) throw std::invalid_argument("a null as a parameter");
  return pqxx::binarystring(*bytes);
}

void Argument::AppendLiteral(std::string& text) const {
  if (value_ != nullptr) {
    AppendLiteralOf(*value_, text);
    return;
  }
  text += "ARRAY[";
  for (const sql::Parameters& row : *rows_) {
    if (&row != &rows_->front()) text += ',';
    AppendLiteralOf(row.at(column_), text);
  }
  absl::StrAppend(&text, "]::", std::string(TypeOf(type_)), "[]");
}

size_t Argument::Bytes() const {
  if (value_ != nullptr) return BytesOf(*value_);
  size_t bytes = 5 * kWordBytes;
  for (const sql::Parameters& row : *rows_) bytes += kWordBytes + BytesOf(row.at(column_));
  return bytes;
}

std::vector<Argument> ArgumentsOf(const sql::Parameters& parameters) {
  std::vector<Argument> arguments;
  arguments.reserve(parameters.size());
  for (const sql::Value& value : parameters) arguments.emplace_back(value);
  return arguments;
}

std::vector<sql::Row> RowsOf(const pqxx::result& result) {
  std::vector<sql::Row> rows;
  rows.reserve(result.size());
  for (const pqxx::row& row : result) {
    std::vector<sql::Value> values;
    values.reserve(row.size());
    for (pqxx::row::size_type column = 0; column < row.size(); ++column) {
      values.push_back(ValueOf(row[column], result.column_type(column)));
    }
    rows.emplace_back(std::move(values));
  }
  return rows;
}

}  // namespace curator::ledger::postgres
