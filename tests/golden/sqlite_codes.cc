#include "tests/golden/sqlite_codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace curator::golden {
namespace {

constexpr int kWithoutCode = -1;

// The bin of a cell's text in `column` as an SQL expression.
std::string SqlCode(const dp::AttributeKind& kind, const std::string& column) {
  if (const auto* categorical = std::get_if<dp::CategoricalKind>(&kind)) {
    std::string sql = absl::StrCat("CASE ", column);
    for (size_t i = 0; i < categorical->values.size(); ++i) {
      absl::StrAppend(&sql, " WHEN '", categorical->values[i], "' THEN ", i);
    }
    const int64_t otherwise =
        categorical->catch_all ? static_cast<int64_t>(categorical->values.size()) : kWithoutCode;
    return absl::StrCat(sql, " ELSE ", otherwise, " END");
  }
  if (const auto* integer = std::get_if<dp::IntegerKind>(&kind)) {
    return absl::StrCat("(CAST(", column, " AS INTEGER) - (", integer->min, ")) / ", integer->bin_width);
  }
  if (std::holds_alternative<dp::CodedKind>(kind)) return absl::StrCat("CAST(", column, " AS INTEGER)");
  std::vector<std::string> edges_below = {"0"};
  const std::vector<double>& edges = std::get<dp::NumericKind>(kind).edges;
  for (size_t i = 1; i + 1 < edges.size(); ++i) {
    edges_below.push_back(absl::StrCat("(CAST(", column, " AS REAL) >= ", edges[i], ")"));
  }
  return absl::StrJoin(edges_below, " + ");
}

std::vector<std::string> Numbered(const std::string& letter, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(absl::StrCat(letter, i));
  return names;
}

std::vector<std::string_view> Split(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string_view> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

}  // namespace

SqliteCodes::SqliteCodes(const dp::Domain& domain, const std::string& csv) : domain_(domain) {
  EXPECT_EQ(sqlite3_open(":memory:", &database_), SQLITE_OK);
  std::vector<std::string> codes;
  for (size_t i = 0; i < domain.size(); ++i)
    codes.push_back(absl::StrCat(SqlCode(domain.attributes()[i].kind(), absl::StrCat("r", i)), " AS c", i));
  Run(absl::StrCat("CREATE TABLE raw (", absl::StrJoin(Numbered("r", domain.size()), ","), ")"));
  InsertRaw(csv);
  Run(absl::StrCat("CREATE TABLE codes AS SELECT ", absl::StrJoin(codes, ", "), " FROM raw"));
}

SqliteCodes::SqliteCodes(const dp::Domain& domain, const std::vector<std::vector<uint32_t>>& rows)
    : domain_(domain) {
  EXPECT_EQ(sqlite3_open(":memory:", &database_), SQLITE_OK);
  Run(absl::StrCat("CREATE TABLE codes (", absl::StrJoin(Numbered("c", domain.size()), ","), ")"));
  for (size_t begin = 0; begin < rows.size(); begin += 400) {  // SQLite takes 500 at once
    std::vector<std::string> values;
    for (size_t i = begin; i < std::min(rows.size(), begin + 400); ++i)
      values.push_back(absl::StrCat("(", absl::StrJoin(rows[i], ","), ")"));
    Run(absl::StrCat("INSERT INTO codes VALUES ", absl::StrJoin(values, ",")));
  }
}

SqliteCodes::~SqliteCodes() {
  sqlite3_close(database_);
}

std::string SqliteCodes::CellOf(const dp::AttributeSet& set) const {
  std::string cell = "0";
  for (const uint32_t attribute : set)
    cell = absl::StrCat("(", cell, ") * ", domain_.attributes()[attribute].size(), " + c", attribute);
  return cell;
}

std::vector<int64_t> SqliteCodes::Marginal(const dp::AttributeSet& set) {
  std::vector<int64_t> counts(static_cast<size_t>(*domain_.CellCount(set)));
  sqlite3_stmt* query = nullptr;
  const std::string sql = absl::StrCat("SELECT ", CellOf(set), " AS cell, COUNT(*) FROM codes GROUP BY cell");
  EXPECT_EQ(sqlite3_prepare_v2(database_, sql.c_str(), -1, &query, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database_);
  while (sqlite3_step(query) == SQLITE_ROW) {
    const int64_t cell = sqlite3_column_int64(query, 0);
    EXPECT_TRUE(cell >= 0 && cell < static_cast<int64_t>(counts.size())) << "a record outside the domain";
    if (cell < 0 || cell >= static_cast<int64_t>(counts.size())) break;
    counts[static_cast<size_t>(cell)] = sqlite3_column_int64(query, 1);
  }
  sqlite3_finalize(query);
  return counts;
}

int64_t SqliteCodes::Value(const std::string& expression) {
  return Number(absl::StrCat("SELECT ", expression, " FROM codes"));
}

int64_t SqliteCodes::ValueOfTexts(const std::string& expression) {
  return Number(absl::StrCat("SELECT ", expression, " FROM raw"));
}

int64_t SqliteCodes::Number(const std::string& sql) {
  sqlite3_stmt* query = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database_, sql.c_str(), -1, &query, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database_) << " in " << sql;
  EXPECT_EQ(sqlite3_step(query), SQLITE_ROW);
  const int64_t value = sqlite3_column_int64(query, 0);
  sqlite3_finalize(query);
  return value;
}

void SqliteCodes::Run(const std::string& sql) {
  ASSERT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database_);
}

void SqliteCodes::InsertRaw(const std::string& csv) {
  ASSERT_EQ(csv.find('"'), std::string::npos) << "a comma would not always be a boundary";
  Run("BEGIN");
  sqlite3_stmt* insert = nullptr;
  const std::vector<std::string> marks(domain_.size(), "?");
  sqlite3_prepare_v2(database_,
                     absl::StrCat("INSERT INTO raw VALUES (", absl::StrJoin(marks, ","), ")").c_str(), -1,
                     &insert, nullptr);
  std::vector<int> place_of_column;  // in the schema, from 1; 0 for a column that is not in it
  for (size_t begin = 0; begin < csv.size();) {
    const size_t end = std::min(csv.find('\n', begin), csv.size());
    const std::vector<std::string_view> fields = Split(std::string_view(csv).substr(begin, end - begin));
    begin = end + 1;
    if (place_of_column.empty()) {
      for (const std::string_view name : fields) {
        const auto& attributes = domain_.attributes();
        const auto found = std::ranges::find(attributes, name, &dp::Attribute::name);
        place_of_column.push_back(
            found == attributes.end() ? 0 : static_cast<int>(found - attributes.begin()) + 1);
      }
      continue;
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      if (place_of_column[i] == 0) continue;
      sqlite3_bind_text(insert, place_of_column[i], fields[i].data(), static_cast<int>(fields[i].size()),
                        SQLITE_STATIC);
    }
    ASSERT_EQ(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  Run("COMMIT");
}

}  // namespace curator::golden
