// What an estimate says, as tables and as one CSV table.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/output/document.h"
#include "curator/v1/query.pb.h"

namespace curator::cli {

// Facts, the error of each marginal and query set, what each account would pay, and what other budgets would
// buy. `assumed_rows`: also errors as shares of this many records.
Document ForecastDocument(const std::string& dataset, const v1::EstimateWorkloadResponse& estimate,
                          std::optional<int64_t> assumed_rows);

// The same for programs that read one table: each line is a record of one kind, said by its first column, and
// leaves the columns of other kinds empty.
//   request     total_cells, max_error, fits, epsilon, delta, rho (what would be spent), event, free_from
//   marginal    query_set, attributes, cells, mechanism, scale, sigma_squared, errors
//   query_set   query_set, cells (its answers), strategy, measurements, mechanism, ..., errors
//   cost        account, rule, counter, amount, remaining
//   choice      epsilon, delta, rho, standard_deviation, max_error, fits
Table ForecastRecords(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows);

}  // namespace curator::cli
