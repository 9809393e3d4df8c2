// WHERE as an expression of conditions.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

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

// Errors: Refusal() for what is no condition on attributes and constants.
absl::StatusOr<v1::Expression> ConditionsOf(std::string_view sql, const Columns& columns,
                                            const tree::Node& where);

// The operator of a comparison, and the same with its sides exchanged. Errors: Refusal() for other operators.
absl::StatusOr<v1::Comparison::Operator> ComparisonOf(std::string_view sql,
                                                      const tree::OperatorExpression& operation);
v1::Comparison::Operator Exchanged(v1::Comparison::Operator op);

}  // namespace curator::sql
