// The parser of `curator dataset import --where`: a condition on the columns of one row of a table in a
// database.
//
//   condition  := both { "or" both }
//   both       := single { "and" single }
//   single     := "not" single | "(" condition ")"
//               | column ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) literal
//               | column [ "not" ] "in" "(" literal { "," literal } ")"
//               | column "is" [ "not" ] "null"
//   literal    := number | 'text' | "true" | "false"
//
//   age >= 18 and (region in ('north', 'south') or region is null)
//
// Keywords are written in either case. A column is a word of letters, digits, "_" and non-ASCII characters,
// or any text in double quotes, and is named exactly as in the table. In quotes, a doubled quote is one.
//
// There are no functions, no subqueries and nothing else that could read another row.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::cli {

inline constexpr size_t kLongestRowCondition = size_t{1} << 16;

struct RowCondition {
  // An SQL expression: quoted names of columns, operators, and $1, $2, ... for the values.
  std::string sql;
  std::vector<std::string> values;
  std::vector<std::string> columns;  // those that it names
};

// Errors: INVALID_ARGUMENT with what was expected, and where in the text.
absl::StatusOr<RowCondition> ParseRowCondition(std::string_view text);

// The name in double quotes, as SQL wants it.
std::string QuotedName(std::string_view name);

}  // namespace curator::cli
