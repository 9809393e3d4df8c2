// HAVING as a condition on the answers of a group.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/sql/aggregates.h"
#include "client/sql/parse_tree.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::sql {

// Adds the statistics that are compared to `aggregates`. Errors: Refusal() for what does not compare
// aggregates with numbers.
absl::StatusOr<v1::GroupCondition> HavingOf(std::string_view sql, Aggregates& aggregates,
                                            const tree::Node& having);

}  // namespace curator::sql
