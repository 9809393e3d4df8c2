// Comparisons of an attribute with a value (=, !=, <, <=, >, >=), and the codes that fulfil them.
//
// A comparison may only ask for whole bins: one that cuts a bin is refused, and the message names the nearest
// that do not. Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/domain/attribute.h"
#include "dp/workload/values.h"

namespace curator::dp {

enum class ComparisonOperator { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

// "=", "!=", "<", "<=", ">", ">=".
std::string_view SignOf(ComparisonOperator op);

// The codes of an attribute that fulfil a comparison, and those that neither fulfil it nor its opposite: the
// codes from `unknown_from` on that are not in `runs`.
struct ComparedCodes {
  CodeRuns runs;  // not empty
  uint32_t unknown_from = 0;
  std::string value;  // in words: "65", "2019-03-31", "Female"
  bool operator==(const ComparedCodes&) const = default;
};

// `=` and `!=` take what CodeOfValue() takes; missing values are unknown, unless `value` is their label. The
// others take integers, edges of numbers, days, times, and labels of bins of dates, and values of ordered
// categories; all codes that are in no order (Attribute::run_size()) are unknown. An integer may be the one
// before the smallest or after the largest. Errors: INVALID_ARGUMENT (no field) with what is accepted, also
// for a comparison that no value fulfils.
absl::StatusOr<ComparedCodes> CodesCompared(const Attribute& attribute, ComparisonOperator op,
                                            std::string_view value);

}  // namespace curator::dp
