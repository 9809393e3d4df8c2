// The parser of --where and --thresholds: conditions on attributes.
//
//   where      := condition { "and" condition }
//   thresholds := "at least" number { "," number } "of" [ "each" number "of" ]
//                 "(" condition { "," condition } ")"
//   condition  := attribute "in" "{" value { "," value } "}"
//               | attribute "in" "[" [ value ] "," [ value ] ( "]" | ")" )
//               | attribute ( "=" | ">=" | "<=" | "<" ) value
//
//   age in [30,40] and sex = Female and zone in {1,2}
//   income in [0, 20000) and education = 'Some college'
//   at least 2 of (age >= 65, smoker = yes, zone in {1,2})
//
// Attributes and values are words (letters, digits, _ - + . : / & % and non-ASCII characters), or any text
// between quotes, ' or ", in which \ makes the next character part of the text. Keywords are lower case;
// a value that is a keyword must be quoted. An omitted end of an interval is the attribute's own. "]" and
// "<=" include the end, ")" and "<" do not. Numeric attributes have bins [edge, next edge) and take ")" and
// "<", at their largest edge also "]" and "<="; all others take "]" and "<=" (CheckEnds()).
//
// Values stay text, which the server interprets. The parser is not recursive; the text has at most
// kLongestWhere bytes.
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

// How the upper end of an interval was written, which the message does not record.
enum class UpperEnd { kAbsent, kIncluded, kExcluded };

struct ParsedConditions {
  std::vector<v1::Condition> conditions;
  std::vector<UpperEnd> upper_ends;  // kAbsent for conditions that are not intervals
};

struct ParsedThresholds {
  ParsedConditions conditions;
  std::vector<int32_t> at_least;
  int32_t each = 0;  // 0: all conditions together
};

// Errors: INVALID_ARGUMENT with what was expected, and a mark under its place in the text:
//
//   expected a value after '='
//     age in [30,40] and sex =
//                             ^
absl::StatusOr<ParsedConditions> ParseWhere(std::string_view text);
absl::StatusOr<ParsedThresholds> ParseThresholds(std::string_view text);

// INVALID_ARGUMENT when an interval's upper end is written in a way that its attribute's bins do not allow.
// Unknown attributes are left to the server, which suggests similar names.
absl::Status CheckEnds(const ParsedConditions& parsed, const v1::Schema& schema);

}  // namespace curator::cli
