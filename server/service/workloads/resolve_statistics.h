// Resolves statistics as a caller writes them to the columns, groups and cells of a dataset.
//
// From public facts alone. Thread-safe: pure functions.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/statistics/asked_statistics.h"
#include "service/workloads/query_classes.h"
#include "service/workloads/resolve_expression.h"

namespace curator::service {

// A valid set of statistics. Errors: INVALID_ARGUMENT with a field below `path` ("statistics[2].mean",
// "statistics[0].quantiles.at[1]", "by[1]", "where.all_of[0].in[2]"), what was wrong and the nearest that can
// be asked.
absl::StatusOr<dp::AskedStatistics> ResolveStatistics(const dp::Schema& schema, const StatisticsQuery& query,
                                                      PredicateAllowance& allowance, const std::string& path);

// The limits of the sets of one request together. INVALID_ARGUMENT ("workload").
absl::Status CheckStatisticsTogether(const dp::Domain& domain, std::span<const dp::AskedSet> sets);

}  // namespace curator::service
