// WHERE as an expression of conditions.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sql/columns.h"
#include "client/sql/parse_tree.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::sql {

// Limits of one statement.
inline constexpr int kMostConditions = 256;     // comparisons, of WHERE and of HAVING
inline constexpr int kMostListedValues = 4096;  // of IN
// Of AND, OR and NOT in each other. A message may have 100 levels, and an expression takes two for each.
inline constexpr int kMostJoins = 32;

// Where the parts of a condition are in the statement; negative where that is not known.
struct ConditionPlaces {
  int64_t attribute = -1;
  std::vector<int64_t> values;  // what it is compared with: one, or those of IN
};

struct Conditions {
  v1::Expression expression;
  // Of the conditions of `expression`, in the order in which they come in it: operand by operand, those
  // within an operand before the next one.
  std::vector<ConditionPlaces> places;
};

// Errors: Refusal() for what is no condition on attributes and constants.
absl::StatusOr<Conditions> ConditionsOf(std::string_view sql, const Columns& columns,
                                        const tree::Node& where);

// The operator of a comparison, and the same with its sides exchanged. Errors: Refusal() for other operators.
absl::StatusOr<v1::Comparison::Operator> ComparisonOf(std::string_view sql,
                                                      const tree::OperatorExpression& operation);
v1::Comparison::Operator Exchanged(v1::Comparison::Operator op);

}  // namespace curator::sql
