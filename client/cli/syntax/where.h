// The language of --where and --thresholds: conditions on attributes, as people write them.
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
// Attributes and values are words (letters, digits, and _ - + . : / & %, and whatever is not ASCII), or any
// text between quotes, ' or ", in which \ makes the next character part of the text. Keywords are lower case;
// a word that is one must be quoted. An end of an interval that is left out is the attribute's own. "]" and
// "<=" include the end, ")" and "<" do not. Numeric attributes have bins [edge, next edge) and take ")" and
// "<", at their largest edge also "]" and "<="; all others take "]" and "<=" (CheckEnds()).
//
// Values stay text: the server knows what they are. The parser keeps no stack: its depth does not depend on
// the text, which is at most kLongestWhere bytes.
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

// How an interval was closed: what the message itself does not say.
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

// Errors: INVALID_ARGUMENT that says what was expected and where, and shows the place under the text:
//
//   expected a value after '='
//     age in [30,40] and sex =
//                             ^
absl::StatusOr<ParsedConditions> ParseWhere(std::string_view text);
absl::StatusOr<ParsedThresholds> ParseThresholds(std::string_view text);

// INVALID_ARGUMENT when a condition closes an interval in a way that its attribute's bins cannot mean.
// Attributes that the schema does not have are left to the server, which knows near misses.
absl::Status CheckEnds(const ParsedConditions& parsed, const v1::Schema& schema);

}  // namespace curator::cli
