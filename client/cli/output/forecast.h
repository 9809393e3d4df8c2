// An estimate of a workload as a document, and as a single table.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/output/document.h"
#include "curator/v1/query.pb.h"

namespace curator::cli {

// The price, the error of each marginal and query set, the cost for each account, and the errors at other
// budgets. With `assumed_rows`, also errors as shares of this many records, and of means as their own. The
// level of the intervals is `level`, where the estimate does not say it. `asked` names the query sets and the
// root mean squared error that was to be reached.
Document ForecastDocument(const std::string& dataset, const v1::EstimateWorkloadResponse& estimate,
                          std::optional<int64_t> assumed_rows, double level = 0.95,
                          const v1::EstimateWorkloadRequest& asked = {});

// An estimate of a request without a price, whose choices are shares of what is left: a table of the price
// and the errors of each. JSON also has a second one, with a row for each share and statistic.
Document LadderDocument(const std::string& dataset, const v1::EstimateWorkloadResponse& estimate,
                        std::optional<int64_t> assumed_rows, double level = 0.95);

// A forecast as one table for CSV: each row is a record of the kind that its first column names; the columns
// of other kinds are empty.
//   request           total_cells, target_rmse, max_error, fits, epsilon, delta, rho (to be spent), event,
//                     free_from
//   marginal          query_set, attributes, cells, mechanism, scale, sigma_squared, errors
//   query_set         query_set, cells (its answers), query (its words), strategy, measured_as, measurements,
//                     mechanism, scale, sigma_squared, errors, gap
//   statistic         query_set, attributes (its name), cells (groups), measured_as, errors, unit
//   cost              account, rule, counter, amount, remaining, share_of_promise
//   choice            epsilon, delta, rho, standard_deviation, max_error, fits, share_of_promise
//   choice_statistic  epsilon, delta, rho of the choice before it, and the half width as of a statistic
// With `assumed_rows` statistics have half_width_at_rows, in their own unit.
Table ForecastRecords(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows,
                      double level = 0.95, const v1::EstimateWorkloadRequest& asked = {});

// What a command prints of an estimate in this form: the forecast if it has a price, else the ladder. In CSV
// the ladder of statistics has a row for each share and statistic.
Document EstimateDocument(const std::string& dataset, const v1::EstimateWorkloadResponse& estimate,
                          bool has_price, std::optional<int64_t> assumed_rows, double level, OutputForm form,
                          const v1::EstimateWorkloadRequest& asked = {});

}  // namespace curator::cli
