// The clauses that say what is shown: SELECT's list, GROUP BY, HAVING, ORDER BY, LIMIT and OFFSET.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sql/aggregates.h"
#include "client/sql/columns.h"
#include "client/sql/parse_tree.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::sql {

struct Output {
  std::vector<std::string> by;  // the grouping attributes, each once
  v1::Selection selection;
};

// Adds the statistics that the clauses name to `aggregates`. Errors: Refusal().
absl::StatusOr<Output> OutputOf(std::string_view sql, const Columns& columns, Aggregates& aggregates,
                                const tree::SelectStatement& select);

}  // namespace curator::sql
