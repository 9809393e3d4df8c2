#include "ledger/postgres/wire_format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace curator::ledger::postgres {
namespace {

// pg_type.h of PostgreSQL: the types' numbers never change.
constexpr Oid kBool = 16;
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr Oid kText = 25;
constexpr int kBinary = 1;

// Appends the lowest `size` bytes of `value`, the highest of them first.
void AppendBigEndian(std::string& bytes, int64_t value, int size) {
  const auto bits = static_cast<uint64_t>(value);
  std::array<char, 8> reversed;
  for (int i = 0; i < size; ++i) {
    reversed.at(static_cast<size_t>(i)) = static_cast<char>((bits >> (8 * (size - 1 - i))) & 0xff);
  }
  bytes.append(reversed.data(), static_cast<size_t>(size));
}
void AppendInteger(std::string& bytes, int64_t value) {
  AppendBigEndian(bytes, value, 8);
}
void AppendWord(std::string& bytes, int64_t value) {
  AppendBigEndian(bytes, value, 4);
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

// The bytes of a text or a byte string; 0 for others.
size_t SizeOf(const sql::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->size();
  if (const auto* blob = std::get_if<sql::Bytes>(&value)) return blob->value.size();
  return 0;
}

Oid OidOf(sql::ColumnType type) {
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

}  // namespace

WireParameters::WireParameters(const sql::Parameters& parameters) {
  integers_.reserve(parameters.size());  // no element moves: values_ points into them
  for (const sql::Value& value : parameters) {
    const std::string* bytes = std::get_if<std::string>(&value);
    int format = 0;
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      AppendInteger(integers_.emplace_back(), *integer);
      bytes = &integers_.back();
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
  return "text[]";  // not covered: every type has its case
}

sql::Bytes ArrayOf(const std::vector<sql::Parameters>& rows, size_t column, sql::ColumnType type) {
  // array_recv() in PostgreSQL's arrayfuncs.c: dimensions, whether there are nulls, the elements' type; for
  // the only dimension its size and first index; then each element's length (-1: null) and bytes.
  constexpr int64_t kNull = -1;
  const bool has_nulls = std::any_of(rows.begin(), rows.end(), [column](const sql::Parameters& row) {
    return std::holds_alternative<sql::Null>(row.at(column));
  });
  constexpr size_t kWordBytes = 4;
  constexpr size_t kMostIntegerBytes = 8;
  size_t size = 5 * kWordBytes;
  for (const sql::Parameters& row : rows)
    size += kWordBytes + std::max(SizeOf(row[column]), kMostIntegerBytes);
  std::string array;
  array.reserve(size);
  AppendWord(array, 1);
  AppendWord(array, has_nulls ? 1 : 0);
  AppendWord(array, static_cast<int64_t>(OidOf(type)));
  AppendWord(array, static_cast<int64_t>(rows.size()));
  AppendWord(array, 1);
  for (const sql::Parameters& row : rows) {
    const sql::Value& value = row.at(column);
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      AppendWord(array, 8);
      AppendInteger(array, *integer);
    } else if (std::holds_alternative<sql::Null>(value)) {
      AppendWord(array, kNull);
    } else {
      const auto* blob = std::get_if<sql::Bytes>(&value);
      const std::string& bytes = blob != nullptr ? blob->value : std::get<std::string>(value);
      AppendWord(array, static_cast<int64_t>(bytes.size()));
      array += bytes;
    }
  }
  return {std::move(array)};
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

namespace {

std::string_view TypeOf(sql::ColumnType type) {
  const std::string_view array = ArrayTypeOf(type);
  return array.substr(0, array.find('['));
}

// How many leading columns have the same value in every row. Only leading ones count, because each choice of
// columns is a prepared statement of its own.
size_t ColumnsSentOnce(const sql::Insertion& insertion) {
  const std::vector<sql::Parameters>& rows = insertion.rows;
  // For one row an array costs more than it saves.
  if (rows.size() == 1) return insertion.columns->size();
  size_t same = 0;
  const auto is_same = [&](const sql::Parameters& row) { return row[same] == rows.front()[same]; };
  // The last column stays an array, whose length says how many rows there are.
  while (same + 1 < insertion.columns->size() && std::all_of(rows.begin(), rows.end(), is_same)) ++same;
  return same;
}

}  // namespace

ArrayStatement InsertAll(const sql::Insertion& insertion) {
  const std::vector<sql::Column>& columns = *insertion.columns;
  const size_t same = ColumnsSentOnce(insertion);
  std::string names;
  std::string values;
  ArrayStatement all;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto [name, type] = columns[i];
    absl::StrAppend(&names, i == 0 ? "" : ", ", std::string(name));
    absl::StrAppend(&values, i == 0 ? "" : ", ");
    if (i < same) {
      absl::StrAppend(&values, "$", i + 1, "::", std::string(TypeOf(type)));
      all.arrays.push_back(insertion.rows.front()[i]);
    } else {
      // Side by side in the list, not as a table: a table would be stored before it is read.
      absl::StrAppend(&values, "unnest($", i + 1, "::", std::string(ArrayTypeOf(type)), ")");
      all.arrays.emplace_back(ArrayOf(insertion.rows, i, type));
    }
  }
  all.text = absl::StrCat("INSERT INTO ", std::string(insertion.table), " (", names, ") SELECT ", values);
  return all;
}

ArrayStatement LookUpAll(const sql::Statement& statement) {
  std::string names;
  std::string arrays;
  std::string select(statement.text);
  ArrayStatement all;
  // From the last parameter to the first, because $1 is how $10 begins.
  for (size_t i = statement.key_types.size(); i-- > 0;) {
    select = absl::StrReplaceAll(select, {{absl::StrCat("$", i + 1), absl::StrCat("keys.key", i + 1)}});
  }
  for (size_t i = 0; i < statement.key_types.size(); ++i) {
    absl::StrAppend(&names, "key", i + 1, ", ");
    absl::StrAppend(&arrays, i == 0 ? "$" : ", $", i + 1,
                    "::", std::string(ArrayTypeOf(statement.key_types[i])));
    all.arrays.emplace_back(ArrayOf(statement.each, i, statement.key_types[i]));
  }
  // A subquery that locks or has a LIMIT stays a loop over the keys, in their order.
  all.text = absl::StrCat("SELECT keys.number, found.* FROM unnest(", arrays, ") WITH ORDINALITY AS keys (",
                          names, "number), LATERAL (", select, ") AS found");
  return all;
}

sql::Answers AnswersByKey(const std::vector<sql::Row>& rows, size_t keys) {
  sql::Answers answers(keys);
  for (const sql::Row& row : rows) {
    answers.at(static_cast<size_t>(row.Integer(0) - 1)).push_back(row.Without(1));
  }
  return answers;
}

}  // namespace curator::ledger::postgres
