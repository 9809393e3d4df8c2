// The parser of --where and --thresholds: conditions on attributes.
//
//   where      := all { "or" all }
//   all        := one { "and" one }
//   one        := condition | "not" one | "(" where ")"
//   thresholds := "at least" number { "," number } "of" [ "each" number "of" ]
//                 "(" condition { "," condition } ")"
//   condition  := attribute [ "not" ] "in" "{" value { "," value } "}"
//               | attribute [ "not" ] "in" "(" value { "," value } ")"
//               | attribute [ "not" ] "in" "[" [ value ] "," [ value ] ( "]" | ")" )
//               | attribute [ "not" ] "between" value "and" value
//               | attribute ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) value
//               | attribute "is" [ "not" ] "missing"
//
//   age in [30,40] and sex = Female and zone in {1,2}
//   income in [0, 20000) and education = 'Some college'
//   (age >= 65 or smoker = yes) and zone not in {3, 4} and weight is not missing
//   at least 2 of (age >= 65, smoker = yes, zone in {1,2})
//
// Attributes and values are words (letters, digits, _ - + . : / & % and non-ASCII characters), or any text
// between quotes, ' or ", in which \ makes the next character part of the text. Keywords are in any case
// where they join or compare; there, no name or value is meant. As a name or a value the small words and, in,
// of and each need quotes; "not" before a comparison or "in" is an attribute. The conditions of thresholds
// have no "not" in them.
//
// An omitted end of an interval is the attribute's own. "]", "<=" and "between" include the end, ")" and "<"
// do not. Numeric attributes have bins [edge, next edge) and take ")" and "<", at their largest edge also
// "]", "<=" and "between"; the intervals of all others take "]" (CheckEnds()).
//
//   visit in [2019-01, 2019-03]            visit >= 2019-04-01 and visit <= 2019-06-30
//   visit < 2019-07-01                     visit in {2019-Q2, unknown}
//
// Dates have days, times ("2019-07-01T06:00:00") or bins ("2019-07", "2019-Q3", "2019-W27", "2019") as ends:
// of days and bins, "]" and "<=" include the last one and ")" and "<" do not; a time takes ")" and "<". The
// label of missing values, and the catch-all of ordered categories, are in no interval: "=", "!=" and lists
// take them.
//
// Values stay text, which the server interprets. The text has at most kLongestWhere bytes, and conditions are
// inside of at most kDeepestWhere parentheses and "not"s, which bounds the depth of the parser and keeps the
// message within the depth that a server reads.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "curator/v1/schema.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

inline constexpr size_t kLongestWhere = size_t{1} << 16;
inline constexpr int kDeepestWhere = 16;

// How the upper end of an interval was written, which the message does not record.
enum class UpperEnd { kAbsent, kIncluded, kExcluded };

struct ParsedWhere {
  v1::Predicate predicate;           // a list where the conditions are joined by "and" alone
  std::vector<UpperEnd> upper_ends;  // of the conditions in the order of the text; kAbsent: no interval
};

struct ParsedThresholds {
  std::vector<v1::Condition> conditions;
  std::vector<UpperEnd> upper_ends;  // likewise
  std::vector<int32_t> at_least;
  int32_t each = 0;  // 0: all conditions together
};

// Errors: INVALID_ARGUMENT with what was expected, and a mark under its place in the text:
//
//   expected a value after '='
//     age in [30,40] and sex =
//                             ^
absl::StatusOr<ParsedWhere> ParseWhere(std::string_view text);
absl::StatusOr<ParsedThresholds> ParseThresholds(std::string_view text);

// INVALID_ARGUMENT when an interval's upper end is written in a way that its attribute's bins do not allow.
// "Below a value" of integers and ordered categories becomes a comparison. Of dates, an end that is excluded
// is replaced by a time, which the server takes as excluded: it takes a day as the last one. Unknown
// attributes are left to the server, which suggests similar names.
absl::Status CheckEnds(ParsedWhere& parsed, const v1::Schema& schema);
absl::Status CheckEnds(ParsedThresholds& parsed, const v1::Schema& schema);

}  // namespace curator::cli
